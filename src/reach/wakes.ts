import { BusError } from '../core/errors.ts';
import type { Bus } from '../core/bus.ts';
import type { ChatRecord, MessageRecord, MessageView } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import type { Rung, WakeResult } from '../protocol/reachMessages.ts';
import type { Carrier } from './carrier.ts';
import type { ChatBook } from './chatBook.ts';
import { Flight, Flights } from './flights.ts';
import type { Gate } from './gate.ts';
import type { Ladder, Target } from './ladder.ts';
import type { Pause } from './pause.ts';
import { Setbacks } from './setbacks.ts';

export interface WakesParts {
  bus: Bus;
  store: Store;
  chats: ChatBook;
  ladder: Ladder;
  gate: Gate;
  pause: Pause;
  /** What the submitted turn says, and which messages are whole in it. */
  prompt: Prompt;
  /** …and where it only points to them. */
  line: Prompt;
  newToken: () => string;
  /** Messages in one turn. */
  atOnce: number;
  /** How long a submitted turn has to show up. */
  proofMs: number;
  now: () => number;
  onError: (error: unknown) => void;
}

type Prompt = (
  reader: string,
  messages: MessageView[],
  token: string,
  more: number,
) => { text: string; whole: string[] };

const debounceMs = 150;
const sweepMs = 30_000;
/** A window may answer only when the turn has ended. */
const answerMs = 600_000;
/** Those who carry a session may be about to come back: the person is told only after this. */
const beforePersonMs = 20_000;

const none: ReadonlySet<number> = new Set();

/**
 * Submits turns to idle agents for requests that wait for them, for answers to what they have asked, and for notices
 * about that. Whatever event makes it look, it looks at everything anew right before: a wake goes out only if nothing is
 * paused, the person agrees, nobody reads the message already, and the chat is known to be idle. One is under way per
 * carrier and per agent at a time. Of an agent's ways the best is taken; the next one has its turn when that has come to
 * nothing.
 */
export class Wakes {
  private readonly parts: WakesParts;
  private readonly flights = new Flights();
  private readonly setbacks = new Setbacks();
  private readonly began = performance.now();
  private readonly soon = new Map<number, NodeJS.Timeout>();
  private readonly sweeper: NodeJS.Timeout;
  private readonly unsubscribe: () => void;
  private closed = false;

  constructor(parts: WakesParts) {
    this.parts = parts;
    this.sweeper = setInterval(() => this.sweep(), sweepMs).unref();
    this.unsubscribe = parts.bus.feed.subscribe((event) => {
      if (event.type !== 'message') return;
      const isNotice = event.message.sender === parts.bus.roster.bus.id;
      if (isNotice || event.message.kind !== 'inform') event.recipients.forEach((id) => this.nudge(id));
    });
  }

  close(): void {
    this.closed = true;
    this.unsubscribe();
    clearInterval(this.sweeper);
    for (const timer of this.soon.values()) clearTimeout(timer);
    this.flights.close();
  }

  /** Something may be there for this agent: looks in a moment, so that a burst becomes one turn. */
  nudge(agent: number): void {
    if (this.closed || this.soon.has(agent) || this.parts.ladder.targets(agent).length === 0) return;
    const timer = setTimeout(() => {
      this.soon.delete(agent);
      this.consider(agent);
    }, debounceMs).unref();
    this.soon.set(agent, timer);
  }

  /** Looks at everything again: all agents, or those of one carrier. */
  sweep(carrier?: Carrier): void {
    if (this.closed) return;
    for (const agent of this.parts.ladder.reachedBy(carrier)) this.consider(agent);
  }

  /** A window has come (again): what failed before may work now, and its turns under way are over if it started anew. */
  arrived(window: Carrier): void {
    for (const agent of this.parts.ladder.reachedBy(window)) {
      const flight = this.flights.of(agent);
      if (flight && !flight.target.terminal && flight.target.carrier.id !== window.id) this.finish(flight);
      const waiting = this.parts.store.wakeable(agent, 100);
      this.setbacks.forget(
        agent,
        waiting.map(({ seq }) => seq),
      );
    }
    this.sweep(window);
  }

  /** Somebody who carries a session has come. What was tried is not forgotten: some come anew with every turn. */
  sessionArrived(carrier: Carrier): void {
    for (const agent of this.parts.ladder.reachedBy(carrier)) {
      this.setbacks.wake(agent);
      this.nudge(agent);
    }
  }

  /** It was busy when somebody tried to reach it, and is not any more. */
  rested(agent: number): void {
    this.setbacks.wake(agent);
  }

  /** The person wants it delivered: as if it had not been tried. */
  retry(agent: number, seq: number): void {
    this.setbacks.forget(agent, [seq]);
  }

  /** What is on its way to the agent in a submitted turn. */
  underWay(agent: number): ReadonlySet<number> {
    return this.flights.of(agent)?.seqs ?? none;
  }

  /**
   * A turn whose prompt holds this token has begun in that chat, so the model sees what the wake carried.
   * @returns the hop count of what caused the turn; undefined for a token that was not given out for this chat.
   */
  async prove(token: string, chat: ChatRecord): Promise<number | undefined> {
    const flight = this.flights.byToken(token);
    if (!flight) return undefined;
    const { target, messages } = flight;
    const forWindow = !target.chat && target.carrier.id === chat.window;
    if (target.agent !== chat.agent && !forWindow) return undefined;
    const hop = Math.max(...messages.map((message) => this.parts.gate.hopFor(target.agent, message)));
    if (flight.proven) return hop;
    flight.proven = true;
    this.setbacks.wake(target.agent);
    // A line is proof of the turn, not of the text: the hook that reports it takes the messages along.
    if (target.isLine) {
      this.setbacks.spend(target, flight.seqs);
      // The turn may begin before its carrier has said that it took the line.
      if (flight.rung === undefined && target.rung) this.noteTaken(flight, target.rung);
    }
    this.parts.bus.noteShown({ agent: target.agent, via: 'rpc' }, flight.whole, 'turn');
    if (target.agent !== chat.agent) await this.parts.chats.adopt(chat.id, target.agent);
    this.finish(flight);
    return hop;
  }

  /** The agent was shown these in another way than by the wake that is under way with them: there is nothing to wait for. */
  noteSeen(agent: number, seqs: readonly number[]): void {
    const flight = this.flights.of(agent);
    if (!flight || flight.proven || flight.seqs.size === 0) return;
    const { receipts } = this.parts.bus;
    if (![...flight.seqs].every((seq) => seqs.includes(seq) || receipts.isShownPending(agent, seq))) return;
    flight.proven = true;
    this.finish(flight);
  }

  /** The carrier says that turns of its have begun or ended in which these were: the model has seen them. */
  noteFinished(carrier: string, ids: readonly string[]): void {
    for (const flight of this.flights.givenTo(carrier)) {
      const whole = flight.whole.filter((id) => ids.includes(id));
      if (flight.proven || whole.length === 0) continue;
      flight.proven = true;
      this.parts.bus.noteShown({ agent: flight.target.agent, via: 'rpc' }, whole, 'turn');
      this.finish(flight);
    }
  }

  private consider(agent: number): void {
    if (this.closed) return;
    const { bus, pause, chats, gate, store } = this.parts;
    const targets = this.parts.ladder.targets(agent).filter(({ rung }) => rung !== undefined);
    if (targets.length === 0) return;
    if (pause.on) return bus.receipts.noteHeld(agent, store.wakeable(agent, 50), 'paused by the person');
    const target = this.choose(targets);
    if (!target || !this.isWanted(target) || !chats.isFree(target)) return;
    if (this.flights.isBusy(agent, target.carrier.id)) return;
    const admitted = gate.admit(bus.roster.get(agent), target.asker, this.waiting(target));
    if (admitted.length > 0) void this.fly(target);
  }

  /** The first that may still be given something. One that rests is waited for a few times, unless another is as good. */
  private choose(targets: readonly Target[]): Target | undefined {
    let awaited: Target['rung'];
    for (const target of targets.filter((one) => this.waiting(one).length > 0)) {
      if (awaited !== undefined && target.rung !== awaited) return undefined;
      if (!this.setbacks.isResting(target)) return target;
      if (!this.setbacks.isHopeless(target)) awaited = target.rung;
    }
    return undefined;
  }

  private waiting(target: Target): MessageRecord[] {
    const { bus, store } = this.parts;
    const { agent } = target;
    return store
      .wakeable(agent, 50)
      .filter(({ seq }) => !bus.receipts.isShownPending(agent, seq))
      .filter((message) => this.setbacks.mayTry(target, message.seq) && this.isDue(target, message));
  }

  private isDue({ terminal, chat }: Target, { sentAt }: MessageRecord): boolean {
    if (terminal?.by !== 'notification') return true;
    const since = Math.max(sentAt, chat?.at ?? 0);
    return this.parts.now() - since >= beforePersonMs && performance.now() - this.began >= beforePersonMs;
  }

  /** A call that waits gets the message by itself. */
  private isWanted({ agent }: Target): boolean {
    return !this.parts.pause.on && !this.parts.bus.presence.isWaiting(agent);
  }

  private async fly(target: Target): Promise<void> {
    const { chats, newToken, onError } = this.parts;
    const flight = new Flight(newToken(), target);
    this.flights.add(flight);
    try {
      await chats.markWaking(target, true);
      if (!this.load(flight)) return this.finish(flight);
      flight.watch(this.parts.proofMs, () => this.late(flight));
      const { chat, terminal } = target;
      const sent = target.carrier.wake(
        {
          wake: flight.token,
          agent: this.parts.bus.roster.get(target.agent).name,
          ...(chat && { chat: chat.id }),
          prompt: flight.prompt,
          ids: flight.ids,
          ...(terminal && { by: terminal.by, ...(chat && { product: chat.product }) }),
          ...(terminal?.pid !== undefined && { terminal: terminal.pid }),
        },
        answerMs,
      );
      this.landed(flight, await sent);
    } catch (error) {
      this.failed(flight, error);
      if (!(error instanceof BusError)) onError(error);
    }
  }

  /** The last look: all of it again, now that the mark is on disk and nothing can come in between. */
  private load(flight: Flight): boolean {
    const { bus, chats, gate, atOnce } = this.parts;
    const { agent, carrier, chat, key } = flight.target;
    const now = this.parts.ladder.targets(agent).find((target) => target.key === key && target.carrier === carrier);
    if (this.closed || flight.over || !now || now.chat?.id !== chat?.id) return false;
    if (!this.isWanted(now) || !chats.isFree(now, true)) return false;
    const reader = bus.roster.get(agent);
    const all = gate.admit(reader, now.asker, this.waiting(now));
    const messages = all.slice(0, atOnce);
    if (messages.length === 0) return false;
    const views = messages.map((message) => bus.views.message(message));
    const words = now.isLine ? this.parts.line : this.parts.prompt;
    const { text, whole } = words(reader.name, views, flight.token, all.length - messages.length);
    flight.load(
      messages,
      views.map(({ id }) => id),
      text,
      whole,
    );
    return true;
  }

  private landed(flight: Flight, { rung, note }: WakeResult): void {
    const { receipts } = this.parts.bus;
    const { target } = flight;
    if (rung !== 'none') this.noteTaken(flight, rung, note);
    else if (flight.rung === undefined) {
      flight.rung = rung;
      receipts.noteHeld(target.agent, flight.messages, note ?? 'it could not be taken there');
    }
    if (flight.proven || flight.over || rung === 'turn' || rung === 'typing') return;
    // Text in the input and a notification are with the person now; what came to nothing is looked at again later.
    if (rung === 'none') this.setbacks.rest(target);
    else this.setbacks.spend(target, flight.seqs);
    this.finish(flight);
  }

  private noteTaken(flight: Flight, rung: Rung, note?: string): void {
    if (flight.rung !== undefined) return;
    flight.rung = rung;
    const { agent, route } = flight.target;
    this.parts.bus.receipts.noteOffered(agent, flight.messages, rung, note ?? route ?? null);
  }

  private failed(flight: Flight, error: unknown): void {
    if (flight.over || flight.messages.length === 0) return this.finish(flight);
    // It may have been submitted all the same: a hook will tell, or none will, in the time that it has.
    if (error instanceof BusError && error.code === 'hub-unavailable') {
      flight.lost = true;
      return this.flights.freeCarrier(flight);
    }
    this.landed(flight, { rung: 'none', note: 'who carries it failed to take it' });
  }

  private late(flight: Flight): void {
    if (flight.over) return;
    const isOwed = flight.rung === undefined && !flight.lost;
    // Behind a turn of the person's it is queued, and comes when that one ends.
    if (isOwed || this.parts.chats.isWorking(flight.target)) {
      this.flights.freeCarrier(flight);
      flight.watch(this.parts.proofMs, () => this.late(flight));
      return this.sweep(flight.target.carrier);
    }
    if (flight.rung !== undefined || flight.target.key !== 'window') this.setbacks.count(flight.target, flight.seqs);
    this.finish(flight);
  }

  private finish(flight: Flight): void {
    if (flight.over) return;
    this.flights.remove(flight);
    const { target, seqs } = flight;
    if ((!flight.proven || target.isLine) && seqs.size > 0) this.parts.bus.recallNews(target.agent, seqs);
    this.parts.chats
      .markWaking(target, false)
      .catch(this.parts.onError)
      .finally(() => {
        // Whoever carried it may be gone by now; its agent is not.
        this.consider(target.agent);
        this.sweep(target.carrier);
      });
  }
}
