import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import type { AddedRemote, Courier, RemoteDirectory } from '../../core/couriers.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord } from '../../core/model.ts';
import type { SqliteStore } from '../../storage/sqliteStore.ts';
import type { BusHome } from '../home.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';

export interface RemoteParts {
  bus: Bus;
  store: SqliteStore;
  clock: Clock;
  log: Log;
  home: BusHome;
  settings: Settings;
  /** Under which address the hub's own HTTP door is reached, such as http://127.0.0.1:4711; known once it is open. */
  baseUrl: () => string;
}

/** Agents elsewhere: their cards, their health, and what was given to them to do. */
export class RemoteDesk implements RemoteDirectory {
  readonly courier: Courier | undefined = undefined;

  constructor(_parts: RemoteParts) {}

  /** Goes on with what was under way when the last hub ended. */
  start(): void {}

  add(..._input: Parameters<RemoteDirectory['add']>): Promise<AddedRemote> {
    return Promise.reject(new BusError('internal', 'Not built yet.', { next: '' }));
  }

  remove(): Promise<AgentRecord> {
    return Promise.reject(new BusError('internal', 'Not built yet.', { next: '' }));
  }

  cardUrl(_agent: AgentRecord): string {
    return '';
  }

  /** Whether the hub has to stay because an agent elsewhere is at work. */
  get isNeeded(): boolean {
    return false;
  }

  close(): void {}
}
