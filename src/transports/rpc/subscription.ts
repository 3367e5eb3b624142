import type { Bus } from '../../core/bus.ts';
import type { BusEvent } from '../../core/events.ts';
import type { Caller } from '../../core/model.ts';
import { conversationId, messageId } from '../../core/model.ts';
import type { Reads } from '../../core/ports.ts';
import type { EventNotification, HubEvent, SubscribeResult } from '../../protocol/messages.ts';

/** So much is replayed to a client that comes back; after more than that it has to read again. */
const replayLimit = 5_000;

/**
 * The events that one client may see, from a cursor on. A cursor is where the client stands in the messages and in the
 * receipts of one history; both only grow, so coming back with it misses nothing and repeats nothing.
 */
export class Subscription {
  private readonly bus: Bus;
  private readonly reads: Reads;
  private readonly caller: Caller;
  private readonly emit: (note: EventNotification) => void;
  private readonly stop: () => void;
  private readonly epoch: string;
  private seq: number;
  private receipt: number;

  constructor(bus: Bus, reads: Reads, caller: Caller, emit: (note: EventNotification) => void) {
    this.bus = bus;
    this.reads = reads;
    this.caller = caller;
    this.emit = emit;
    this.epoch = reads.epoch();
    this.seq = reads.lastSeq();
    this.receipt = reads.lastReceipt();
    this.stop = bus.feed.subscribe((event) => this.live(event));
  }

  close(): void {
    this.stop();
  }

  /** Sends what happened since. Runs in one go, so nothing can happen in between. */
  resume(cursor: string | undefined): SubscribeResult {
    const from = cursor === undefined ? undefined : parseCursor(cursor);
    const current = { seq: this.seq, receipt: this.receipt };
    if (cursor === undefined) return { cursor: this.cursor(), missed: false };
    if (!from || from.epoch !== this.epoch || from.seq > current.seq || from.receipt > current.receipt) {
      return { cursor: this.cursor(), missed: true };
    }
    const messages = this.reads.messagesAfter(from.seq, replayLimit + 1);
    const receipts = this.reads.receiptsAfter(from.receipt, replayLimit + 1);
    if (messages.length > replayLimit || receipts.length > replayLimit) return { cursor: this.cursor(), missed: true };
    this.seq = from.seq;
    this.receipt = from.receipt;
    for (const message of messages) {
      this.seq = message.seq;
      this.pass({ type: 'message', message, recipients: this.reads.recipients(message.seq) });
    }
    this.seq = current.seq;
    for (const receipt of receipts) {
      this.receipt = receipt.id;
      const message = this.reads.message(receipt.seq);
      if (message) this.pass({ type: 'receipt', receipt, sender: message.sender });
    }
    this.receipt = current.receipt;
    return { cursor: this.cursor(), missed: false };
  }

  private live(event: BusEvent): void {
    if (event.type === 'message') this.seq = event.message.seq;
    if (event.type === 'receipt') this.receipt = event.receipt.id;
    this.pass(event);
  }

  private pass(event: BusEvent): void {
    const seen = this.view(event);
    if (seen) this.emit({ cursor: this.cursor(), event: seen });
  }

  private view(event: BusEvent): HubEvent | undefined {
    const { bus, caller } = this;
    switch (event.type) {
      case 'message':
        if (!this.concerns(event.message.sender, event.recipients)) return undefined;
        return { type: 'message', message: bus.views.message(event.message, event.recipients) };
      case 'receipt':
        if (!this.concerns(event.sender, [event.receipt.agent])) return undefined;
        return {
          type: 'receipt',
          message: messageId.format(event.receipt.seq),
          receipt: bus.views.receipt(event.receipt),
        };
      case 'request': {
        const message = this.reads.message(event.seq);
        if (!message || !bus.visibility.maySee(caller, message)) return undefined;
        return { type: 'request', message: messageId.format(event.seq), state: event.state };
      }
      case 'presence':
        return { type: 'presence', agent: bus.views.agent(bus.roster.get(event.agent)) };
      case 'agents':
      case 'paused':
        return event;
      case 'task':
        return undefined;
      case 'unread':
        if (!bus.visibility.seesAll(caller)) return undefined;
        return {
          type: 'unread',
          message: messageId.format(event.seq),
          conversation: conversationId.format(event.conversation),
        };
    }
  }

  private concerns(sender: number, recipients: readonly number[]): boolean {
    const { caller } = this;
    return this.bus.visibility.seesAll(caller) || sender === caller.agent || recipients.includes(caller.agent);
  }

  private cursor(): string {
    return `${this.epoch}.${this.seq.toString(36)}.${this.receipt.toString(36)}`;
  }
}

function parseCursor(text: string): { epoch: string; seq: number; receipt: number } | undefined {
  const parts = /^([0-9a-f]{1,32})\.([0-9a-z]{1,10})\.([0-9a-z]{1,10})$/.exec(text);
  if (!parts) return undefined;
  return {
    epoch: parts[1] ?? '',
    seq: Number.parseInt(parts[2] ?? '', 36),
    receipt: Number.parseInt(parts[3] ?? '', 36),
  };
}
