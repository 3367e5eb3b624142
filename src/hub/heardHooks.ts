import type { Store } from '../core/ports.ts';
import type { HookParams } from '../protocol/reachMessages.ts';

/** What was heard of a hook: that it runs, and, apart from that, that what it is answered reaches the model. */
export type HeardHook = HookParams['event'] | 'taken along';

const key = 'heard_hooks';
const remembered = 300;

/**
 * Which hooks of a chat have been heard. A product may skip hooks without a word, so nothing less than this tells that
 * messages can go by them. On disk, since a session goes on while the hub is started anew.
 */
export class HeardHooks {
  private readonly store: Store;
  private readonly byChat: Map<string, Set<HeardHook>>;

  constructor(store: Store) {
    this.store = store;
    const kept = JSON.parse(store.meta(key) ?? '[]') as [string, HeardHook[]][];
    this.byChat = new Map(kept.map(([chat, hooks]) => [chat, new Set(hooks)]));
  }

  of(chat: string): ReadonlySet<HeardHook> {
    return this.byChat.get(chat) ?? none;
  }

  note({ chat, event, takes }: Pick<HookParams, 'chat' | 'event' | 'takes'>): void {
    const heard = this.byChat.get(chat) ?? new Set<HeardHook>();
    const before = heard.size;
    heard.add(event);
    if (event === 'before-tool' || (event === 'after-tool' && takes === true)) heard.add('taken along');
    if (heard.size === before) return;
    this.byChat.delete(chat);
    this.byChat.set(chat, heard);
    for (const oldest of this.byChat.keys()) {
      if (this.byChat.size <= remembered) break;
      this.byChat.delete(oldest);
    }
    // Losing it in a crash says too little, never too much.
    this.store.later((tx) => tx.setMeta(key, JSON.stringify([...this.byChat].map(([id, all]) => [id, [...all]]))));
  }
}

const none: ReadonlySet<HeardHook> = new Set();
