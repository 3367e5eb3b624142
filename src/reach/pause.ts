import type { Bus } from '../core/bus.ts';
import type { Store } from '../core/ports.ts';

const key = 'paused';

/** The person's brake: while it is on, nothing is pushed to any agent. It outlives the hub. */
export class Pause {
  private readonly store: Store;
  private readonly bus: Bus;
  private paused: boolean;

  constructor(store: Store, bus: Bus) {
    this.store = store;
    this.bus = bus;
    this.paused = store.meta(key) === '1';
  }

  get on(): boolean {
    return this.paused;
  }

  /** A pause holds at once, before it is on disk; an end of it only after. */
  async set(on: boolean): Promise<void> {
    if (on) this.paused = true;
    await this.store.write((tx) => tx.setMeta(key, on ? '1' : '0'));
    this.paused = on;
    this.bus.feed.publish({ type: 'paused', paused: on });
  }
}
