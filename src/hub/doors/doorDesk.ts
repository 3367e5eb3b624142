import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import type { Courier } from '../../core/couriers.ts';
import { BusError } from '../../core/errors.ts';
import type { DoorParams, DoorView } from '../../protocol/doorMessages.ts';
import type { SqliteStore } from '../../storage/sqliteStore.ts';
import type { Log } from '../log.ts';

export interface DoorParts {
  bus: Bus;
  store: SqliteStore;
  clock: Clock;
  log: Log;
  /** Somebody came through a door. */
  onActivity: () => void;
}

/** Opens and closes the doors for agent-tool, and remembers which are to be open. */
export class DoorDesk {
  readonly courier: Courier | undefined = undefined;

  constructor(_parts: DoorParts) {}

  /** Opens what was open before. A port that is taken is no reason for the hub not to start. */
  async start(): Promise<void> {}

  list(): DoorView[] {
    return [];
  }

  set(_params: DoorParams): Promise<DoorView> {
    return Promise.reject(new BusError('internal', 'Not built yet.', { next: '' }));
  }

  /** Whether the hub has to stay because of a door. */
  get isNeeded(): boolean {
    return false;
  }

  async close(): Promise<void> {}
}
