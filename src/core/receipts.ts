import type { Clock } from './clock.ts';
import { BusError } from './errors.ts';
import type { EventFeed } from './events.ts';
import type { AckOutcome, Caller, DeliveryRecord, MessageRecord, ReceiptRecord, ReceiptStep, Route } from './model.ts';
import { DeliveryPhase, messageId } from './model.ts';
import type { Notices } from './notices.ts';
import type { Reads, ReceiptNote, RequestEnd, Store, Writes } from './ports.ts';
import { mailTopic, requestTopic, type WaitingRoom } from './waiting.ts';

/** What a transaction did to receipts and requests, to be told once it is committed. */
export class Changes {
  readonly receipts: { receipt: ReceiptRecord; sender: number }[] = [];
  readonly ended: { seq: number; state: RequestEnd['state'] }[] = [];
  /** Notices that came of it. */
  readonly messages: { message: MessageRecord; recipients: number[] }[] = [];

  /** A transaction may run a second time. */
  clear(): void {
    this.receipts.length = this.ended.length = this.messages.length = 0;
  }
}

/** No route has taken it yet. Held is not the end: whatever held it may let go. */
export function isWaiting(step: ReceiptStep): boolean {
  return step === 'stored' || step === 'held';
}

/** Routes that go to the agent by our doing, not by its own. */
const byPush: readonly Route[] = ['turn', 'typing', 'input', 'notification'];

/**
 * How far each message got. Steps are written only when they happened: `offered` when a route took the message,
 * `shown` when the answer that carried it was handed over whole, `acked` and `replied` when the reader said so.
 */
export class Receipts {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly feed: EventFeed;
  private readonly waiting: WaitingRoom;
  private readonly notices: Notices;
  /** Shown, but the mark is not committed yet: these are unread on disk and read for everybody who asks. */
  private readonly shownPending = new Map<number, Set<number>>();
  /** Up to here nothing is unread for the agent but what is pending, so that nobody has to read past it. */
  private readonly floors = new Map<number, number>();

  constructor(parts: { store: Store; clock: Clock; feed: EventFeed; waiting: WaitingRoom; notices: Notices }) {
    this.store = parts.store;
    this.clock = parts.clock;
    this.feed = parts.feed;
    this.waiting = parts.waiting;
    this.notices = parts.notices;
  }

  /** For use inside a transaction. */
  record(tx: Writes, changes: Changes, message: MessageRecord, agent: number, note: ReceiptNote): void {
    const receipt = tx.insertReceipt({
      seq: message.seq,
      agent,
      step: note.step,
      at: this.clock.now(),
      route: note.route ?? null,
      outcome: note.outcome ?? null,
      note: note.note ?? null,
    });
    changes.receipts.push({ receipt, sender: message.sender });
  }

  /** For use inside a transaction. The first end of a request counts, and whoever has to hear of it gets a notice. */
  end(tx: Writes, changes: Changes, seq: number, end: RequestEnd): boolean {
    if (!tx.endRequest(seq, end)) return false;
    changes.ended.push({ seq, state: end.state });
    this.notices.ended(tx, changes, seq, end);
    return true;
  }

  /** After the commit: tells everybody. */
  publish(changes: Changes): void {
    for (const { message, recipients } of changes.messages) this.feed.publish({ type: 'message', message, recipients });
    for (const { receipt, sender } of changes.receipts) this.feed.publish({ type: 'receipt', receipt, sender });
    for (const { seq, state } of changes.ended) {
      this.feed.publish({ type: 'request', seq, state });
      this.waiting.wake(requestTopic(seq));
    }
    for (const { recipients } of changes.messages) for (const agent of recipients) this.waiting.wake(mailTopic(agent));
  }

  /** A route has taken these for the agent. Nobody waits for the note. */
  noteOffered(agent: number, messages: readonly MessageRecord[], route: Route, note: string | null = null): void {
    const changes = new Changes();
    this.noteLater(changes, (tx) => {
      for (const message of messages) {
        const delivery = tx.delivery(message.seq, agent);
        if (!delivery || delivery.phase !== DeliveryPhase.unread) continue;
        // Every push is told, since it costs its reader a turn; what merely rides along, only if it is the first.
        if (!isWaiting(delivery.step) && !(delivery.step === 'offered' && byPush.includes(route))) continue;
        tx.moveDelivery(message.seq, agent, DeliveryPhase.unread, 'offered', this.clock.now());
        this.record(tx, changes, message, agent, { step: 'offered', route, note });
      }
    });
  }

  /** Why nothing is pushed to the agent. Each reason is told once per message. */
  noteHeld(agent: number, messages: readonly MessageRecord[], note: string): void {
    const told = (reads: Reads, seq: number): boolean =>
      reads.receipts(seq).some((receipt) => receipt.agent === agent && receipt.note === note);
    const fresh = messages.filter(({ seq }) => !told(this.store, seq));
    if (fresh.length === 0) return;
    const changes = new Changes();
    this.noteLater(changes, (tx) => {
      for (const message of fresh) {
        const delivery = tx.delivery(message.seq, agent);
        if (delivery?.phase !== DeliveryPhase.unread || !isWaiting(delivery.step)) continue;
        if (told(tx, message.seq)) continue;
        tx.moveDelivery(message.seq, agent, DeliveryPhase.unread, 'held', this.clock.now());
        this.record(tx, changes, message, agent, { step: 'held', note });
      }
    });
  }

  /** The whole text of these was in an answer that was handed over. */
  noteShown(agent: number, seqs: readonly number[], route: Route): void {
    const pending = this.shownPending.get(agent) ?? new Set();
    const fresh = seqs.filter((seq) => !pending.has(seq));
    if (fresh.length === 0) return;
    for (const seq of fresh) pending.add(seq);
    this.shownPending.set(agent, pending);
    this.raiseFloor(agent, pending, fresh.length);
    const changes = new Changes();
    this.noteLater(
      changes,
      (tx) => {
        for (const seq of fresh) {
          const message = tx.message(seq);
          const delivery = tx.delivery(seq, agent);
          if (!message || !delivery || delivery.phase !== DeliveryPhase.unread) continue;
          if (!isWaiting(delivery.step) && delivery.step !== 'offered') {
            // It was taken back to unread: seen before, so that there is nothing new to tell.
            tx.turnDelivery(seq, agent, this.phaseBefore(tx, delivery));
            continue;
          }
          if (isWaiting(delivery.step)) this.record(tx, changes, message, agent, { step: 'offered', route });
          tx.moveDelivery(seq, agent, DeliveryPhase.open, 'shown', this.clock.now());
          this.record(tx, changes, message, agent, { step: 'shown', route });
        }
      },
      (stored) => {
        for (const seq of fresh) pending.delete(seq);
        if (pending.size === 0 && this.shownPending.get(agent) === pending) this.shownPending.delete(agent);
        // They are unread again, and must be found.
        if (!stored) this.floors.delete(agent);
      },
    );
  }

  /** Back to unread, for a reader who wants to come back to it. False if it is no mail of this agent, or unread already. */
  async takeBack(agent: number, seq: number): Promise<boolean> {
    const done = await this.store.write((tx) => {
      const delivery = tx.delivery(seq, agent);
      if (!delivery || delivery.phase === DeliveryPhase.unread) return false;
      return tx.turnDelivery(seq, agent, DeliveryPhase.unread);
    }, 'after-notes');
    if (done) this.floors.delete(agent);
    return done;
  }

  /** Where a delivery stood before it was taken back to unread. */
  private phaseBefore(tx: Writes, delivery: DeliveryRecord): DeliveryPhase {
    if (delivery.step === 'shown') return DeliveryPhase.open;
    if (delivery.step !== 'acked') return DeliveryPhase.closed;
    const said = tx.receipts(delivery.seq).findLast(({ agent, step }) => agent === delivery.agent && step === 'acked');
    return said?.outcome === 'blocked' ? DeliveryPhase.open : DeliveryPhase.closed;
  }

  unreadFloor(agent: number): number {
    return this.floors.get(agent) ?? 0;
  }

  private raiseFloor(agent: number, pending: ReadonlySet<number>, most: number): void {
    const next = { agent, phases: [DeliveryPhase.unread], after: this.unreadFloor(agent), limit: most };
    for (const { seq } of this.store.inbox(next)) {
      if (!pending.has(seq)) return;
      this.floors.set(agent, seq);
    }
  }

  isShownPending(agent: number, seq: number): boolean {
    return this.shownPending.get(agent)?.has(seq) ?? false;
  }

  pendingCount(agent: number): number {
    return this.shownPending.get(agent)?.size ?? 0;
  }

  /** The caller has dealt with these. All or none: an id that is not the caller's own mail refuses the whole call. */
  async ack(
    caller: Caller,
    ids: readonly string[],
    outcome: AckOutcome,
    note: string | undefined,
  ): Promise<AckResult[]> {
    const seqs = ids.map((id) => ({ id, seq: messageId.parse(id) }));
    const changes = new Changes();
    const results = await this.store.write((tx) => {
      changes.clear();
      const own = seqs.map(({ id, seq }) => {
        const delivery = seq === undefined ? undefined : tx.delivery(seq, caller.agent);
        const message = delivery && tx.message(delivery.seq);
        if (!delivery || !message) throw unknownMessage(id);
        return { id, delivery, message };
      });
      return own.map(({ id, delivery, message }): AckResult => {
        if (delivery.phase === DeliveryPhase.closed) return { id, state: 'unchanged', was: delivery.step };
        // "Blocked" is news for the sender, not the end: the message stays open until it is done, answered or over.
        const phase = outcome === 'blocked' ? DeliveryPhase.open : DeliveryPhase.closed;
        tx.moveDelivery(message.seq, caller.agent, phase, 'acked', this.clock.now());
        this.record(tx, changes, message, caller.agent, { step: 'acked', outcome, note: note ?? null });
        if (message.kind === 'request' && outcome !== 'blocked')
          this.endIfAllDeclined(tx, changes, message, outcome, note);
        return { id, state: outcome };
      });
    }, 'after-notes');
    this.publish(changes);
    return results;
  }

  /** A request fails when its last recipient rejects it; "done" without a reply from the last one ends it as answered. */
  private endIfAllDeclined(
    tx: Writes,
    changes: Changes,
    message: MessageRecord,
    outcome: AckOutcome,
    note?: string,
  ): void {
    if (tx.deliveries(message.seq).some((delivery) => delivery.phase !== DeliveryPhase.closed)) return;
    const state = outcome === 'done' ? 'answered' : 'failed';
    this.end(tx, changes, message.seq, { state, resultSeq: null, at: this.clock.now(), note: note ?? null });
  }

  /** Ends a request that the caller sent. */
  async cancel(caller: Caller, seq: number): Promise<boolean> {
    const changes = new Changes();
    const done = await this.store.write((tx) => {
      changes.clear();
      const message = tx.message(seq);
      if (message?.sender !== caller.agent || message.kind !== 'request') throw unknownMessage(messageId.format(seq));
      if (!this.end(tx, changes, seq, { state: 'cancelled', resultSeq: null, at: this.clock.now(), note: null }))
        return false;
      this.closeAll(tx, changes, message, 'cancelled');
      return true;
    });
    this.publish(changes);
    return done;
  }

  /** Ends what is over. Returns when the next one is due. */
  async expireDue(): Promise<number | undefined> {
    const now = this.clock.now();
    const due = this.store.expiring(now, 500);
    if (due.length > 0) {
      const changes = new Changes();
      await this.store.write((tx) => {
        changes.clear();
        for (const { seq, at } of due) {
          tx.deleteExpiry(at, seq);
          const message = tx.message(seq);
          if (!message) continue;
          this.end(tx, changes, seq, { state: 'expired', resultSeq: null, at: now, note: null });
          this.closeAll(tx, changes, message, 'expired');
        }
      }, 'after-notes');
      this.publish(changes);
    }
    return this.store.nextExpiry();
  }

  /** The agent is gone: whatever it had not finished is closed, and requests that only it could answer fail. */
  async giveUp(agent: number): Promise<void> {
    for (;;) {
      const changes = new Changes();
      const more = await this.store.write((tx) => {
        changes.clear();
        const open = tx.inbox({ agent, phases: [DeliveryPhase.unread, DeliveryPhase.open], limit: 500 });
        for (const message of open) this.fail(tx, changes, message, agent, 'the agent left the bus');
        return open.length > 0;
      }, 'after-notes');
      this.publish(changes);
      if (!more) return;
    }
  }

  /**
   * Another system has taken it and tells no more about it, so that it is never offered again. Resolves when that is on
   * disk; false if it had been shown or had ended before.
   */
  async noteTaken(agent: number, message: MessageRecord, route: Route, note: string | null): Promise<boolean> {
    const changes = new Changes();
    const done = await this.store.write((tx) => {
      changes.clear();
      if (tx.delivery(message.seq, agent)?.phase !== DeliveryPhase.unread) return false;
      tx.moveDelivery(message.seq, agent, DeliveryPhase.open, 'offered', this.clock.now());
      this.record(tx, changes, message, agent, { step: 'offered', route, note });
      return true;
    }, 'after-notes');
    this.publish(changes);
    return done;
  }

  /** It can't be delivered, for this reason; a request that nobody else can answer fails. False if it had ended before. */
  async noteUndeliverable(agent: number, message: MessageRecord, reason: string): Promise<boolean> {
    const changes = new Changes();
    const done = await this.store.write((tx) => {
      changes.clear();
      return this.fail(tx, changes, message, agent, reason);
    }, 'after-notes');
    this.publish(changes);
    return done;
  }

  private fail(tx: Writes, changes: Changes, message: MessageRecord, agent: number, reason: string): boolean {
    if (!tx.moveDelivery(message.seq, agent, DeliveryPhase.closed, 'undeliverable', this.clock.now())) return false;
    this.record(tx, changes, message, agent, { step: 'undeliverable', note: reason });
    if (message.kind === 'request') this.endIfAllDeclined(tx, changes, message, 'rejected', reason);
    return true;
  }

  private closeAll(tx: Writes, changes: Changes, message: MessageRecord, step: 'expired' | 'cancelled'): void {
    for (const delivery of tx.deliveries(message.seq)) {
      if (delivery.phase === DeliveryPhase.closed) continue;
      tx.moveDelivery(message.seq, delivery.agent, DeliveryPhase.closed, step, this.clock.now());
      this.record(tx, changes, message, delivery.agent, { step });
    }
  }

  private noteLater(
    changes: Changes,
    work: (tx: Writes) => void,
    done: (stored: boolean) => void = () => undefined,
  ): void {
    this.store.later(
      (tx) => {
        changes.clear();
        work(tx);
      },
      (stored) => {
        done(stored);
        if (stored) this.publish(changes);
      },
    );
  }
}

export interface AckResult {
  id: string;
  state: AckOutcome | 'unchanged';
  /** How it had ended before. */
  was?: string;
}

/** The same words for a foreign id, a missing one and a malformed one. */
export function unknownMessage(id: string): BusError {
  return new BusError('unknown-message', `You have no message "${id.slice(0, 40)}".`, {
    next: 'Use an id from inbox, conversation or send, such as "m1f".',
  });
}
