import type { Bus } from '../../core/bus.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord, Caller, MessageRecord } from '../../core/model.ts';
import { DeliveryPhase, messageId } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import { assertText } from '../../core/text.ts';
import { mailTopic } from '../../core/waiting.ts';
import type { BrokerHost, Handover } from '../../transports/agentTool/brokerHost.ts';
import { lettersBytes } from '../../transports/agentTool/brokerReply.ts';
import { isChannel, MailNames, nameless } from './mailNames.ts';
import { mailText } from './mailText.ts';

const waitersAtMost = 100;
/** Messages read at once: few, since each may have a mebibyte. */
const batch = 16;
/** When this much is on its way to slow readers, a fetch gives one message at a time. */
const crowdedBytes = 16 * 1_048_576;
/** More than a mailbox can hold. */
const countAtMost = 1_000_000;

/** The mailboxes of agent-tool's broker: each is an agent, its mail is that agent's unread mail. */
export class Mailboxes implements BrokerHost {
  private readonly bus: Bus;
  private readonly store: Store;
  private readonly names: MailNames;
  /** Order numbers of what is on its way to a reader, by agent: given to nobody else meanwhile. */
  private readonly underWay = new Map<number, Set<number>>();
  private readonly waiters = new Map<number, number>();
  private bytesUnderWay = 0;

  constructor({ bus, store }: { bus: Bus; store: Store }) {
    this.bus = bus;
    this.store = store;
    this.names = new MailNames(bus, store);
  }

  status(): ReadonlyMap<string, number> {
    const mailboxes = new Map<string, number>();
    for (const [label, { id }] of this.names.all()) {
      const given = this.bus.receipts.pendingCount(id) + (this.underWay.get(id)?.size ?? 0);
      const left = Math.max(0, this.store.unreadCount(id, countAtMost) - given);
      if (left > 0 || this.waiters.has(id)) mailboxes.set(label, left);
    }
    return mailboxes;
  }

  async post(from: string, to: string, msg: string): Promise<void> {
    assertText(msg, 'msg');
    const label = from === '' ? nameless : from;
    await this.names.holding([label, to], async () => {
      if (isChannel(to)) this.bus.visibility.channel(to);
      const sender = await this.names.own(label);
      const caller: Caller = { agent: sender.id, via: 'broker' };
      this.bus.touch(sender.id);
      if (isChannel(to)) {
        await this.bus.channels.join(caller, to);
        await this.bus.send(caller, { to: [to], text: msg, kind: 'inform' }, 0, neverCancelled);
        return;
      }
      const recipient = await this.names.recipient(to);
      if (recipient.id === sender.id) throw toItself(to);
      const asked = this.askedBy(recipient, sender);
      await this.bus.send(
        caller,
        { to: [recipient.name], text: msg, ...(asked ? { kind: 'reply', replyTo: asked } : { kind: 'inform' }) },
        0,
        neverCancelled,
      );
    });
  }

  async fetch(mailbox: string): Promise<Handover> {
    const agent = this.names.find(mailbox);
    if (!agent) return nothing;
    this.bus.touch(agent.id);
    return this.take(agent, Infinity) ?? nothing;
  }

  wait(mailbox: string, seconds: number, signal: AbortSignal): Promise<Handover | undefined> {
    const deadline = performance.now() + seconds * 1000;
    return this.names.holding([mailbox], async () => {
      const agent = await this.names.own(mailbox);
      this.bus.touch(agent.id);
      return this.take(agent, 1) ?? (await this.nextMail(agent, mailbox, deadline, signal));
    });
  }

  private async nextMail(
    agent: AgentRecord,
    mailbox: string,
    deadline: number,
    signal: AbortSignal,
  ): Promise<Handover | undefined> {
    const leave = this.join(agent, mailbox);
    try {
      for (;;) {
        const left = deadline - performance.now();
        if (left <= 0) return undefined;
        const end = await this.bus.waiting.wait(mailTopic(agent.id), agent.id, left, signal);
        if (end === 'gone') throw new BusError('cancelled', 'the wait was given up', { next: 'wait again' });
        if (end === 'stopping') {
          throw new BusError('hub-stopping', 'broker stopped while waiting: the hub is restarting', {
            next: 'wait again',
          });
        }
        const mail = this.take(agent, 1);
        if (mail) return mail;
      }
    } finally {
      leave();
    }
  }

  private join(agent: AgentRecord, mailbox: string): () => void {
    const waiters = this.waiters.get(agent.id) ?? 0;
    if (waiters >= waitersAtMost) {
      throw new BusError(
        'too-many-waits',
        `too many waiters on mailbox ${JSON.stringify(mailbox)} (${waitersAtMost} max)`,
        { next: 'let one of them end first' },
      );
    }
    this.waiters.set(agent.id, waiters + 1);
    const done = this.bus.presence.waiting(agent.id);
    return () => {
      done();
      const left = (this.waiters.get(agent.id) ?? 1) - 1;
      if (left > 0) this.waiters.set(agent.id, left);
      else this.waiters.delete(agent.id);
    };
  }

  /** The oldest unread mail that is not on its way already, as much as one reply holds. */
  private take(agent: AgentRecord, most: number): Handover | undefined {
    const underWay = this.underWay.get(agent.id) ?? new Set();
    const messages: MessageRecord[] = [];
    const letters: string[] = [];
    const atMost = this.bytesUnderWay > crowdedBytes ? 1 : most;
    let bytes = 0;
    for (const message of this.unread(agent.id, underWay)) {
      const letter = mailText(this.store, message, this.names.addressOf(this.bus.roster.get(message.sender)));
      // A comma after each.
      bytes += letter.bytes + 1;
      if (letters.length > 0 && bytes > lettersBytes) break;
      messages.push(message);
      letters.push(letter.json);
      if (letters.length >= atMost) break;
    }
    return letters.length > 0 ? this.handover(agent, messages, letters) : undefined;
  }

  private handover(agent: AgentRecord, messages: readonly MessageRecord[], letters: readonly string[]): Handover {
    const seqs = messages.map(({ seq }) => seq);
    const bytes = letters.reduce((sum, letter) => sum + letter.length, 0);
    const underWay = this.underWay.get(agent.id) ?? new Set();
    for (const seq of seqs) underWay.add(seq);
    this.underWay.set(agent.id, underWay);
    this.bytesUnderWay += bytes;
    const settle = (): void => {
      this.bytesUnderWay -= bytes;
      for (const seq of seqs) underWay.delete(seq);
      if (underWay.size === 0 && this.underWay.get(agent.id) === underWay) this.underWay.delete(agent.id);
    };
    return {
      letters,
      written: () => this.bus.receipts.noteOffered(agent.id, messages, 'broker'),
      arrived: () => {
        this.bus.noteShown({ agent: agent.id, via: 'broker' }, seqs.map(messageId.format), 'broker');
        settle();
      },
      lost: () => {
        settle();
        // Somebody else may be waiting for it.
        this.bus.waiting.wake(mailTopic(agent.id));
      },
    };
  }

  private *unread(agent: number, except: ReadonlySet<number>): Iterable<MessageRecord> {
    let after = this.bus.receipts.unreadFloor(agent);
    for (;;) {
      const found = this.store.inbox({ agent, phases: [DeliveryPhase.unread], after, limit: batch });
      for (const message of found) {
        if (!except.has(message.seq) && !this.bus.receipts.isShownPending(agent, message.seq)) yield message;
        after = message.seq;
      }
      if (found.length < batch) return;
    }
  }

  /** The one request of the recipient's that the sender has seen and not answered; none if there are several. */
  private askedBy(recipient: AgentRecord, sender: AgentRecord): string | undefined {
    // What it was shown a moment ago counts.
    if (this.bus.receipts.pendingCount(sender.id) > 0) this.store.settleNotes();
    const shown = this.store.inbox({
      agent: sender.id,
      phases: [DeliveryPhase.open],
      sender: recipient.id,
      kind: 'request',
      limit: 100,
    });
    const pending = shown.filter(({ seq }) => this.store.request(seq)?.state === 'pending');
    return pending.length === 1 && pending[0] ? messageId.format(pending[0].seq) : undefined;
  }
}

const nothing: Handover = {
  letters: [],
  written: () => undefined,
  arrived: () => undefined,
  lost: () => undefined,
};

/** A post is not taken back by its sender's hanging up. */
const neverCancelled = { signal: new AbortController().signal };

function toItself(name: string): BusError {
  return new BusError('invalid-input', `${JSON.stringify(name)} is the sender itself`, {
    next: 'use different names in from and to',
  });
}
