import type { Clock } from './clock.ts';
import { BusError } from './errors.ts';
import type { EventFeed } from './events.ts';
import { limits } from './limits.ts';
import type {
  AgentRecord,
  Caller,
  ConversationKind,
  ConversationRecord,
  MessageKind,
  MessageRecord,
  Priority,
} from './model.ts';
import { DeliveryPhase, messageId } from './model.ts';
import type { Policy } from './policy.ts';
import type { Store, Writes } from './ports.ts';
import { Changes, type Receipts } from './receipts.ts';
import type { Roster } from './roster.ts';
import { assertText } from './text.ts';
import type { Visibility } from './visibility.ts';
import { mailTopic, type WaitingRoom } from './waiting.ts';

export interface SendInput {
  to?: string[] | undefined;
  text: string;
  kind?: MessageKind | undefined;
  replyTo?: string | undefined;
  priority?: Priority | undefined;
  key?: string | undefined;
  options?: string[] | undefined;
  data?: unknown;
  files?: string[] | undefined;
  expiresSeconds?: number | undefined;
  /** For a reply that says that it could not be done: the request ends as failed, for this reason. */
  failure?: string | undefined;
}

export interface Sent {
  message: MessageRecord;
  recipients: number[];
  /** The same key had been used for this very message before: nothing new was stored. */
  duplicate: boolean;
  /** Tells everybody. For whoever wants to look at how things stood before. */
  announce: () => void;
}

type Stored = Omit<Sent, 'announce'>;

/** Where a message goes, before it is known whether that conversation exists. */
interface Target {
  kind: ConversationKind;
  key: string;
  members: number[];
  recipients: number[];
}

export class Sending {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly feed: EventFeed;
  private readonly roster: Roster;
  private readonly policy: Policy;
  private readonly receipts: Receipts;
  private readonly waiting: WaitingRoom;
  private readonly visibility: Visibility;
  private readonly turnHop: (agent: number) => number | undefined;
  private readonly conversationIds = new Map<string, number>();

  constructor(parts: {
    store: Store;
    clock: Clock;
    feed: EventFeed;
    roster: Roster;
    policy: Policy;
    receipts: Receipts;
    waiting: WaitingRoom;
    visibility: Visibility;
    turnHop: (agent: number) => number | undefined;
  }) {
    this.store = parts.store;
    this.clock = parts.clock;
    this.feed = parts.feed;
    this.roster = parts.roster;
    this.policy = parts.policy;
    this.receipts = parts.receipts;
    this.waiting = parts.waiting;
    this.visibility = parts.visibility;
    this.turnHop = parts.turnHop;
  }

  /** Resolves after the message is on disk, never before. */
  async send(caller: Caller, input: SendInput): Promise<Sent> {
    assertText(input.text, 'text');
    const data = input.data === undefined ? null : JSON.stringify(input.data);
    if (data !== null) assertText(data, 'data');
    for (const extra of [...(input.files ?? []), ...(input.options ?? [])])
      assertText(extra, 'list of files or options');
    const parent = input.replyTo === undefined ? undefined : this.visibility.message(caller, input.replyTo);
    if (parent?.sender === this.roster.bus.id) throw noticeAnswered(parent);
    const target = this.target(caller, input.to, parent);
    const sender = this.roster.get(caller.agent);
    const hop = sender.kind === 'person' ? 0 : this.hopOf(caller.agent, parent);
    this.policy.checkHops(hop);
    this.policy.spend(caller.agent);
    const now = this.clock.now();
    const draft: Omit<MessageRecord, 'seq' | 'conversation'> = {
      sender: caller.agent,
      kind: input.kind ?? (parent ? 'reply' : 'inform'),
      text: input.text,
      data,
      files: input.files ?? [],
      options: input.options ?? [],
      replyTo: parent?.seq ?? null,
      priority: input.priority ?? 'normal',
      key: input.key ?? null,
      hop,
      sentAt: now,
      expiresAt: input.expiresSeconds === undefined ? null : now + input.expiresSeconds * 1000,
    };
    const changes = new Changes();
    const stored = await this.store.write((tx) => {
      changes.clear();
      return this.insert(tx, changes, draft, target, parent, input.failure);
    }, parent && 'after-notes');
    if (this.conversationIds.size > 50_000) this.conversationIds.clear();
    this.conversationIds.set(target.key, stored.message.conversation);
    return { ...stored, announce: () => this.announce(stored, changes) };
  }

  /**
   * One more than what this message goes back to: the message that it answers, or those that caused the turn in which
   * it is written. So a loop can't start its count over by not saying what it answers.
   */
  hopOf(sender: number, parent: MessageRecord | undefined): number {
    // A chain that the person let go on counts from there.
    const answered = parent && (this.store.delivery(parent.seq, sender)?.released ? 0 : parent.hop);
    const cause = this.turnHop(sender);
    return Math.max(answered ?? -1, cause ?? -1) + 1;
  }

  private announce({ message, recipients, duplicate }: Stored, changes: Changes): void {
    if (duplicate) return;
    this.feed.publish({ type: 'message', message, recipients });
    this.receipts.publish(changes);
    for (const recipient of recipients) this.waiting.wake(mailTopic(recipient));
  }

  private insert(
    tx: Writes,
    changes: Changes,
    draft: Omit<MessageRecord, 'seq' | 'conversation'>,
    target: Target,
    parent: MessageRecord | undefined,
    failure: string | undefined,
  ): Stored {
    const conversation = this.conversationFor(tx, target, draft.sentAt);
    const record = { ...draft, conversation };
    const seq = tx.insertMessage(record);
    if (seq === undefined) return this.earlier(tx, record);
    for (const id of target.recipients) {
      this.policy.checkMailbox(id, this.roster.get(id).name, (cap) => tx.unreadCount(id, cap));
    }
    const message: MessageRecord = { seq, ...record };
    for (const id of target.recipients) tx.insertDelivery(message, id);
    if (message.kind === 'request') tx.insertRequest(message.seq);
    if (message.kind === 'reply' && parent) this.closeAnswered(tx, changes, message, parent, failure);
    return { message, recipients: target.recipients, duplicate: false };
  }

  /** The message for which the key was used before, if it is the same. */
  private earlier(tx: Writes, wanted: Omit<MessageRecord, 'seq'>): Stored {
    const earlier = tx.messageByKey(wanted.sender, wanted.key ?? '');
    if (!earlier)
      throw new BusError('internal', 'A key is taken by no message.', { next: 'Look at `agent-bus logs`.' });
    const same =
      earlier.conversation === wanted.conversation && earlier.text === wanted.text && earlier.kind === wanted.kind;
    if (!same) throw keyConflict(earlier);
    return { message: earlier, recipients: tx.recipients(earlier.seq), duplicate: true };
  }

  /** A reply closes what it answers: for the one who replies, and as the result of the request. */
  private closeAnswered(
    tx: Writes,
    changes: Changes,
    reply: MessageRecord,
    parent: MessageRecord,
    failure: string | undefined,
  ): void {
    const delivery = tx.delivery(parent.seq, reply.sender);
    if (!delivery) return;
    if (delivery.phase !== DeliveryPhase.closed) {
      tx.moveDelivery(parent.seq, reply.sender, DeliveryPhase.closed, 'replied', reply.sentAt);
      this.receipts.record(tx, changes, parent, reply.sender, { step: 'replied', note: messageId.format(reply.seq) });
    }
    if (parent.kind === 'request') {
      this.receipts.end(tx, changes, parent.seq, {
        state: failure === undefined ? 'answered' : 'failed',
        resultSeq: reply.seq,
        at: reply.sentAt,
        note: failure?.slice(0, limits.noteLength) ?? null,
      });
    }
    const first = this.askedFirst(tx, reply.sender, parent);
    if (first) this.closeAnswered(tx, changes, reply, first, failure);
  }

  /** Whoever asked back and now replies to the answer, replies to the request that it had asked back about. */
  private askedFirst(tx: Writes, sender: number, answer: MessageRecord): MessageRecord | undefined {
    const question = answer.kind === 'reply' && answer.replyTo !== null ? tx.message(answer.replyTo) : undefined;
    if (question?.kind !== 'request' || question.sender !== sender || question.replyTo === null) return undefined;
    return tx.message(question.replyTo);
  }

  private conversationFor(tx: Writes, target: Target, now: number): number {
    const known = this.conversationIds.get(target.key) ?? tx.conversationByKey(target.key)?.id;
    if (known !== undefined) return known;
    const id = tx.insertConversation(target.kind, target.key, '', now);
    for (const member of target.members) tx.insertMember(id, member, now);
    return id;
  }

  private target(caller: Caller, to: string[] | undefined, parent: MessageRecord | undefined): Target {
    if (!to || to.length === 0) {
      if (!parent) throw noRecipient();
      return this.replyTarget(caller, parent);
    }
    const channel = to.find((name) => name.startsWith('#'));
    if (channel !== undefined) {
      if (to.length > 1) {
        throw new BusError('invalid-input', 'A message goes to one channel, or to agents, not to both.', {
          next: 'Send it once to the channel and once to the agents.',
        });
      }
      return this.channelTarget(caller, this.visibility.channel(channel));
    }
    const recipients = [...new Set(to.map((name) => this.roster.require(name).id))].filter((id) => id !== caller.agent);
    return directTarget(caller.agent, recipients);
  }

  private replyTarget(caller: Caller, parent: MessageRecord): Target {
    const conversation = this.store.conversation(parent.conversation);
    if (conversation?.kind === 'channel') return this.channelTarget(caller, conversation);
    // Into the same conversation: to everybody in it, as far as they are still here.
    const others = this.store.members(parent.conversation).filter((id) => id !== caller.agent);
    const present = others.filter((id) => !this.roster.get(id).removed);
    const gone: AgentRecord | undefined =
      others.length > 0 && present.length === 0 ? this.roster.get(others[0] ?? 0) : undefined;
    if (gone) this.roster.require(gone.name);
    return directTarget(
      caller.agent,
      caller.agent === this.roster.person.id && present.length === 0 ? [parent.sender] : present,
    );
  }

  private channelTarget(caller: Caller, channel: ConversationRecord): Target {
    const members = this.store.members(channel.id);
    if (!members.includes(caller.agent) && caller.agent !== this.roster.person.id) {
      throw new BusError('not-a-member', `You are not in #${channel.key.slice(1)}.`, {
        next: `Call channel with action "join" and name "${channel.key.slice(1)}" first.`,
      });
    }
    return { kind: 'channel', key: channel.key, members, recipients: members.filter((id) => id !== caller.agent) };
  }
}

function directTarget(sender: number, recipients: number[]): Target {
  if (recipients.length === 0) throw noRecipient();
  if (recipients.length > limits.recipients) {
    throw new BusError('invalid-input', `A message has at most ${limits.recipients} recipients.`, {
      next: 'Create a channel and let them join it.',
    });
  }
  const members = [sender, ...recipients].sort((a, b) => a - b);
  return { kind: recipients.length === 1 ? 'direct' : 'group', key: members.join(' '), members, recipients };
}

function noticeAnswered({ seq, replyTo }: MessageRecord): BusError {
  const about = replyTo === null ? '' : `, or reply_to "${messageId.format(replyTo)}", which it is about`;
  return new BusError(
    'invalid-input',
    `${messageId.format(seq)} is a notice of the bus itself: nobody reads an answer.`,
    {
      next: `Send a new message to whom you mean${about}.`,
    },
  );
}

function noRecipient(): BusError {
  return new BusError('invalid-input', 'The message has no recipient other than yourself.', {
    next: 'Name an agent, "person" or a "#channel" in `to`, or the message you answer in `reply_to`.',
  });
}

function keyConflict(earlier: MessageRecord): BusError {
  return new BusError(
    'key-conflict',
    `The key was used before, for another message (${messageId.format(earlier.seq)}).`,
    {
      next: 'Nothing was sent. Use a new key for a new message; the same key only to repeat the same one.',
    },
  );
}
