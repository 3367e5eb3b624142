import type { Bus } from '../core/bus.ts';
import {
  afterEvent,
  afterSight,
  isIdle,
  isQuiet,
  withRunning,
  type ChatEvent,
  type ChatSight,
} from '../core/chatState.ts';
import type { Clock } from '../core/clock.ts';
import type { ChatRecord } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import type { CarryingWindow } from '../reach/carrier.ts';
import type { ChatBook } from '../reach/chatBook.ts';
import type { Target } from '../reach/ladder.ts';
import type { Windows } from '../reach/windows.ts';
import { WakingWindows } from './wakingWindows.ts';

interface ChatsParts {
  bus: Bus;
  store: Store;
  clock: Clock;
  windows: Windows;
  staleMs: number;
  quietMs: number;
}

/**
 * The chats that hold an agent, with what each was last known to do. All of it is on disk, and what could make a chat
 * look idle that is not is there before anybody is told: the promise of a change resolves after its commit.
 */
export class Chats implements ChatBook {
  private readonly parts: ChatsParts;
  private readonly byId = new Map<string, ChatRecord>();
  private readonly byAgent = new Map<number, string>();
  /** Chats of which this hub has heard a turn begin or end: of the current one it has missed nothing. */
  private readonly heard = new Set<string>();
  private readonly waking: WakingWindows;
  onChange: (chat: ChatRecord) => void = () => undefined;
  /** An agent has lost the chat that held it. */
  onLeft: (chat: ChatRecord) => void = () => undefined;
  /** It was at work, or asking its person something, and is through with it. */
  onRest: (chat: ChatRecord) => void = () => undefined;

  constructor(parts: ChatsParts) {
    this.parts = parts;
    this.waking = new WakingWindows(parts.store);
    for (const chat of parts.store.chats()) this.keep(chat);
  }

  get(id: string): ChatRecord | undefined {
    return this.byId.get(id);
  }

  holder(agent: number): ChatRecord | undefined {
    const id = this.byAgent.get(agent);
    return id === undefined ? undefined : this.byId.get(id);
  }

  all(): ChatRecord[] {
    return [...this.byId.values()];
  }

  /** Whether another chat may have its agent. */
  isQuiet(chat: ChatRecord): boolean {
    return isQuiet(chat, this.parts.clock.now(), this.parts.quietMs);
  }

  /** The hub knows it from now on; whoever held its agent, and those named, are forgotten in the same moment. */
  async add(chat: ChatRecord, forgotten: readonly ChatRecord[]): Promise<void> {
    const former = this.holder(chat.agent);
    const leaving = [...forgotten, ...(former && former.id !== chat.id ? [former] : [])];
    for (const { id } of leaving) this.drop(id);
    this.keep(chat);
    await this.parts.store.write((tx) => {
      for (const { id } of leaving) tx.deleteChat(id);
      tx.putChat(chat);
    });
    for (const left of leaving) this.onLeft(left);
    this.onChange(chat);
  }

  /** What a hook has told. */
  async tell(id: string, event: ChatEvent): Promise<void> {
    const chat = this.byId.get(id);
    if (!chat) return;
    if (event.type === 'prompt' || event.type === 'stop') this.heard.add(id);
    const saved = this.saveHeard(chat, afterEvent(chat, event, this.parts.clock.now()));
    await Promise.all([saved, this.waking.heard(chat.window)]);
  }

  /** What whoever carries it sees of it. */
  async see(id: string, sight: ChatSight): Promise<void> {
    const chat = this.byId.get(id);
    if (!chat) return;
    const next = afterSight(chat, { ...sight, at: Math.min(sight.at, this.parts.clock.now()) });
    if (next.state !== chat.state || next.asking !== chat.asking || next.at !== chat.at)
      await this.saveHeard(chat, next);
  }

  /** A call of this tool came from the chat: it runs. Only for the eye, so nobody waits for it. */
  noteRunning(id: string, tool: string): void {
    const chat = this.byId.get(id);
    if (!chat) return;
    const next = withRunning(chat, tool, this.parts.clock.now());
    this.keep(next);
    this.parts.store.later((tx) => tx.putChat(this.byId.get(id) ?? next));
    this.onChange(next);
  }

  /** The agent was shown a request of that hop count: what it sends from now on in this turn goes back to it. */
  raiseHop(agent: number, hop: number): void {
    const chat = this.holder(agent);
    if (!chat || chat.state !== 'working' || (chat.hop ?? -1) >= hop) return;
    const next = { ...chat, hop };
    this.keep(next);
    this.parts.store.later((tx) => tx.putChat(this.byId.get(chat.id) ?? next));
  }

  turnHop(agent: number): number | undefined {
    const chat = this.holder(agent);
    return chat?.state === 'working' ? (chat.hop ?? undefined) : undefined;
  }

  async move(chat: ChatRecord, window: string, home: number | null): Promise<void> {
    if (chat.window === window && chat.home === home) return;
    const { windows, clock } = this.parts;
    // A turn ends with the window that it ran in.
    const isOver = chat.window !== '' && chat.window !== window && !windows.get(chat.window);
    const settled = isOver ? afterEvent(chat, { type: 'over' }, clock.now()) : chat;
    await this.save({ ...settled, window, home });
  }

  /** A window has come: its chats are those last seen in it, and those of its agent that no other window has. */
  async arrive(window: CarryingWindow): Promise<void> {
    const { windows, bus } = this.parts;
    const home = bus.roster.get(window.home);
    const own = this.all().filter((chat) => {
      if (chat.window === window.id) return true;
      if (chat.window !== '' && windows.get(chat.window)) return false;
      if (chat.home !== null) return chat.home === home.id;
      return chat.agent === home.id || (chat.workspace === home.workspace && chat.product === home.product);
    });
    await Promise.all(own.map((chat) => this.move(chat, window.id, home.id)));
  }

  inWindow(window: string): ChatRecord[] {
    return this.all().filter((chat) => chat.window === window);
  }

  isFree(target: Target, ours = false): boolean {
    if (target.chat) return this.isIdle(target.chat.id, ours, doubtOf(target));
    if (!ours && this.waking.has(target.carrier.id)) return false;
    return this.inWindow(target.carrier.id).every((chat) => chat.state === 'gone' || this.isIdle(chat.id, false));
  }

  isWorking(target: Target): boolean {
    const chats = target.chat ? [this.byId.get(target.chat.id)] : this.inWindow(target.carrier.id);
    return chats.some((chat) => chat?.state === 'working' && !this.isIdle(chat.id, true));
  }

  async markWaking(target: Target, waking: boolean): Promise<void> {
    if (!target.chat) return this.waking.mark(target.carrier.id, waking);
    const chat = this.byId.get(target.chat.id);
    if (!chat || chat.waking === waking) return;
    // From now on: an earlier turn is over, and what the editor shows of it says nothing about this one.
    if (waking) await this.save({ ...chat, state: 'idle', hop: null, waking, at: this.parts.clock.now() });
    else await this.save({ ...chat, waking });
  }

  async adopt(id: string, agent: number): Promise<void> {
    const chat = this.byId.get(id);
    if (!chat || chat.agent === agent) return;
    this.drop(id);
    await this.add({ ...chat, agent }, []);
  }

  private isIdle(id: string, ours: boolean, doubt: Doubt = 'heard'): boolean {
    const chat = this.byId.get(id);
    if (!chat) return false;
    const { clock, staleMs } = this.parts;
    const heard = doubt === 'always' || (doubt === 'heard' && this.heard.has(id));
    const rules = { now: clock.now(), staleMs, heard };
    return isIdle(ours ? { ...chat, waking: false } : chat, rules);
  }

  private saveHeard(before: ChatRecord, chat: ChatRecord): Promise<void> {
    if (chat.state === 'idle' && (before.state === 'working' || before.asking)) this.onRest(chat);
    return this.save(chat);
  }

  private async save(chat: ChatRecord): Promise<void> {
    this.keep(chat);
    const saved = this.parts.store.write((tx) => tx.putChat(chat));
    this.onChange(chat);
    await saved;
  }

  private keep(chat: ChatRecord): void {
    this.byId.set(chat.id, chat);
    this.byAgent.set(chat.agent, chat.id);
  }

  private drop(id: string): void {
    const chat = this.byId.get(id);
    this.byId.delete(id);
    if (chat && this.byAgent.get(chat.agent) === id) this.byAgent.delete(chat.agent);
  }
}

/** When a turn without a sign of life may be taken for one that was cancelled, or whose end nobody heard. */
type Doubt = 'always' | 'heard' | 'never';

/**
 * A product's own way waits behind whatever is open there, so that it may be tried. What stands for the person's own words
 * might answer a question. In a window a turn might cancel one, unless all of that turn was heard.
 */
function doubtOf({ key, terminal, isLine }: Target): Doubt {
  if (key === 'window' || terminal) return 'heard';
  return isLine ? 'never' : 'always';
}
