import { Channels } from './channels.ts';
import type { Clock } from './clock.ts';
import { Couriers, isAddress, type RemoteDirectory, type RemoteTaskView } from './couriers.ts';
import { BusError } from './errors.ts';
import { EventFeed } from './events.ts';
import { limits, type Tunables } from './limits.ts';
import type { AgentRecord, Caller, MessageRecord, MessageView, ReceiptView, RequestState, Route } from './model.ts';
import { conversationId, DeliveryPhase, messageId } from './model.ts';
import { Notices } from './notices.ts';
import type { Outlook } from './outlook.ts';
import { Policy } from './policy.ts';
import { pingMs, round, timed, type PingResult } from './ping.ts';
import type { Store } from './ports.ts';
import { PresenceBoard } from './presence.ts';
import { Progress, type MessageStatus } from './progress.ts';
import { Reading, type InboxInput, type InboxPage } from './reading.ts';
import { isWaiting, Receipts } from './receipts.ts';
import { Roster } from './roster.ts';
import { Sending, type SendInput } from './sending.ts';
import { Story } from './story.ts';
import { Tells } from './tells.ts';
import { Unreached } from './unreached.ts';
import { Views, isoTime } from './views.ts';
import { Visibility } from './visibility.ts';
import { mailTopic, requestTopic, WaitingRoom, type WaitEnd } from './waiting.ts';

export interface SendResult {
  id: string;
  conversation: string;
  to: string[];
  kind: MessageRecord['kind'];
  /** What is known of the way to each recipient; at most ten are listed. */
  recipients: (Outlook & {
    agent: string;
    /** How far it got by now, for an agent that is no client of this bus. */
    step?: ReceiptView['step'];
    note?: string;
  })[];
  duplicate?: true;
  request?: RequestState;
  answer?: MessageView;
  /** What the bus itself says about a request that has ended without a reply. */
  notice?: MessageView;
  note?: string;
}

/** The signal is made when it is first read: most calls never wait, and one costs more than the rest of a short call. */
export interface Cancellable {
  readonly signal: AbortSignal;
}

export interface WaitingCall extends Cancellable {
  /** What an agent elsewhere says while the caller waits for its answer. */
  onTask?(task: RemoteTaskView): void;
}

/** The whole of the bus behind one door: wires the parts together and holds what spans several of them. */
export class Bus {
  readonly feed = new EventFeed();
  readonly waiting = new WaitingRoom();
  readonly presence: PresenceBoard;
  readonly roster: Roster;
  readonly views: Views;
  readonly visibility: Visibility;
  readonly receipts: Receipts;
  readonly reading: Reading;
  readonly story: Story;
  readonly notices: Notices;
  readonly tells: Tells;
  readonly unreached: Unreached;
  readonly channels: Channels;
  readonly couriers = new Couriers();
  /** Agents elsewhere; there from the start of the hub on. */
  remotes: RemoteDirectory | undefined;
  readonly progress: Progress;
  private readonly sending: Sending;
  private readonly store: Store;
  private readonly clock: Clock;
  /** Up to which order number each agent has had its news carried on other answers. */
  private readonly carried = new Map<number, number>();
  /** The newest message to each agent since this hub started. */
  private readonly newest = new Map<number, number>();
  /** Offered to an agent in vain. */
  private readonly recalled = new Map<number, Set<number>>();
  private readonly started: number;
  private readonly seenNoted = new Map<number, number>();
  /** The hop count of what an agent's current turn goes back to, where somebody knows. */
  turnHop: (agent: number) => number | undefined = () => undefined;
  /** What is on its way to an agent by a push of ours. */
  underWay: (agent: number) => ReadonlySet<number> = () => nobodys;
  /** Why an agent is not woken for a message that could wake it. */
  heldBack: (recipient: AgentRecord, message: MessageRecord) => string | undefined = () => undefined;
  /** An agent was shown these, just now. */
  onShown: (agent: number, seqs: readonly number[]) => void = () => undefined;

  constructor(store: Store, clock: Clock, tunables: Tunables) {
    this.store = store;
    this.clock = clock;
    this.started = clock.now();
    const { feed, waiting } = this;
    this.presence = new PresenceBoard(clock, (agent) => this.presenceChanged(agent));
    this.roster = new Roster(store, clock, feed);
    this.views = new Views(store, this.roster, this.presence, this.couriers);
    this.visibility = new Visibility(store, this.roster);
    this.notices = new Notices({ clock, roster: this.roster, views: this.views, couriers: this.couriers });
    const { roster, views, visibility, presence, notices } = this;
    this.receipts = new Receipts({ store, clock, feed, waiting, notices });
    const { receipts } = this;
    const policy = new Policy(tunables, clock);
    const turnHop = (agent: number): number | undefined => this.turnHop(agent);
    this.sending = new Sending({ store, clock, feed, roster, policy, receipts, waiting, visibility, turnHop });
    this.reading = new Reading({ store, roster, views, receipts, visibility });
    this.story = new Story({ store, roster, views, receipts, visibility, reading: this.reading, feed });
    const { couriers, reading } = this;
    const isTold = (agent: number, seq: number): boolean => this.tells.has(agent, 'ended', seq);
    this.progress = new Progress({ store, roster, views, visibility, reading, couriers, isTold });
    this.channels = new Channels({ store, clock, roster, visibility });
    const hopOf = (agent: number): number => this.sending.hopOf(agent, undefined);
    this.tells = new Tells({ store, clock, feed, roster, presence, notices, receipts, hopOf });
    this.unreached = new Unreached({ store, clock, roster, presence, views, notices, receipts });
    feed.subscribe((event) => {
      if (event.type === 'message') for (const id of event.recipients) this.newest.set(id, event.message.seq);
    });
  }

  async load(): Promise<void> {
    await this.roster.load();
    this.tells.load();
    // A hub that was killed may have taken an agent off the roster and nothing else.
    const phases = [DeliveryPhase.unread, DeliveryPhase.open];
    for (const { id: agent, removed } of this.store.agents()) {
      if (removed && this.store.inbox({ agent, phases, limit: 1 }).length > 0) await this.giveUp(agent);
    }
  }

  async send(caller: Caller, input: SendInput, waitSeconds: number, call: WaitingCall): Promise<SendResult> {
    const named = input.to?.some(isAddress) ? await this.withNames(caller, input, input.to) : input;
    const { message, recipients, duplicate, announce } = await this.sending.send(caller, named);
    const result: SendResult = {
      id: messageId.format(message.seq),
      conversation: conversationId.format(message.conversation),
      to: this.views.recipients(message, recipients),
      kind: message.kind,
      recipients: recipients.slice(0, 10).map((id) => this.outlook(this.roster.get(id), message)),
      ...(duplicate && { duplicate }),
    };
    announce();
    // Whoever comes through agent-tool's doors is told that it is stored, and nothing else.
    const isCurious = caller.via !== 'broker' && caller.via !== 'frames';
    if (!duplicate && isCurious) await this.carry(message, recipients, result);
    if (message.kind !== 'request') return result;
    const wait = { seq: message.seq, recipients, seconds: waitSeconds };
    const end = waitSeconds > 0 ? await this.requestEnd(caller, wait, call) : undefined;
    const state = this.store.request(message.seq);
    const answer = state?.resultSeq ? this.store.message(state.resultSeq) : undefined;
    const notice = answer ? undefined : this.notices.ofEnd(this.store, message.seq);
    return {
      ...result,
      request: state?.state ?? 'pending',
      ...(answer && { answer: this.views.message(answer) }),
      ...(notice && { notice: this.views.message(notice) }),
      ...(state?.note && { note: state.note }),
      ...(end === 'stopping' && { note: 'The hub is restarting; the request stays open. Ask again with status.' }),
    };
  }

  async inbox(
    caller: Caller,
    input: InboxInput,
    waitSeconds: number,
    call: Cancellable,
  ): Promise<InboxPage & { waited?: true }> {
    if (waitSeconds <= 0 || this.reading.hasNew(caller, input)) return this.reading.inbox(caller, input);
    const deadline = performance.now() + waitSeconds * 1000;
    const done = this.presence.waiting(caller.agent);
    try {
      for (;;) {
        const left = deadline - performance.now();
        const end: WaitEnd =
          left <= 0 ? 'timeout' : await this.waiting.wait(mailTopic(caller.agent), caller.agent, left, call.signal);
        if (end === 'gone') {
          throw new BusError('cancelled', 'The call was cancelled.', { next: 'Nothing was marked as read.' });
        }
        const page = this.reading.inbox(caller, input);
        if (end !== 'news') return page.messages.length > 0 ? page : { ...page, waited: true };
        // News may not be of the kind that was asked for: then wait on.
        if (input.filter === 'new' ? page.messages.length > 0 : this.reading.hasNew(caller, input)) return page;
      }
    } finally {
      done();
    }
  }

  status(caller: Caller, id: string): MessageStatus {
    return this.progress.status(caller, id);
  }

  async cancel(caller: Caller, id: string): Promise<MessageStatus> {
    const message = this.visibility.message(caller, id);
    if (!(await this.receipts.cancel(caller, message.seq))) {
      throw new BusError('already-ended', `The request ${id} had ended already.`, {
        next: 'Call status to see its result.',
      });
    }
    return this.status(caller, id);
  }

  /** Is that agent there, and how fast does it answer? An address is asked without giving anybody a name. */
  async ping(to: string, signal: AbortSignal): Promise<PingResult> {
    const started = performance.now();
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(pingMs)]);
    if (isAddress(to)) {
      const answer = await timed(() => this.couriers.at(to).probe(to, timeout));
      if (answer instanceof BusError) throw answer;
      return { address: to, rtt_ms: answer, hub_ms: round(performance.now() - started) };
    }
    const agent = this.roster.require(to);
    const carried = this.couriers.of(agent);
    const probes = carried ? [() => carried.courier.probe(carried.address, timeout)] : this.presence.probes(agent.id);
    const answer = probes.length > 0 ? await timed(() => Promise.any(probes.map((probe) => probe(timeout)))) : null;
    return {
      ...this.views.agent(agent),
      rtt_ms: typeof answer === 'number' ? answer : null,
      ...(answer instanceof BusError && { trouble: answer.message }),
      hub_ms: round(performance.now() - started),
    };
  }

  /** Unread mail that was not on any answer to this agent yet; each message is given out here once. */
  takeNews(agent: number, limit: number, route: Route): MessageRecord[] {
    for (;;) {
      const carried = this.carried.get(agent);
      // The usual case, on every answer: nothing has come since the last time, and no query is needed to know.
      if (carried !== undefined && carried >= (this.newest.get(agent) ?? 0)) return [];
      const unread = this.reading.news(agent, carried ?? 0, limit);
      const last = unread.at(-1)?.seq ?? this.store.lastSeq();
      this.carried.set(agent, last);
      // What an earlier hub has offered must not hide what came after it.
      const inOrder = unread.filter((message) => this.isNews(agent, message.seq));
      const urgent = unread.length < limit ? [] : this.urgentNews(agent, last);
      const news = urgentFirst([...inOrder, ...urgent]).slice(0, limit);
      // Those that had to make room are the next; what overtook them has been offered by then, and is not news again.
      const next = inOrder.find((message) => !news.includes(message));
      if (next) this.carried.set(agent, next.seq - 1);
      if (news.length === 0) continue;
      const recalled = this.recalled.get(agent);
      if (recalled) for (const { seq } of news) recalled.delete(seq);
      this.receipts.noteOffered(agent, news, route);
      if (next) this.store.settleNotes();
      return news;
    }
  }

  /** Of what is not its turn yet, that which does not wait for it. */
  private urgentNews(agent: number, after: number): MessageRecord[] {
    const later = this.reading.news(agent, after, lookAhead).filter(({ priority }) => priority === 'urgent');
    return later.filter(({ seq }) => this.isNews(agent, seq));
  }

  /** These were on their way to the agent and did not arrive: they are news again. */
  recallNews(agent: number, seqs: Iterable<number>): void {
    this.store.settleNotes();
    this.carried.delete(agent);
    this.recalled.set(agent, new Set([...(this.recalled.get(agent) ?? []), ...seqs]));
  }

  /** Not offered to the agent itself yet: what only the person has been told of is still news to it. */
  private isNews(agent: number, seq: number): boolean {
    if (this.underWay(agent).has(seq)) return false;
    const step = this.store.delivery(seq, agent)?.step;
    if (step === undefined || isWaiting(step)) return step !== undefined;
    if (step !== 'offered') return false;
    if (this.recalled.get(agent)?.has(seq)) return true;
    const last = this.store.receipts(seq).findLast((receipt) => receipt.agent === agent && receipt.step === 'offered');
    if (last?.route === 'input' || last?.route === 'notification') return true;
    // Whether a hook's output came to its reader was known to the hub that gave it out.
    return last?.route === 'hook' && last.at < this.started;
  }

  /** A transport has handed these over, whole. Ids that are not the caller's own mail are passed over. */
  noteShown(caller: Caller, ids: readonly string[], route: Route): void {
    const seqs = ids.map((id) => messageId.parse(id)).filter((seq) => seq !== undefined);
    const own = seqs.filter((seq) => this.store.delivery(seq, caller.agent)?.phase === 0);
    if (own.length === 0) return;
    this.receipts.noteShown(caller.agent, own, route);
    this.onShown(caller.agent, own);
  }

  /** Every call is a sign of life; it reaches the disk at most twice a minute. */
  touch(agent: number): void {
    this.presence.touch(agent);
    const now = this.clock.now();
    if (now - (this.seenNoted.get(agent) ?? 0) < 30_000) return;
    this.seenNoted.set(agent, now);
    this.roster.noteSeen(new Map([[agent, now]]));
  }

  /** Takes an agent off the bus: what still waited for it can't be delivered any more, and its senders learn so. */
  async remove(agent: AgentRecord): Promise<void> {
    await this.roster.remove(agent);
    await this.giveUp(agent.id);
  }

  private async giveUp(agent: number): Promise<void> {
    await this.receipts.giveUp(agent);
    await this.tells.gone(agent);
  }

  private presenceChanged(agent: number): void {
    const seen = this.presence.of(agent) === 'offline' ? this.presence.lastSeen(agent) : undefined;
    if (seen !== undefined) this.roster.noteSeen(new Map([[agent, seen]]));
    this.feed.publish({ type: 'presence', agent });
  }

  /** A request does, and the answer to one's own; anything else wakes nobody. */
  private wakes(recipient: number, { seq, kind }: MessageRecord): boolean {
    const asked = kind === 'reply' ? this.store.answeredBy(seq) : undefined;
    return kind === 'request' || (asked !== undefined && this.store.message(asked.seq)?.sender === recipient);
  }

  private async requestEnd(
    caller: Caller,
    { seq, recipients, seconds }: { seq: number; recipients: readonly number[]; seconds: number },
    call: WaitingCall,
  ): Promise<WaitEnd | undefined> {
    if (this.store.request(seq)?.state !== 'pending') return undefined;
    const done = this.presence.waiting(caller.agent);
    // Of agents on this bus there is nothing to hear meanwhile, and every listener costs with every event.
    const elsewhere = call.onTask && recipients.some((id) => this.couriers.of(this.roster.get(id)));
    const stop = elsewhere ? this.tellTasks(seq, call) : undefined;
    try {
      const ms = Math.min(seconds, limits.waitSeconds) * 1000;
      return await this.waiting.wait(requestTopic(seq), caller.agent, ms, call.signal);
    } finally {
      stop?.();
      done();
    }
  }

  private tellTasks(seq: number, call: WaitingCall): () => void {
    return this.feed.subscribe((event) => {
      if (event.type === 'task' && event.seq === seq) call.onTask?.(event.task);
    });
  }

  private async withNames(caller: Caller, input: SendInput, to: readonly string[]): Promise<SendInput> {
    const nameOf = async (one: string): Promise<string> =>
      isAddress(one) ? (await this.couriers.at(one).agentAt(one, caller)).name : one;
    return { ...input, to: await Promise.all(to.map(nameOf)) };
  }

  /** Waits for the first try with those whose mail somebody carries, and tells how it went. */
  private async carry(message: MessageRecord, recipients: readonly number[], result: SendResult): Promise<void> {
    const carried = recipients.slice(0, result.recipients.length).flatMap((id, at) => {
      const agent = this.roster.get(id);
      const courier = this.couriers.of(agent)?.courier;
      return courier ? [{ agent, courier, at }] : [];
    });
    if (carried.length === 0) return;
    await Promise.all(carried.map(({ courier, agent }) => courier.firstTry(message, agent)));
    this.store.settleNotes();
    for (const { agent, at } of carried) {
      const entry = result.recipients[at];
      const note = this.store.receipts(message.seq).findLast((receipt) => receipt.agent === agent.id)?.note;
      if (!entry) continue;
      entry.step = this.store.delivery(message.seq, agent.id)?.step ?? 'stored';
      if (note) entry.note = note;
    }
  }

  private outlook(agent: AgentRecord, message: MessageRecord): SendResult['recipients'][number] {
    const presence = this.presence.of(agent.id);
    const isCarried = presence === 'idle' && this.views.carried(agent.id) !== undefined;
    const wakes = this.wakes(agent.id, message);
    const held = wakes && isCarried ? this.heldBack(agent, message) : undefined;
    return {
      agent: agent.name,
      presence,
      reach: this.views.reach(agent, wakes && held === undefined),
      ...(held !== undefined && { held }),
      ...(presence === 'offline' && { last_seen: isoTime(this.presence.lastSeen(agent.id) ?? agent.lastSeen) }),
    };
  }
}

const nobodys: ReadonlySet<number> = new Set();
/** Unread messages in which urgent ones are looked for. */
const lookAhead = 200;

function urgentFirst(messages: readonly MessageRecord[]): MessageRecord[] {
  const isUrgent = ({ priority }: MessageRecord): boolean => priority === 'urgent';
  return [...messages.filter(isUrgent), ...messages.filter((message) => !isUrgent(message))];
}
