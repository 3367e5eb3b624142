import { BusError } from './errors.ts';
import type { AgentRecord, Caller, ConversationRecord, MessageKind, MessageRecord, MessageView } from './model.ts';
import { conversationId, DeliveryPhase, messageId } from './model.ts';
import type { InboxQuery, Store } from './ports.ts';
import type { Receipts } from './receipts.ts';
import type { Roster } from './roster.ts';
import { firstLine, snippet } from './text.ts';
import type { Visibility } from './visibility.ts';
import { isoTime, type Views } from './views.ts';

export interface InboxInput {
  filter: 'new' | 'open' | 'done' | 'all';
  from?: string | undefined;
  kind?: MessageKind | undefined;
  conversation?: string | undefined;
  cursor?: string | undefined;
  limit: number;
  /** Characters of text after which a page ends early; one message is always given. */
  budget: number;
}

export interface InboxPage {
  messages: MessageView[];
  /** Requests that were shown before and still wait for an answer. */
  unanswered?: Reminder[];
  unread_left: number;
  next?: string;
}

export interface Reminder {
  id: string;
  from: string;
  line: string;
  sent_at: string;
}

export interface ConversationSummary {
  id: string;
  title: string;
  kind: ConversationRecord['kind'];
  members: string[];
  unread: number;
  last_at: string;
  last?: Reminder;
}

export interface SearchHit {
  id: string;
  conversation: string;
  from: string;
  sent_at: string;
  snippet: string;
}

export interface HistoryPage {
  conversation: ConversationSummary;
  messages: MessageView[];
  /** Where the page before and the page after begin, where there is one. */
  before?: string;
  after?: string;
}

const phasesOf: Record<InboxInput['filter'], readonly DeliveryPhase[]> = {
  new: [DeliveryPhase.unread],
  open: [DeliveryPhase.unread, DeliveryPhase.open],
  done: [DeliveryPhase.closed],
  all: [DeliveryPhase.unread, DeliveryPhase.open, DeliveryPhase.closed],
};

/** Reading changes nothing: marks are set by the transport, for what it has really handed over. */
export class Reading {
  private readonly store: Store;
  private readonly roster: Roster;
  private readonly views: Views;
  private readonly receipts: Receipts;
  private readonly visibility: Visibility;

  constructor(parts: { store: Store; roster: Roster; views: Views; receipts: Receipts; visibility: Visibility }) {
    this.store = parts.store;
    this.roster = parts.roster;
    this.views = parts.views;
    this.receipts = parts.receipts;
    this.visibility = parts.visibility;
  }

  inbox(caller: Caller, input: InboxInput): InboxPage {
    const unreadOnly = input.filter === 'new';
    const found = this.mail(caller, input, input.limit + 1);
    const page = withinBudget(found.slice(0, input.limit), input.budget);
    const last = page.at(-1);
    const more = last !== undefined && found.length > page.length;
    const firstPage = unreadOnly && input.cursor === undefined;
    const unfiltered = input.from === undefined && input.kind === undefined && input.conversation === undefined;
    const unanswered = firstPage ? this.unanswered(caller) : [];
    return {
      messages: page.map((message) => this.views.message(message)),
      ...(unanswered.length > 0 && { unanswered }),
      unread_left: firstPage && unfiltered && !more ? 0 : this.unreadBeyond(caller.agent, unreadOnly ? page.length : 0),
      ...(more && { next: messageId.format(last.seq) }),
    };
  }

  hasNew(caller: Caller, input: InboxInput): boolean {
    return this.mail(caller, { ...input, filter: 'new' }, 1).length > 0;
  }

  private mail(caller: Caller, input: InboxInput, limit: number): MessageRecord[] {
    const { agent } = caller;
    const unreadOnly = input.filter === 'new';
    const query: InboxQuery = {
      agent,
      phases: phasesOf[input.filter],
      sender: input.from === undefined ? undefined : this.sender(input.from).id,
      kind: input.kind,
      conversation:
        input.conversation === undefined ? undefined : this.visibility.conversation(caller, input.conversation).id,
      after: Math.max(
        input.cursor === undefined ? 0 : cursorSeq(input.cursor),
        unreadOnly ? this.receipts.unreadFloor(agent) : 0,
      ),
      limit: limit + (unreadOnly ? this.receipts.pendingCount(agent) : 0),
    };
    const found = this.store.inbox(query);
    if (!unreadOnly) return found;
    return found.filter((message) => !this.receipts.isShownPending(agent, message.seq)).slice(0, limit);
  }

  /** Unread mail that no answer has carried yet, after an order number. */
  news(agent: number, after: number, limit: number): MessageRecord[] {
    return this.store
      .inbox({
        agent,
        phases: [DeliveryPhase.unread],
        after: Math.max(after, this.receipts.unreadFloor(agent)),
        limit: limit + this.receipts.pendingCount(agent),
      })
      .filter((message) => !this.receipts.isShownPending(agent, message.seq))
      .slice(0, limit);
  }

  unreadCount(agent: number): number {
    return this.unreadBeyond(agent, 0);
  }

  conversations(
    caller: Caller,
    page: { cursor?: string | undefined; limit: number },
  ): { conversations: ConversationSummary[]; next?: string } {
    const records = this.store.conversations({
      agent: this.visibility.seesAll(caller) ? undefined : caller.agent,
      before: page.cursor === undefined ? undefined : conversationPlace(page.cursor),
      limit: page.limit + 1,
    });
    const shown = records.slice(0, page.limit);
    const unread = this.unreadOf(caller);
    const last = shown.at(-1);
    return {
      conversations: shown.map((record) => this.summary(caller, record, unread.get(record.id) ?? 0)),
      ...(last !== undefined && records.length > shown.length && { next: placeOf(last) }),
    };
  }

  search(
    caller: Caller,
    input: { query: string; conversation?: string | undefined; cursor?: string | undefined; limit: number },
  ): { hits: SearchHit[]; next?: string } {
    const found = this.store.search({
      terms: input.query,
      visibleTo: this.visibility.seesAll(caller)
        ? undefined
        : { agent: caller.agent, channels: this.store.channelsOf(caller.agent) },
      conversation:
        input.conversation === undefined ? undefined : this.visibility.conversation(caller, input.conversation).id,
      before: input.cursor === undefined ? undefined : cursorSeq(input.cursor),
      limit: input.limit + 1,
    });
    const shown = found.slice(0, input.limit);
    const last = shown.at(-1);
    return {
      hits: shown.map((message) => ({
        id: messageId.format(message.seq),
        conversation: conversationId.format(message.conversation),
        from: this.roster.get(message.sender).name,
        sent_at: isoTime(message.sentAt),
        snippet: snippet(message.text, input.query, 160),
      })),
      ...(last !== undefined && found.length > shown.length && { next: messageId.format(last.seq) }),
    };
  }

  history(
    caller: Caller,
    input: {
      conversation: ConversationRecord;
      before?: string | undefined;
      after?: string | undefined;
      limit: number;
      budget: number;
    },
  ): HistoryPage {
    const { conversation, before, after, limit } = input;
    const found = this.store.history({
      conversation: conversation.id,
      before: before === undefined ? undefined : cursorSeq(before),
      after: after === undefined ? undefined : cursorSeq(after),
      reader: this.readerOf(caller),
      limit,
    });
    const page =
      after === undefined
        ? withinBudget(found.slice().reverse(), input.budget).reverse()
        : withinBudget(found, input.budget);
    const unread = this.unreadOf(caller).get(conversation.id) ?? 0;
    return {
      conversation: this.summary(caller, conversation, unread),
      messages: page.map((message) => this.views.message(message)),
      ...this.edges(conversation.id, page, this.readerOf(caller)),
    };
  }

  /** Where the page before and the page after this one begin, where there is one. */
  edges(conversation: number, page: readonly MessageRecord[], reader?: number): { before?: string; after?: string } {
    const first = page[0];
    const last = page.at(-1);
    const older = first && this.store.history({ conversation, before: first.seq, reader, limit: 1 }).length > 0;
    const newer = last && this.store.history({ conversation, after: last.seq, reader, limit: 1 }).length > 0;
    return {
      ...(first && older && { before: messageId.format(first.seq) }),
      ...(last && newer && { after: messageId.format(last.seq) }),
    };
  }

  /** The conversation that the caller has with an agent, or a #channel it is in. */
  conversationWith(caller: Caller, other: string): ConversationRecord {
    if (other.startsWith('#')) {
      const channel = this.visibility.channel(other);
      if (!this.visibility.isIn(caller, channel)) {
        throw new BusError('not-a-member', `You are not in ${other}.`, {
          next: `Call channel with action "join" and name "${other.slice(1)}" first.`,
        });
      }
      return channel;
    }
    const agent = this.roster.find(other) ?? this.roster.require(other);
    const direct = this.store.conversationByKey([caller.agent, agent.id].sort((a, b) => a - b).join(' '));
    if (direct) return direct;
    throw new BusError('unknown-conversation', `You and "${other}" have not exchanged a message yet.`, {
      next: 'Use send to begin.',
    });
  }

  /** What was shown a moment ago is read, also before the mark has reached the disk. */
  private unreadOf({ agent }: Caller): ReadonlyMap<number, number> {
    if (this.receipts.pendingCount(agent) > 0) this.store.settleNotes();
    return this.store.unreadByConversation(agent);
  }

  private summary(caller: Caller, record: ConversationRecord, unread: number): ConversationSummary {
    const members = this.store.members(record.id);
    const last = this.lastFor(caller, record);
    return {
      id: conversationId.format(record.id),
      title: this.views.conversationTitle(record, members, caller.agent),
      kind: record.kind,
      members: members.slice(0, 50).map((id) => this.roster.get(id).name),
      unread,
      last_at: isoTime(record.lastAt),
      ...(last && { last: this.reminder(last) }),
    };
  }

  /** The newest message that the caller may see: a notice may be for somebody else in the conversation. */
  private lastFor(caller: Caller, { id, lastSeq }: ConversationRecord): MessageRecord | undefined {
    const last = lastSeq > 0 ? this.store.message(lastSeq) : undefined;
    if (last?.sender !== this.roster.bus.id || this.visibility.maySee(caller, last)) return last;
    return this.store.history({ conversation: id, reader: caller.agent, limit: 1 })[0];
  }

  private readerOf(caller: Caller): number | undefined {
    return this.visibility.seesAll(caller) ? undefined : caller.agent;
  }

  /** Whose mail is wanted: anybody's here, or the notices of the bus itself. */
  private sender(name: string): AgentRecord {
    return name === this.roster.bus.name ? this.roster.bus : this.roster.require(name);
  }

  private unanswered(caller: Caller): Reminder[] {
    return this.store.unanswered(caller.agent, 5).map((message) => this.reminder(message));
  }

  reminder(message: MessageRecord): Reminder {
    return {
      id: messageId.format(message.seq),
      from: this.roster.get(message.sender).name,
      line: firstLine(message.text, 100),
      sent_at: isoTime(message.sentAt),
    };
  }

  private unreadBeyond(agent: number, shown: number): number {
    return Math.max(0, this.store.unreadCount(agent, 1_000) - this.receipts.pendingCount(agent) - shown);
  }
}

function withinBudget(messages: MessageRecord[], budget: number): MessageRecord[] {
  let used = 0;
  const end = messages.findIndex((message, i) => {
    used += message.text.length;
    return i > 0 && used > budget;
  });
  return end < 0 ? messages : messages.slice(0, end);
}

/** A conversation without a message has no order number: its own id says where it stands. */
export function placeOf(conversation: ConversationRecord): string {
  return conversation.lastSeq > 0 ? messageId.format(conversation.lastSeq) : conversationId.format(conversation.id);
}

export function conversationPlace(cursor: string): { seq: number; id: number } {
  const id = conversationId.parse(cursor);
  return id === undefined ? { seq: cursorSeq(cursor), id: 0 } : { seq: 0, id };
}

export function cursorSeq(cursor: string): number {
  const seq = messageId.parse(cursor);
  if (seq === undefined) {
    throw new BusError('invalid-input', `"${cursor.slice(0, 40)}" is not a place to continue from.`, {
      next: 'Use the value that the page before gave, or a message id.',
    });
  }
  return seq;
}
