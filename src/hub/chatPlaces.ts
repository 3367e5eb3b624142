import type { Bus } from '../core/bus.ts';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import type { AgentRecord, ChatRecord } from '../core/model.ts';
import { suggestName } from '../core/names.ts';
import type { CarryingWindow } from '../reach/carrier.ts';
import type { Windows } from '../reach/windows.ts';
import type { Attachments } from './attachments.ts';
import type { Chats } from './chats.ts';

export interface ChatAsk {
  chat: string;
  workspace: string;
  product: string;
  window?: string | undefined;
  process?: number | undefined;
}

/** What a chat that was left still says, such as that it has ended, is said within so long. */
const lastWordsMs = 60_000;
const remembered = 200;

/**
 * Which agent a chat is. The first chat of a window is the window's own agent, the next ones are numbered siblings of
 * it; a chat keeps its agent until it has been quiet for long and another chat takes over the name.
 */
export class ChatPlaces {
  private readonly bus: Bus;
  private readonly clock: Clock;
  private readonly chats: Chats;
  private readonly windows: Windows;
  private readonly attachments: Attachments;
  /** The chat that a process of a product was last known to be in. */
  private readonly byProcess = new Map<number, string>();
  /** Chats that another one of the same process has taken the place of. */
  private readonly replaced = new Map<string, { agent: number; at: number }>();
  /** One at a time, so that two new chats don't take the same place. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(parts: { bus: Bus; clock: Clock; chats: Chats; windows: Windows; attachments: Attachments }) {
    this.bus = parts.bus;
    this.clock = parts.clock;
    this.chats = parts.chats;
    this.windows = parts.windows;
    this.attachments = parts.attachments;
  }

  bind(ask: ChatAsk): Promise<number> {
    const bound = this.turn.then(() => this.bindNow({ ...ask, product: suggestName(ask.product) }));
    this.turn = bound.catch(() => undefined);
    return bound;
  }

  private async bindNow(ask: ChatAsk): Promise<number> {
    const window = this.windowOf(ask);
    const windowId = ask.window ?? window?.id ?? '';
    const home = window?.home ?? this.formerHome(windowId);
    const known = this.chats.get(ask.chat);
    const left = known ? undefined : this.lastWordsOf(ask.chat);
    if (left !== undefined) return left;
    const before = this.beforeIn(ask);
    if (ask.process !== undefined) this.remember(this.byProcess, ask.process, ask.chat);
    if (known && !this.bus.roster.get(known.agent).removed) {
      // Without a word about its window it is where it was.
      const isTold = ask.window !== undefined || known.window === '';
      if (isTold && windowId !== '') await this.chats.move(known, windowId, home ?? known.home);
      return known.agent;
    }
    const agent = before ? this.bus.roster.get(before.agent) : await this.place(ask, home);
    if (before) this.remember(this.replaced, before.id, { agent: agent.id, at: this.clock.now() });
    const chat: ChatRecord = {
      id: ask.chat,
      agent: agent.id,
      workspace: ask.workspace,
      product: ask.product,
      window: windowId,
      home: home ?? null,
      state: 'idle',
      tools: [],
      asking: false,
      waking: false,
      hop: null,
      at: this.clock.now(),
    };
    await this.chats.add(chat, [...(known ? [known] : []), ...this.overflow()]);
    return agent.id;
  }

  /**
   * The chat that this one follows in the same process. Copilot begins the new one before it ends the old, which would
   * look like two at once.
   */
  private beforeIn({ chat, process, product, workspace }: ChatAsk): ChatRecord | undefined {
    const id = process === undefined ? undefined : this.byProcess.get(process);
    const before = id === undefined || id === chat ? undefined : this.chats.get(id);
    if (!before || before.state === 'working' || this.chats.holder(before.agent)?.id !== before.id) return undefined;
    const isSame = before.product === product && before.workspace === workspace && before.window === '';
    return isSame && !this.bus.roster.get(before.agent).removed ? before : undefined;
  }

  private lastWordsOf(chat: string): number | undefined {
    const left = this.replaced.get(chat);
    return left && this.clock.now() - left.at < lastWordsMs ? left.agent : undefined;
  }

  private remember<K, V>(map: Map<K, V>, key: K, value: V): void {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.keys();
    if (map.size > remembered && oldest !== undefined) map.delete(oldest);
  }

  private windowOf(ask: ChatAsk): CarryingWindow | undefined {
    if (ask.window !== undefined) return this.windows.get(ask.window);
    return this.windows.all().find(({ home }) => {
      const { workspace, product } = this.bus.roster.get(home);
      return workspace === ask.workspace && product === ask.product;
    });
  }

  /** Of a window that is not connected at the moment, but whose chats are known. */
  private formerHome(window: string): number | undefined {
    if (window === '') return undefined;
    return this.chats.inWindow(window).find((chat) => chat.home !== null)?.home ?? undefined;
  }

  private async place(ask: ChatAsk, home: number | undefined): Promise<AgentRecord> {
    for (let place = 0; ; place++) {
      const agent = home === undefined ? await this.attached(ask, place) : await this.sibling(home, place);
      if (!agent) continue;
      const holder = this.chats.holder(agent.id);
      if (!holder || this.chats.isQuiet(holder)) return agent;
    }
  }

  /** Without a window: as other sessions of the product, but never as a window that is there. */
  private async attached(ask: ChatAsk, place: number): Promise<AgentRecord | undefined> {
    const agent = await this.attachments.at(ask.workspace, ask.product, place);
    return this.windows.ofHome(agent.id) ? undefined : agent;
  }

  private async sibling(home: number, place: number): Promise<AgentRecord> {
    const { roster } = this.bus;
    const own = roster.get(home);
    if (place === 0) return own;
    const identity = `${own.identity ?? own.name}\nchat ${place + 1}`;
    const { workspace, product } = own;
    // Of "shop-2" the next is "shop-3", not "shop-2-2".
    const unnumbered = own.name.replace(/-\d+$/, '');
    const base = roster.find(unnumbered)?.workspace === workspace ? unnumbered : own.name;
    return roster.byIdentity(identity) ?? roster.createNear(base, { workspace, product, identity });
  }

  /** The oldest go when there are too many, those that nobody could reach first. */
  private overflow(): ChatRecord[] {
    const all = this.chats.all();
    if (all.length < limits.chats) return [];
    const weight = (chat: ChatRecord): number =>
      (this.windows.get(chat.window) ? 2 : 0) + (chat.tools.length > 0 ? 1 : 0);
    return all.sort((a, b) => weight(a) - weight(b) || a.at - b.at).slice(0, all.length - limits.chats + 1);
  }
}
