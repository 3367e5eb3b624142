import { BusError } from '../core/errors.ts';
import type { Invocation } from './command.ts';
import { Session } from './session.ts';

/** The hub that is running, if one is; never starts one. */
export async function runningHub(invocation: Invocation): Promise<Session | undefined> {
  try {
    return await Session.open({ ...invocation, as: undefined }, { start: false });
  } catch (error) {
    if (error instanceof BusError && error.code === 'hub-unavailable') return undefined;
    throw error;
  }
}
