import type { ErrorShape } from './errorShape.ts';
import type { BusEvent } from './busEvent.ts';
import type { MessageView } from '../../core/model.ts';
import type { OverviewEntry, OverviewFilter, OverviewResult } from '../../protocol/storyMessages.ts';
import { PageError, type Ask } from '../api.ts';
import { Observable } from './observable.ts';
import { orderOf } from './order.ts';
import { lineOf } from '../text/lines.ts';

const firstPage = 50;
const furtherPage = 200;
const largestPage = 500;
const refreshAfter = 300;
const freshFor = 1_500;

/** The list of conversations under one filter: loaded from the top on, kept up to date by events. */
export class InboxStore extends Observable {
  rows: OverviewEntry[] = [];
  /** When the first page came, on the page's own clock. */
  arrivedAt = 0;
  counts: Record<OverviewFilter, number> = { all: 0, unread: 0, waiting: 0 };
  unread = 0;
  filter: OverviewFilter = 'all';
  /** Nothing is known yet. */
  loaded = false;
  failed: ErrorShape | undefined;
  /** Arrived while the person was looking, for a short while. */
  readonly fresh = new Set<string>();
  /** Stays in the list although it has left the filter: it is the one that the person opened. */
  kept: string | undefined;

  private readonly ask: Ask;
  private readonly me: () => string;
  private next: string | undefined;
  private generation = 0;
  private reaching: Promise<void> | undefined;
  private wanted = 0;
  private refreshTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(ask: Ask, me: () => string) {
    super();
    this.ask = ask;
    this.me = me;
  }

  /** How many rows the list has, loaded or not. */
  get total(): number {
    return this.next === undefined ? this.rows.length : Math.max(this.counts[this.filter], this.rows.length + 1);
  }

  row(id: string): OverviewEntry | undefined {
    return this.rows.find((row) => row.id === id);
  }

  /** Reads the list anew; what is on the screen stays until the answer is there. */
  async load(filter: OverviewFilter = this.filter): Promise<void> {
    const generation = ++this.generation;
    const other = filter !== this.filter;
    const limit = other ? firstPage : Math.min(largestPage, Math.max(firstPage, this.rows.length));
    this.filter = filter;
    if (other) {
      this.rows = [];
      this.next = undefined;
      this.loaded = false;
      this.kept = undefined;
      this.changed();
    }
    try {
      const result = await this.ask('overview', { filter, limit });
      if (generation !== this.generation) return;
      this.arrivedAt = performance.now();
      this.rows = result.conversations;
      this.next = result.next;
      this.note(result);
    } catch (error) {
      if (generation === this.generation) this.fail(error);
    }
  }

  /** Loads on until the row with this index is there; one page at a time, and never twice at once. */
  reach(index: number): void {
    this.wanted = Math.max(this.wanted, index);
    this.reaching ??= this.loadFurther().finally(() => (this.reaching = undefined));
  }

  private async loadFurther(): Promise<void> {
    const generation = this.generation;
    while (this.next !== undefined && this.rows.length <= this.wanted) {
      const far = this.wanted - this.rows.length > furtherPage;
      try {
        const result = await this.ask('overview', {
          filter: this.filter,
          cursor: this.next,
          limit: far ? largestPage : furtherPage,
        });
        if (generation !== this.generation) break;
        const known = new Set(this.rows.map((row) => row.id));
        this.rows = [...this.rows, ...result.conversations.filter((row) => !known.has(row.id))];
        this.next = result.next;
        this.note(result);
      } catch (error) {
        this.fail(error);
        break;
      }
    }
    this.wanted = 0;
  }

  /** The top of the list again: its order, what is new, and the counts. */
  async refresh(): Promise<void> {
    clearTimeout(this.refreshTimer);
    this.refreshTimer = undefined;
    const generation = this.generation;
    try {
      const result = await this.ask('overview', { filter: this.filter, limit: firstPage });
      if (generation !== this.generation) return;
      this.merge(result);
    } catch (error) {
      if (generation === this.generation && !this.loaded) this.fail(error);
    }
  }

  apply(events: readonly BusEvent[]): void {
    let touched = false;
    for (const event of events) {
      if (event.type === 'message') {
        this.arrived(event.message);
        touched = true;
      } else if (event.type === 'unread') {
        const row = this.row(event.conversation);
        if (row) this.put({ ...row, unread: row.unread + 1 });
        touched = true;
      } else if (event.type === 'request' || (event.type === 'receipt' && event.receipt.agent === this.me())) {
        touched = true;
      }
    }
    if (!touched) return;
    this.changed();
    this.refreshSoon();
  }

  /** The person saw so many messages there, just now. */
  noteSeen(conversation: string, count: number): void {
    const row = this.row(conversation);
    this.unread = Math.max(0, this.unread - count);
    if (row && row.unread > 0) {
      const left = Math.max(0, row.unread - count);
      if (left === 0) this.counts = { ...this.counts, unread: Math.max(0, this.counts.unread - 1) };
      this.put({ ...row, unread: left });
    }
    this.changed();
  }

  private arrived(message: MessageView): void {
    const row = this.row(message.conversation);
    if (!row || orderOf(message.id) <= orderOf(row.last?.id)) return;
    const me = this.me();
    const toMe =
      message.from !== me && (message.to.includes(me) || (message.channel !== undefined && row.members.includes(me)));
    this.mark(row.id);
    const asksMe = toMe && message.kind === 'request' && message.to.includes(me);
    this.rows = [
      {
        ...row,
        unread: row.unread + (toMe ? 1 : 0),
        waiting: row.waiting + (asksMe ? 1 : 0),
        last_at: message.sent_at,
        last: { id: message.id, from: message.from, line: lineOf(message.text, 100), sent_at: message.sent_at },
      },
      ...this.rows.filter((one) => one.id !== row.id),
    ];
  }

  private mark(id: string): void {
    this.fresh.add(id);
    setTimeout(() => this.fresh.delete(id), freshFor);
  }

  private refreshSoon(): void {
    this.refreshTimer ??= setTimeout(() => void this.refresh(), refreshAfter);
  }

  private merge(result: OverviewResult): void {
    const page = result.conversations;
    const inPage = new Set(page.map((row) => row.id));
    const known = new Set(this.rows.map((row) => row.id));
    if (this.loaded) for (const { id } of page) if (!known.has(id)) this.mark(id);
    const end = result.next === undefined ? -1 : orderOf(page.at(-1)?.last?.id);
    // Below the page nothing is known to have changed; within it, what is missing has left the filter.
    const rest = this.rows.filter(
      (row) => !inPage.has(row.id) && (row.id === this.kept || (orderOf(row.last?.id) < end && end >= 0)),
    );
    if (rest.length === 0) this.next = result.next;
    const kept = rest.find((row) => row.id === this.kept);
    this.rows = [...page, ...rest];
    if (kept) this.rows.sort((a, b) => orderOf(b.last?.id) - orderOf(a.last?.id));
    this.note(result);
  }

  private note(result: OverviewResult): void {
    this.counts = result.counts;
    this.unread = result.unread;
    this.loaded = true;
    this.failed = undefined;
    this.changed();
  }

  private put(row: OverviewEntry): void {
    this.rows = this.rows.map((one) => (one.id === row.id ? row : one));
  }

  private fail(error: unknown): void {
    const { code, message, next } = PageError.from(error);
    this.failed = { code, message, next };
    this.changed();
  }
}
