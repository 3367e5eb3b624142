import type { EventFeed } from './events.ts';
import { limits } from './limits.ts';
import type { Caller, ConversationRecord, DeliveryRecord, MessageRecord, MessageView, ReceiptRecord } from './model.ts';
import type { ReceiptView, RequestState } from './model.ts';
import { conversationId, DeliveryPhase, messageId } from './model.ts';
import type { Store } from './ports.ts';
import { conversationPlace, cursorSeq, placeOf, type ConversationSummary, type Reading } from './reading.ts';
import { unknownMessage, type Receipts } from './receipts.ts';
import type { Roster } from './roster.ts';
import { firstLine, pairStart } from './text.ts';
import type { Visibility } from './visibility.ts';
import { isoTime, type Views } from './views.ts';

export type StoryFilter = 'all' | 'unread' | 'waiting';

export interface StoryEntry extends ConversationSummary {
  waiting: number;
  notices?: string;
}

export interface StoryOverview {
  conversations: StoryEntry[];
  next?: string;
  counts: Record<StoryFilter, number>;
  unread: number;
}

export interface StoryView extends MessageView {
  fates: ReceiptView[];
  request?: RequestState;
  ended_at?: string;
  answer?: string;
  unread?: true;
  rest?: number;
}

export interface StoryPage {
  conversation: StoryEntry;
  messages: StoryView[];
  before?: string;
  after?: string;
}

export interface StoryQuery {
  conversation: string;
  before?: string | undefined;
  after?: string | undefined;
  around?: string | undefined;
  limit: number;
  /** Characters of a text after which it is cut. */
  textLength: number;
}

const fatesListed = 50;
const lineLength = 100;

/** The bus as its person looks at it: pages of conversations and of one history, with the fate of each message. */
export class Story {
  private readonly store: Store;
  private readonly roster: Roster;
  private readonly views: Views;
  private readonly receipts: Receipts;
  private readonly visibility: Visibility;
  private readonly reading: Reading;
  private readonly feed: EventFeed;

  constructor(parts: {
    store: Store;
    roster: Roster;
    views: Views;
    receipts: Receipts;
    visibility: Visibility;
    reading: Reading;
    feed: EventFeed;
  }) {
    this.store = parts.store;
    this.roster = parts.roster;
    this.views = parts.views;
    this.receipts = parts.receipts;
    this.visibility = parts.visibility;
    this.reading = parts.reading;
    this.feed = parts.feed;
  }

  /** A handful of statements, however many conversations there are. */
  overview(caller: Caller, query: { filter: StoryFilter; cursor?: string | undefined; limit: number }): StoryOverview {
    this.store.settleNotes();
    const unread = this.store.unreadByConversation(caller.agent);
    const waiting = this.store.waitingByConversation(caller.agent);
    const among = { all: undefined, unread: [...unread.keys()], waiting: [...waiting.keys()] }[query.filter];
    const found = this.store.conversations({
      among,
      before: query.cursor === undefined ? undefined : conversationPlace(query.cursor),
      limit: query.limit + 1,
    });
    const page = found.slice(0, query.limit);
    const last = page.at(-1);
    return {
      conversations: this.entries(caller, page, unread, waiting),
      ...(last !== undefined && found.length > page.length && { next: placeOf(last) }),
      counts: { all: this.store.conversationCount(), unread: unread.size, waiting: waiting.size },
      unread: [...unread.values()].reduce((sum, count) => sum + count, 0),
    };
  }

  page(caller: Caller, query: StoryQuery): StoryPage {
    this.store.settleNotes();
    const conversation = this.visibility.conversation(caller, query.conversation);
    const records = this.records(conversation.id, query);
    const unread = this.store.unreadByConversation(caller.agent);
    const waiting = this.store.waitingByConversation(caller.agent);
    const [entry] = this.entries(caller, [conversation], unread, waiting);
    return {
      conversation: entry as StoryEntry,
      messages: records.map((record) => this.view(caller, record, query.textLength)),
      ...this.reading.edges(conversation.id, records),
    };
  }

  message(caller: Caller, id: string): StoryView {
    this.store.settleNotes();
    return this.view(caller, this.visibility.message(caller, id), Infinity);
  }

  /** Back to unread. What is unread already stays so, without a word. */
  async takeBack(caller: Caller, id: string): Promise<void> {
    const message = this.visibility.message(caller, id);
    if (!this.store.delivery(message.seq, caller.agent)) throw unknownMessage(id);
    if (await this.receipts.takeBack(caller.agent, message.seq))
      this.feed.publish({ type: 'unread', seq: message.seq, conversation: message.conversation });
  }

  private records(conversation: number, query: StoryQuery): MessageRecord[] {
    const { limit } = query;
    if (query.around === undefined) {
      return this.store.history({
        conversation,
        before: query.before === undefined ? undefined : cursorSeq(query.before),
        after: query.after === undefined ? undefined : cursorSeq(query.after),
        limit,
      });
    }
    const middle = cursorSeq(query.around);
    const older = this.store.history({ conversation, before: middle, limit });
    const newer = this.store.history({ conversation, after: middle - 1, limit });
    // Half of the page before it, and more where there is not enough after it.
    const before = Math.min(older.length, Math.max(Math.floor(limit / 2), limit - newer.length));
    return [...older.slice(older.length - before), ...newer.slice(0, limit - before)];
  }

  private entries(
    caller: Caller,
    page: readonly ConversationRecord[],
    unread: ReadonlyMap<number, number>,
    waiting: ReadonlyMap<number, number>,
  ): StoryEntry[] {
    const members = this.store.membersOf(page.map(({ id }) => id));
    const newest = page.flatMap(({ lastSeq }) => (lastSeq > 0 ? [lastSeq] : []));
    const beginnings = this.store.beginnings(newest, 4 * lineLength);
    return page.map((record) => {
      const inIt = members.get(record.id) ?? [];
      const last = beginnings.get(record.lastSeq);
      return {
        id: conversationId.format(record.id),
        title: this.views.conversationTitle(record, inIt, caller.agent),
        kind: record.kind,
        members: inIt.slice(0, 50).map((id) => this.roster.get(id).name),
        unread: unread.get(record.id) ?? 0,
        waiting: waiting.get(record.id) ?? 0,
        ...(inIt.includes(this.roster.bus.id) && { notices: this.roster.bus.name }),
        last_at: isoTime(record.lastAt),
        ...(last && {
          last: {
            id: messageId.format(record.lastSeq),
            from: this.roster.get(last.sender).name,
            line: firstLine(last.text, lineLength),
            sent_at: isoTime(last.sentAt),
          },
        }),
      };
    });
  }

  private view(caller: Caller, record: MessageRecord, textLength: number): StoryView {
    const deliveries = this.store.deliveries(record.seq, limits.recipients);
    const request = record.kind === 'request' ? this.store.request(record.seq) : undefined;
    const own = this.store.delivery(record.seq, caller.agent);
    const unread = own?.phase === DeliveryPhase.unread && !this.receipts.isShownPending(caller.agent, record.seq);
    const recipients = deliveries.map(({ agent }) => agent);
    const view = this.views.message(record, recipients);
    const end = pairStart(view.text, Math.min(view.text.length, textLength));
    return {
      ...view,
      text: view.text.slice(0, end),
      fates: this.fates(record.seq, deliveries),
      ...(request && { request: request.state }),
      ...(request && request.endedAt !== null && { ended_at: isoTime(request.endedAt) }),
      ...(request && request.resultSeq !== null && { answer: messageId.format(request.resultSeq) }),
      ...(unread && { unread }),
      ...(end < view.text.length && { rest: view.text.length - end }),
    };
  }

  /** Of a message to very many only the steps, since its receipts are as many times more. */
  private fates(seq: number, deliveries: readonly DeliveryRecord[]): ReceiptView[] {
    const last = new Map<number, ReceiptRecord>();
    if (deliveries.length <= fatesListed) {
      for (const receipt of this.store.receipts(seq)) last.set(receipt.agent, receipt);
    }
    return deliveries.slice(0, fatesListed).map(({ agent, step, at }) => {
      const receipt = last.get(agent);
      return {
        agent: this.roster.get(agent).name,
        step,
        at: isoTime(at),
        ...(receipt?.step === step && receipt.route !== null && { route: receipt.route }),
        ...(receipt?.step === step && receipt.outcome !== null && { outcome: receipt.outcome }),
        ...(receipt?.step === step && receipt.note !== null && { note: receipt.note }),
      };
    });
  }
}
