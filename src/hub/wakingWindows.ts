import type { Store } from '../core/ports.ts';

const key = 'waking_windows';
const remembered = 100;

/**
 * Windows to which a turn was submitted for no chat in particular, until a hook tells what became of it. On disk, since
 * the turn may have begun, and may be asking its person something, while there was no hub to hear of it.
 */
export class WakingWindows {
  private readonly store: Store;
  private readonly ours = new Set<string>();
  private readonly former: Set<string>;

  constructor(store: Store) {
    this.store = store;
    this.former = new Set(JSON.parse(store.meta(key) ?? '[]') as string[]);
  }

  has(window: string): boolean {
    return this.ours.has(window) || this.former.has(window);
  }

  async mark(window: string, waking: boolean): Promise<void> {
    if (waking) this.ours.add(window);
    else if (!this.ours.delete(window)) return;
    await this.save();
  }

  /** A chat of that window has told something: what an earlier hub did not hear of is known by now. */
  async heard(window: string): Promise<void> {
    if (this.former.delete(window)) await this.save();
  }

  private async save(): Promise<void> {
    const list = JSON.stringify([...this.former, ...this.ours].slice(-remembered));
    await this.store.write((tx) => tx.setMeta(key, list));
  }
}
