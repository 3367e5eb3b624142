import type { Clock } from '../core/clock.ts';
import type { Store } from '../core/ports.ts';
import type { HookParams } from '../protocol/reachMessages.ts';

/** What was heard of a hook: that it runs, and, apart from that, that what it is answered reaches the model. */
export type HeardHook = HookParams['event'] | 'taken along';

const key = 'heard_hooks';
const productsKey = 'heard_products';
const remembered = 300;
const hourMs = 3600_000;

/**
 * Which hooks of a chat have been heard. A product may skip hooks without a word, so nothing less than this tells that
 * messages can go by them. On disk, since a session goes on while the hub is started anew.
 */
export class HeardHooks {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly byChat: Map<string, Set<HeardHook>>;
  /** When a hook of a product was last heard, to the hour. */
  private readonly byProduct: Record<string, number>;

  constructor(store: Store, clock: Clock) {
    this.store = store;
    this.clock = clock;
    const kept = JSON.parse(store.meta(key) ?? '[]') as [string, HeardHook[]][];
    this.byProduct = JSON.parse(store.meta(productsKey) ?? '{}') as Record<string, number>;
    this.byChat = new Map(kept.map(([chat, hooks]) => [chat, new Set(hooks)]));
  }

  of(chat: string): ReadonlySet<HeardHook> {
    return this.byChat.get(chat) ?? none;
  }

  /** The products of which a hook was ever heard, with the time of one of the last. */
  products(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.byProduct).map(([name, at]) => [name, new Date(at).toISOString()]));
  }

  note({ chat, event, takes }: Pick<HookParams, 'chat' | 'event' | 'takes'>, product: string): void {
    const now = this.clock.now();
    if (now - (this.byProduct[product] ?? 0) >= hourMs) {
      this.byProduct[product] = now;
      this.store.later((tx) => tx.setMeta(productsKey, JSON.stringify(this.byProduct)));
    }
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
