import type { Store, Writes } from '../core/ports.ts';

const key = 'pressed_chats';
/** As many turns at once. One that is forgotten may be held up a second time, but never twice for the same request. */
const remembered = 200;

/**
 * Chats whose current turn was held up. On disk, since not every product says that a turn goes on because of a hook, and the
 * hub may have been another one the last time.
 */
export class PressedChats {
  private readonly store: Store;
  private readonly ids: Set<string>;

  constructor(store: Store) {
    this.store = store;
    this.ids = new Set(JSON.parse(store.meta(key) ?? '[]') as string[]);
  }

  has(chat: string): boolean {
    return this.ids.has(chat);
  }

  /** Known from now on; `keep` has to follow. */
  add(chat: string): void {
    this.ids.add(chat);
  }

  keep(tx: Writes): void {
    tx.setMeta(key, JSON.stringify([...this.ids].slice(-remembered)));
  }

  /** Its next turn has begun. Should that be lost, the turn ends without being held up. */
  release(chat: string): void {
    if (this.ids.delete(chat)) this.store.later((tx) => this.keep(tx));
  }
}
