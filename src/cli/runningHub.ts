import { BusError } from '../core/errors.ts';
import { Session, type Speaker } from './session.ts';

/** The hub that is running, if one is; never starts one. */
export async function runningHub(speaker: Speaker): Promise<Session | undefined> {
  try {
    return await Session.open({ ...speaker, as: undefined }, { start: false });
  } catch (error) {
    if (error instanceof BusError && error.code === 'hub-unavailable') return undefined;
    throw error;
  }
}
