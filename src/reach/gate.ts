import type { Bus } from '../core/bus.ts';
import { BusError } from '../core/errors.ts';
import type { AgentRecord, MessageRecord } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import type { AskParams, Verdict } from '../protocol/reachMessages.ts';
import { pairKey, type Consents, type Pair } from './consents.ts';
import type { CarryingWindow } from './carrier.ts';

const chainStopped = 'the person stopped this chain of messages';
const refused = 'the person does not let agents of that workspace wake this one';
const consentWanted = 'waits for the person’s consent';
const decisionWanted = 'the person decides whether it goes on';

/** Whether a message that is held for this reason waits for the person's word, and not for something else. */
export function isForPerson(note: string): boolean {
  return note === consentWanted || note.endsWith(decisionWanted);
}

interface GateParts {
  bus: Bus;
  store: Store;
  consents: Consents;
  wakeHops: number;
  /** Something was decided that may let messages to this agent through; to anybody, if none is named. */
  onDecided: (agent?: number) => void;
}

/**
 * What may wake an agent. Two things need the person's word: agents of one workspace waking those of another, and a
 * chain of messages that has grown long. A question is open once at a time, and closing it unanswered is no answer:
 * then the messages are held until the person releases them, or the hub starts anew.
 */
export class Gate {
  private readonly parts: GateParts;
  private readonly open = new Set<string>();
  private readonly dismissed = new Set<string>();

  constructor(parts: GateParts) {
    this.parts = parts;
  }

  /** Those that may go now. For the others it tells why they wait, and asks where the person is. */
  admit(
    recipient: AgentRecord,
    window: CarryingWindow | undefined,
    messages: readonly MessageRecord[],
  ): MessageRecord[] {
    const { bus, consents } = this.parts;
    const admitted: MessageRecord[] = [];
    const toAsk = new Map<string, { pair: Pair; messages: MessageRecord[] }>();
    const tooLong: MessageRecord[] = [];
    for (const message of messages) {
      const pair = this.isReleased(recipient.id, message) ? undefined : this.pairOf(recipient, message);
      const verdict = pair && consents.verdict(pair);
      if (pair && verdict === 'never') {
        bus.receipts.noteHeld(recipient.id, [message], refused);
      } else if (pair && verdict === undefined) {
        const asked = toAsk.get(pairKey(pair)) ?? { pair, messages: [] };
        asked.messages.push(message);
        toAsk.set(pairKey(pair), asked);
      } else if (this.isTooLong(recipient.id, message)) tooLong.push(message);
      else admitted.push(message);
    }
    for (const { pair, messages: held } of toAsk.values()) this.askConsent(recipient, window, pair, held);
    if (tooLong.length > 0) this.askHops(recipient, window, tooLong);
    return admitted;
  }

  /** Why `admit` would not let it go now; nobody is asked and nothing is told. */
  heldWhy(recipient: AgentRecord, message: MessageRecord): string | undefined {
    if (this.isReleased(recipient.id, message)) return undefined;
    const pair = this.pairOf(recipient, message);
    const verdict = pair && this.parts.consents.verdict(pair);
    if (pair && verdict !== 'always') return verdict === 'never' ? refused : consentWanted;
    return this.isTooLong(recipient.id, message) ? this.tooLong : undefined;
  }

  /** Whether the end of a turn may be held up for it, which nobody is asked about. */
  mayPress(recipient: AgentRecord, message: MessageRecord): boolean {
    if (this.isReleased(recipient.id, message)) return true;
    const pair = this.pairOf(recipient, message);
    return !(pair && this.parts.consents.verdict(pair) === 'never') && !this.isTooLong(recipient.id, message);
  }

  /** The hop count from which a turn that this message causes goes on counting. */
  hopFor(recipient: number, message: MessageRecord): number {
    return this.isReleased(recipient, message) ? 0 : message.hop;
  }

  /** The person's word on one message, for each of its recipients who has not seen it. */
  async release(message: MessageRecord, recipients: readonly AgentRecord[], verdict: Verdict): Promise<void> {
    const { bus, consents } = this.parts;
    const pairs = recipients.flatMap((recipient) => this.pairOf(recipient, message) ?? []);
    for (const pair of pairs) {
      this.dismissed.delete(consentKey(pair));
      if (verdict !== 'once') await consents.settle(pair, verdict);
    }
    if (verdict === 'never') {
      // Without a pair to settle it is this chain that the person stops.
      if (pairs.length === 0) for (const { id } of recipients) bus.receipts.noteHeld(id, [message], chainStopped);
    } else {
      for (const recipient of recipients) await this.markReleased(recipient.id, [message]);
    }
    this.parts.onDecided();
  }

  private askConsent(
    recipient: AgentRecord,
    window: CarryingWindow | undefined,
    pair: Pair,
    held: MessageRecord[],
  ): void {
    this.parts.bus.receipts.noteHeld(recipient.id, held, consentWanted);
    void this.ask(consentKey(pair), window, { ...this.question(recipient, held), kind: 'consent' }, async (verdict) => {
      if (verdict === 'once') await this.markReleased(recipient.id, this.stillHeld(recipient, pair));
      else await this.parts.consents.settle(pair, verdict);
      this.parts.onDecided(verdict === 'once' ? recipient.id : undefined);
    });
  }

  private askHops(recipient: AgentRecord, window: CarryingWindow | undefined, held: MessageRecord[]): void {
    const { bus } = this.parts;
    bus.receipts.noteHeld(recipient.id, held, this.tooLong);
    const asked = held.filter((message) => !this.wasStopped(recipient.id, message));
    const first = asked[0];
    if (!first) return;
    const hops = Math.max(...asked.map(({ hop }) => hop));
    const question: AskParams = { ...this.question(recipient, asked), kind: 'hops', hops };
    void this.ask(`hops ${recipient.id} ${first.seq}`, window, question, async (verdict) => {
      if (verdict === 'never') bus.receipts.noteHeld(recipient.id, asked, chainStopped);
      else await this.markReleased(recipient.id, asked);
      this.parts.onDecided(recipient.id);
    });
  }

  private get tooLong(): string {
    return `held after ${this.parts.wakeHops} messages in a chain: ${decisionWanted}`;
  }

  private async ask(
    key: string,
    window: CarryingWindow | undefined,
    question: AskParams,
    decide: (verdict: Verdict) => Promise<void>,
  ): Promise<void> {
    // Without a window it waits for one, or for the person's word by the command line.
    if (!window || this.open.has(key) || this.dismissed.has(key)) return;
    this.open.add(key);
    try {
      const { verdict } = await window.ask(question);
      if (verdict === 'dismissed') this.dismissed.add(key);
      else await decide(verdict);
    } catch (error) {
      // A window that went away is asked again when it is back; one that can't ask is not asked again and again.
      if (!(error instanceof BusError && error.code === 'hub-unavailable')) this.dismissed.add(key);
    } finally {
      this.open.delete(key);
    }
  }

  private question(
    recipient: AgentRecord,
    held: MessageRecord[],
  ): Omit<Extract<AskParams, { kind: 'consent' }>, 'kind'> {
    const { bus } = this.parts;
    const first = held[0] as MessageRecord;
    const { id, from, line } = bus.reading.reminder(first);
    const sender = bus.views.agent(bus.roster.get(first.sender));
    const reader = bus.views.agent(recipient);
    return {
      from: { agent: from, ...(sender.workspace && { workspace: sender.workspace }) },
      to: { agent: reader.name, ...(reader.workspace && { workspace: reader.workspace }) },
      message: { id, line },
      waiting: held.length,
    };
  }

  /** "Once" is for all that waits now: it becomes one turn. */
  private stillHeld(recipient: AgentRecord, pair: Pair): MessageRecord[] {
    return this.parts.store.wakeable(recipient.id, 100).filter((message) => {
      const own = this.pairOf(recipient, message);
      return own && pairKey(own) === pairKey(pair);
    });
  }

  private async markReleased(agent: number, messages: readonly MessageRecord[]): Promise<void> {
    await this.parts.store.write((tx) => {
      for (const { seq } of messages) tx.markDelivery(seq, agent, 'released');
    });
  }

  private pairOf(recipient: AgentRecord, message: MessageRecord): Pair | undefined {
    // Who has asked has agreed to be answered.
    if (this.isAnswer(recipient.id, message)) return undefined;
    return this.parts.consents.pairOf(this.parts.bus.roster.get(message.sender), recipient);
  }

  private isAnswer(recipient: number, { kind, seq }: MessageRecord): boolean {
    const { store } = this.parts;
    const asked = kind === 'reply' ? store.answeredBy(seq) : undefined;
    return asked !== undefined && store.message(asked.seq)?.sender === recipient;
  }

  private isReleased(agent: number, message: MessageRecord): boolean {
    return this.parts.store.delivery(message.seq, agent)?.released === true;
  }

  private isTooLong(agent: number, message: MessageRecord): boolean {
    return message.hop >= this.parts.wakeHops && !this.isReleased(agent, message);
  }

  private wasStopped(agent: number, message: MessageRecord): boolean {
    return this.parts.store
      .receipts(message.seq)
      .some((receipt) => receipt.agent === agent && receipt.note === chainStopped);
  }
}

function consentKey(pair: Pair): string {
  return `consent ${pairKey(pair)}`;
}
