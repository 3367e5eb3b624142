import type { Store } from '../core/ports.ts';

const key = 'typing_allowed';

/** Into whose terminals the person lets the bus type. Nobody's, unless told. */
export class TypingPermits {
  private readonly store: Store;
  private readonly agents: Set<number>;

  constructor(store: Store) {
    this.store = store;
    this.agents = new Set(JSON.parse(store.meta(key) ?? '[]') as number[]);
  }

  has(agent: number): boolean {
    return this.agents.has(agent);
  }

  /** Taking it back holds at once, before it is on disk; giving it only after. */
  async set(agent: number, on: boolean): Promise<void> {
    if (!on) this.agents.delete(agent);
    const next = new Set(this.agents);
    if (on) next.add(agent);
    await this.store.write((tx) => tx.setMeta(key, JSON.stringify([...next])));
    if (on) this.agents.add(agent);
  }
}
