import type { BusEvent } from './busEvent.ts';
import type { Fate, OverviewEntry, StoryMessage, StoryParams, StoryResult } from '../../protocol/storyMessages.ts';
import type { MessageView, ReceiptView } from '../../core/model.ts';
import { PageError, type Ask } from '../api.ts';
import type { ErrorShape } from './errorShape.ts';
import { Observable } from './observable.ts';
import { orderOf } from './order.ts';

const pageSize = 60;
/** As many messages stay in memory and in the page; what is scrolled far away is read again. */
const mostMessages = 600;

const seenSteps: ReadonlySet<string> = new Set(['shown', 'acked', 'replied']);

/** One history, a window of it, kept up to date by events. Ordered by the bus's own numbers; no message twice. */
export class StoryStore extends Observable {
  id: string | undefined;
  conversation: OverviewEntry | undefined;
  messages: StoryMessage[] = [];
  loading: 'open' | 'older' | 'newer' | undefined;
  failed: ErrorShape | undefined;
  /** The message before which the unread ones began when the conversation was opened. */
  unreadFrom: string | undefined;

  private before: string | undefined;
  private after: string | undefined;
  private readonly ask: Ask;
  private readonly me: () => string;
  private generation = 0;

  constructor(ask: Ask, me: () => string) {
    super();
    this.ask = ask;
    this.me = me;
  }

  get hasOlder(): boolean {
    return this.before !== undefined;
  }

  /** The newest message of the conversation is not in the window. */
  get hasNewer(): boolean {
    return this.after !== undefined;
  }

  message(id: string): StoryMessage | undefined {
    const at = this.place(id);
    return this.messages[at]?.id === id ? this.messages[at] : undefined;
  }

  close(): void {
    this.generation++;
    this.id = this.conversation = this.failed = this.loading = this.unreadFrom = undefined;
    this.before = this.after = undefined;
    this.messages = [];
    this.changed();
  }

  /** Opens a conversation at its end, or around a message. */
  async open(id: string, around?: string): Promise<void> {
    const generation = ++this.generation;
    if (id !== this.id) {
      this.messages = [];
      this.conversation = this.unreadFrom = undefined;
      this.before = this.after = undefined;
    }
    this.id = id;
    this.loading = 'open';
    this.failed = undefined;
    this.changed();
    await this.read({ conversation: id, limit: pageSize, ...(around && { around }) }, generation, (result) => {
      this.messages = result.messages;
      this.before = result.before;
      this.after = result.after;
      this.unreadFrom = result.messages.find((message) => message.unread)?.id;
    });
  }

  /** The same window again, after more happened than was told. */
  async reload(): Promise<void> {
    if (this.id === undefined) return;
    const last = this.messages.at(-1)?.id;
    const around = this.hasNewer ? last : undefined;
    await this.open(this.id, around);
  }

  async older(): Promise<void> {
    if (this.id === undefined || this.before === undefined || this.loading) return;
    this.loading = 'older';
    this.changed();
    const params = { conversation: this.id, before: this.before, limit: pageSize };
    await this.read(params, this.generation, (result) => {
      this.insert(result.messages);
      this.before = result.before;
      if (this.messages.length <= mostMessages) return;
      this.messages = this.messages.slice(0, mostMessages);
      this.after = this.messages.at(-1)?.id;
    });
  }

  async newer(): Promise<void> {
    if (this.id === undefined || this.after === undefined || this.loading) return;
    this.loading = 'newer';
    this.changed();
    const params = { conversation: this.id, after: this.after, limit: pageSize };
    await this.read(params, this.generation, (result) => {
      this.insert(result.messages);
      this.after = result.after;
      if (this.messages.length <= mostMessages) return;
      this.messages = this.messages.slice(-mostMessages);
      this.before = this.messages[0]?.id;
    });
  }

  /** Everything up to so many messages back from the end, for the picture. */
  async loadBack(count: number): Promise<void> {
    while (this.hasNewer && this.messages.length < count && !this.failed) await this.newer();
    while (this.hasOlder && this.messages.length < Math.min(count, mostMessages) && !this.failed) await this.older();
  }

  /** @returns the messages that are new here. */
  apply(events: readonly BusEvent[]): StoryMessage[] {
    const arrived: StoryMessage[] = [];
    let touched = false;
    for (const event of events) {
      if (event.type === 'message' && event.message.conversation === this.id) {
        const message = this.withFates(event.message);
        if (!this.message(message.id)) arrived.push(message);
        if (!this.hasNewer && this.loading !== 'open') this.insert([message]);
        this.linkAnswer(message);
        touched = true;
      } else if (event.type === 'receipt') touched = this.noteReceipt(event.message, event.receipt) || touched;
      else if (event.type === 'request') {
        const ended = this.change(event.message, (message) => {
          if (event.state === 'pending') return { ...message, request: event.state };
          return { ...message, request: event.state, ended_at: message.ended_at ?? new Date().toISOString() };
        });
        touched = ended || touched;
      } else if (event.type === 'unread') {
        touched = this.change(event.message, (message) => ({ ...message, unread: true })) || touched;
      }
    }
    if (touched) this.changed();
    return arrived;
  }

  /** Stood in front of the person's eyes. @returns how many of them were unread until now. */
  markSeen(ids: readonly string[]): number {
    let count = 0;
    for (const id of ids) {
      if (this.message(id)?.unread && this.change(id, ({ unread: _unread, ...message }) => message)) count++;
    }
    if (count > 0) this.changed();
    return count;
  }

  /** With all of its text, after `message` was asked. */
  replace(message: StoryMessage): void {
    if (this.change(message.id, () => message)) this.changed();
  }

  private async read(params: StoryParams, generation: number, take: (result: StoryResult) => void): Promise<void> {
    try {
      const result = await this.ask('story', params);
      if (generation !== this.generation) return;
      this.conversation = result.conversation;
      this.failed = undefined;
      take(result);
    } catch (error) {
      if (generation !== this.generation) return;
      const { code, message, next } = PageError.from(error);
      this.failed = { code, message, next };
    }
    this.loading = undefined;
    this.changed();
  }

  private insert(messages: readonly StoryMessage[]): void {
    const fresh = messages.filter((message) => !this.message(message.id));
    if (fresh.length === 0) return;
    this.messages = [...this.messages, ...fresh].sort((a, b) => orderOf(a.id) - orderOf(b.id));
  }

  private withFates(message: MessageView): StoryMessage {
    const me = this.me();
    const named = message.to.filter((name) => !name.startsWith('#'));
    const inChannel = message.channel !== undefined && this.conversation?.members.includes(me);
    const unread = message.from !== me && (named.includes(me) || inChannel);
    return {
      ...message,
      fates: named.map((agent): Fate => ({ agent, step: 'stored', at: message.sent_at })),
      ...(message.kind === 'request' && { request: 'pending' as const }),
      ...(unread && { unread: true as const }),
    };
  }

  /** The hub tells that a request ended, not by which message; the answer itself says which request it is for. */
  private linkAnswer(answer: StoryMessage): void {
    if (answer.kind !== 'reply' || answer.reply_to === undefined) return;
    this.change(answer.reply_to, (request) =>
      request.kind === 'request' && request.answer === undefined
        ? { ...request, answer: answer.id, ended_at: answer.sent_at }
        : request,
    );
  }

  private noteReceipt(id: string, { agent, step, at, route, outcome, note }: ReceiptView): boolean {
    const fate: Fate = { agent, step, at, ...(route && { route }), ...(outcome && { outcome }), ...(note && { note }) };
    return this.change(id, (message) => {
      const known = message.fates.some((one) => one.agent === agent);
      const fates = known ? message.fates.map((one) => (one.agent === agent ? fate : one)) : [...message.fates, fate];
      const { unread, ...rest } = message;
      const seen = agent === this.me() && seenSteps.has(step);
      return { ...rest, fates, ...(unread && !seen && { unread }) };
    });
  }

  private change(id: string, how: (message: StoryMessage) => StoryMessage): boolean {
    const at = this.place(id);
    const old = this.messages[at];
    if (old?.id !== id) return false;
    this.messages = this.messages.with(at, how(old));
    return true;
  }

  /** Where a message is, or would be. */
  private place(id: string): number {
    const wanted = orderOf(id);
    let low = 0;
    let high = this.messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (orderOf(this.messages[middle]?.id) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
