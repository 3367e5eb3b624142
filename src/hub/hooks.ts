import type { Bus } from '../core/bus.ts';
import { BusError } from '../core/errors.ts';
import { cleanLine } from '../core/envelope.ts';
import { messageId, type Caller, type ChatRecord, type MessageRecord } from '../core/model.ts';
import { takeNews, type News, type NewsBudget } from '../core/news.ts';
import type { Store } from '../core/ports.ts';
import { pushBudget, stopReason, wakeTokens } from '../core/wakePrompt.ts';
import type { HookParams, HookResult } from '../protocol/reachMessages.ts';
import type { Gate } from '../reach/gate.ts';
import type { Pause } from '../reach/pause.ts';
import type { Wakes } from '../reach/wakes.ts';
import { isBusTool } from '../tools/busTool.ts';
import type { Chats } from './chats.ts';
import type { HeardHooks } from './heardHooks.ts';
import { PressedChats } from './pressedChats.ts';

const newsBudget: NewsBudget = { messages: 5, length: 2_000 };
const cargoKept = 50;
const howTo = 'Answer what is asked of you with its tool send (reply_to and text), or ack it with a note.';

interface ToolOfChat {
  use: string;
  name: string;
}

interface Cargo extends ToolOfChat {
  ids: string[];
  /** Those that are whole. */
  shown: string[];
}

const nothing: HookResult = { shown: [] };

/** What hooks tell about a chat, and what they take along to its model. */
export class Hooks {
  private readonly bus: Bus;
  private readonly store: Store;
  private readonly chats: Chats;
  private readonly gate: Gate;
  private readonly pause: Pause;
  private readonly wakes: Wakes;
  private readonly heard: HeardHooks;
  /** What tools that have begun will take to the model, by chat. */
  private readonly cargo = new Map<string, Cargo[]>();
  private readonly pressed: PressedChats;

  constructor(parts: {
    bus: Bus;
    store: Store;
    chats: Chats;
    gate: Gate;
    pause: Pause;
    wakes: Wakes;
    heard: HeardHooks;
  }) {
    this.heard = parts.heard;
    this.bus = parts.bus;
    this.store = parts.store;
    this.chats = parts.chats;
    this.gate = parts.gate;
    this.pause = parts.pause;
    this.wakes = parts.wakes;
    this.pressed = new PressedChats(parts.store);
  }

  async hook(caller: Caller, params: HookParams): Promise<HookResult> {
    const chat = this.chats.get(params.chat);
    if (chat?.agent !== caller.agent) {
      throw new BusError('forbidden', 'That chat is not the one you logged in with.', {
        next: 'Log in with `attach.chat`, and tell of that chat only.',
      });
    }
    this.bus.touch(caller.agent);
    this.heard.note(params, chat.product);
    const tool = { use: params.toolUse ?? '', name: params.tool ?? 'a tool' };
    switch (params.event) {
      case 'session-start':
        await this.chats.tell(chat.id, { type: 'started' });
        return { context: this.introduction(caller), shown: [] };
      case 'prompt':
        await this.prompt(caller, chat, params.prompt ?? '');
        return params.takes === false ? nothing : this.news(caller);
      case 'before-tool':
        await this.chats.tell(chat.id, { type: 'before-tool', ...tool });
        return this.withTool(caller, chat, tool);
      case 'after-tool':
        this.arrived(caller, chat, tool);
        await this.chats.tell(chat.id, { type: 'after-tool', ...tool });
        return params.takes === true ? this.news(caller) : nothing;
      case 'stop':
        return this.stop(caller, chat, params.again === true);
      case 'session-end':
        this.abandon(caller, chat);
        await this.chats.tell(chat.id, { type: 'gone' });
        return nothing;
    }
  }

  private async prompt(caller: Caller, chat: ChatRecord, prompt: string): Promise<void> {
    this.pressed.release(chat.id);
    this.abandon(caller, chat);
    // First of all it is not idle any more; what caused the turn is told right after.
    const working = this.chats.tell(chat.id, { type: 'prompt', hop: null });
    const hops = await Promise.all(wakeTokens(prompt).map((token) => this.wakes.prove(token, chat)));
    const caused = hops.filter((hop) => hop !== undefined);
    if (caused.length > 0) await this.chats.tell(chat.id, { type: 'prompt', hop: Math.max(...caused) });
    await working;
  }

  private async stop(caller: Caller, chat: ChatRecord, again: boolean): Promise<HookResult> {
    this.abandon(caller, chat);
    const due = again || this.pause.on || this.pressed.has(chat.id) ? [] : this.unanswered(caller.agent);
    const messages = due.slice(0, pushBudget.messages);
    if (messages.length === 0) {
      await this.chats.tell(chat.id, { type: 'stop' });
      return nothing;
    }
    this.pressed.add(chat.id);
    const { agent } = caller;
    await this.store.write((tx) => {
      for (const { seq } of messages) tx.markDelivery(seq, agent, 'heldBack');
      this.pressed.keep(tx);
    });
    this.bus.receipts.noteOffered(agent, messages, 'hook');
    for (const message of messages) this.chats.raiseHop(agent, this.gate.hopFor(agent, message));
    const views = messages.map((message) => this.bus.views.message(message));
    const { text, whole } = stopReason(this.bus.roster.get(agent).name, views, due.length - messages.length);
    return { block: text, shown: whole };
  }

  /** Requests that this agent owes an answer, and for which no turn of its was held up yet. */
  private unanswered(agent: number): MessageRecord[] {
    const reader = this.bus.roster.get(agent);
    const underWay = this.wakes.underWay(agent);
    return [...this.store.wakeable(agent, 50), ...this.store.unanswered(agent, 50)]
      .filter(({ kind, seq }) => kind === 'request' && this.store.request(seq)?.state === 'pending')
      .filter(({ seq }) => {
        const delivery = this.store.delivery(seq, agent);
        return delivery && !delivery.heldBack && delivery.step !== 'acked' && !underWay.has(seq);
      })
      .filter((message) => this.gate.mayPress(reader, message));
  }

  private news(caller: Caller): HookResult {
    const news = this.takeNews(caller);
    return news ? { context: news.text, shown: news.shown } : nothing;
  }

  /** The context of a tool's beginning goes to the model with the tool's result; our own tools carry news by themselves. */
  private withTool(caller: Caller, chat: ChatRecord, tool: ToolOfChat): HookResult {
    const news = isBusTool(tool.name) ? undefined : this.takeNews(caller);
    if (!news) return nothing;
    const cargo = { ...tool, shown: news.shown, ids: news.lines.map(({ id }) => id) };
    this.cargo.set(chat.id, [...(this.cargo.get(chat.id) ?? []), cargo].slice(-cargoKept));
    return { context: news.text, shown: [] };
  }

  /** The tool's result goes to the model now, and with it what was given along. */
  private arrived(caller: Caller, chat: ChatRecord, tool: ToolOfChat): void {
    const all = this.cargo.get(chat.id) ?? [];
    const done = all.find((cargo) => (tool.use === '' ? cargo.name === tool.name : cargo.use === tool.use));
    if (!done) return;
    this.cargo.set(
      chat.id,
      all.filter((cargo) => cargo !== done),
    );
    this.bus.noteShown(caller, done.shown, 'hook');
  }

  /** Tools that did not end before their turn did have brought nothing to the model. */
  private abandon(caller: Caller, chat: ChatRecord): void {
    const lost = (this.cargo.get(chat.id) ?? []).flatMap(({ ids }) => ids.flatMap((id) => messageId.parse(id) ?? []));
    this.cargo.delete(chat.id);
    if (lost.length > 0) this.bus.recallNews(caller.agent, lost);
  }

  private takeNews(caller: Caller): News | undefined {
    return this.pause.on ? undefined : takeNews(this.bus, caller, [], newsBudget, 'hook');
  }

  private introduction(caller: Caller): string {
    const unread = this.bus.reading.unreadCount(caller.agent);
    const name = cleanLine(this.bus.roster.get(caller.agent).name, 60);
    const mail = unread > 0 && !this.pause.on ? ` ${unread} unread: call its tool inbox.` : '';
    return `You are "${name}" on Agent Bus, where coding agents and their person message each other. ${howTo}${mail}`;
  }
}
