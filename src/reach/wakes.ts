import { BusError } from '../core/errors.ts';
import type { Bus } from '../core/bus.ts';
import type { ChatRecord, MessageRecord, MessageView } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import type { WakeResult } from '../protocol/reachMessages.ts';
import type { ChatBook, Target } from './chatBook.ts';
import { Flight, Flights } from './flights.ts';
import type { Gate } from './gate.ts';
import type { Pause } from './pause.ts';
import type { CarryingWindow } from './windows.ts';

export interface WakesParts {
  bus: Bus;
  store: Store;
  chats: ChatBook;
  gate: Gate;
  pause: Pause;
  /** What the submitted turn says, and which messages are whole in it. */
  prompt: (reader: string, messages: MessageView[], token: string, more: number) => { text: string; whole: string[] };
  newToken: () => string;
  /** Messages in one turn. */
  atOnce: number;
  /** How long a submitted turn has to show up. */
  proofMs: number;
  onError: (error: unknown) => void;
}

const debounceMs = 150;
const sweepMs = 30_000;
/** Less than that, so that each sweep looks again. */
const restMs = 20_000;
/** A window may answer only when the turn has ended. */
const answerMs = 600_000;
/** A turn that nobody saw begin is submitted once more, then it is the person's. */
const triesAtMost = 2;

const none: ReadonlySet<number> = new Set();

/**
 * Submits turns to idle agents for requests that wait for them, and for answers to what they have asked. Whatever event makes it look, it looks at everything
 * anew right before: a wake goes out only if nothing is paused, the person agrees, nobody reads the message already, and
 * the chat is known to be idle. One is under way per window and per agent at a time.
 */
export class Wakes {
  private readonly parts: WakesParts;
  private readonly flights = new Flights();
  private readonly tries = new Map<string, number>();
  /** Agents whose window could not do anything, until when they are left alone. */
  private readonly resting = new Map<number, number>();
  private readonly soon = new Map<number, NodeJS.Timeout>();
  private readonly sweeper: NodeJS.Timeout;
  private readonly unsubscribe: () => void;
  private closed = false;

  constructor(parts: WakesParts) {
    this.parts = parts;
    this.sweeper = setInterval(() => this.sweep(), sweepMs).unref();
    this.unsubscribe = parts.bus.feed.subscribe((event) => {
      if (event.type === 'message' && event.message.kind !== 'inform') event.recipients.forEach((id) => this.nudge(id));
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
    if (this.closed || this.soon.has(agent) || !this.parts.chats.target(agent)) return;
    const timer = setTimeout(() => {
      this.soon.delete(agent);
      this.consider(agent);
    }, debounceMs).unref();
    this.soon.set(agent, timer);
  }

  /** Looks at everything again: all agents, or those of one window. */
  sweep(window?: CarryingWindow): void {
    if (this.closed) return;
    for (const agent of this.parts.chats.carriedBy(window)) this.consider(agent);
  }

  /** A window has come (again): what failed before may work now, and its turns under way are over if it started anew. */
  arrived(window: CarryingWindow): void {
    for (const agent of this.parts.chats.carriedBy(window)) {
      const flight = this.flights.of(agent);
      if (flight && flight.target.window.id !== window.id) this.finish(flight);
      this.resting.delete(agent);
      for (const { seq } of this.parts.store.wakeable(agent, 100)) this.tries.delete(tryKey(agent, seq));
    }
    this.sweep(window);
  }

  /** The person wants it delivered: as if it had not been tried. */
  retry(agent: number, seq: number): void {
    this.tries.delete(tryKey(agent, seq));
    this.resting.delete(agent);
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
    const forWindow = !target.chat && target.window.id === chat.window;
    if (target.agent !== chat.agent && !forWindow) return undefined;
    const hop = Math.max(...messages.map((message) => this.parts.gate.hopFor(target.agent, message)));
    if (flight.proven) return hop;
    flight.proven = true;
    this.parts.bus.noteShown({ agent: target.agent, via: 'rpc' }, flight.whole, 'turn');
    if (target.agent !== chat.agent) await this.parts.chats.adopt(chat.id, target.agent);
    this.finish(flight);
    return hop;
  }

  /** The window says that turns of its ended in which these were: the model has seen them. */
  noteFinished(window: string, ids: readonly string[]): void {
    for (const flight of this.flights.inWindow(window)) {
      const whole = flight.whole.filter((id) => ids.includes(id));
      if (flight.proven || whole.length === 0) continue;
      flight.proven = true;
      this.parts.bus.noteShown({ agent: flight.target.agent, via: 'rpc' }, whole, 'turn');
      this.finish(flight);
    }
  }

  private consider(agent: number): void {
    const target = this.parts.chats.target(agent);
    if (this.closed || !target || target.window.rungs.length === 0) return;
    const waiting = this.waiting(agent);
    if (waiting.length === 0) return;
    if (this.parts.pause.on) return this.parts.bus.receipts.noteHeld(agent, waiting, 'paused by the person');
    if ((this.resting.get(agent) ?? 0) > performance.now()) return;
    if (!this.isWanted(target) || !this.parts.chats.isFree(target)) return;
    if (this.flights.isBusy(agent, target.window.id)) return;
    const admitted = this.parts.gate.admit(this.parts.bus.roster.get(agent), target.window, waiting);
    if (admitted.length > 0) void this.fly(target);
  }

  private waiting(agent: number): MessageRecord[] {
    const { bus, store } = this.parts;
    return store
      .wakeable(agent, 50)
      .filter(({ seq }) => !bus.receipts.isShownPending(agent, seq))
      .filter(({ seq }) => (this.tries.get(tryKey(agent, seq)) ?? 0) < triesAtMost);
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
      const sent = target.window.wake(
        {
          wake: flight.token,
          agent: this.parts.bus.roster.get(target.agent).name,
          ...(target.chat && { chat: target.chat.id }),
          prompt: flight.prompt,
          ids: flight.ids,
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
    const { bus, chats, gate, atOnce, prompt } = this.parts;
    const { agent, window, chat } = flight.target;
    const now = chats.target(agent);
    if (this.closed || flight.over || now?.window !== window || now.chat?.id !== chat?.id) return false;
    if (!this.isWanted(now) || !chats.isFree(now, true)) return false;
    const reader = bus.roster.get(agent);
    const all = gate.admit(reader, window, this.waiting(agent));
    const messages = all.slice(0, atOnce);
    if (messages.length === 0) return false;
    const views = messages.map((message) => bus.views.message(message));
    const { text, whole } = prompt(reader.name, views, flight.token, all.length - messages.length);
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
    const { agent } = flight.target;
    flight.rung = rung;
    if (rung === 'none') receipts.noteHeld(agent, flight.messages, note ?? 'its window could not take it');
    else receipts.noteOffered(agent, flight.messages, rung, note ?? null);
    if (flight.proven || flight.over || rung === 'turn') return;
    // Text in the input and a notification are with the person now; what came to nothing is looked at again later.
    if (rung === 'none') this.resting.set(agent, performance.now() + restMs);
    else for (const { seq } of flight.messages) this.count(agent, seq, triesAtMost);
    this.finish(flight);
  }

  private failed(flight: Flight, error: unknown): void {
    if (flight.over || flight.messages.length === 0) return this.finish(flight);
    // It may have been submitted all the same: a hook will tell, or none will, in the time that it has.
    if (error instanceof BusError && error.code === 'hub-unavailable') {
      flight.lost = true;
      return this.flights.freeWindow(flight);
    }
    this.landed(flight, { rung: 'none', note: 'its window failed to take it' });
  }

  private late(flight: Flight): void {
    if (flight.over) return;
    const isOwed = flight.rung === undefined && !flight.lost;
    // Behind a turn of the person's it is queued, and comes when that one ends.
    if (isOwed || this.parts.chats.isWorking(flight.target)) {
      this.flights.freeWindow(flight);
      flight.watch(this.parts.proofMs, () => this.late(flight));
      return this.sweep(flight.target.window);
    }
    if (flight.rung === 'turn') for (const { seq } of flight.messages) this.count(flight.target.agent, seq, 1);
    this.finish(flight);
  }

  private count(agent: number, seq: number, by: number): void {
    if (this.tries.size > 10_000) this.tries.clear();
    const key = tryKey(agent, seq);
    this.tries.set(key, (this.tries.get(key) ?? 0) + by);
  }

  private finish(flight: Flight): void {
    if (flight.over) return;
    this.flights.remove(flight);
    if (!flight.proven && flight.seqs.size > 0) this.parts.bus.recallNews(flight.target.agent, flight.seqs);
    this.parts.chats
      .markWaking(flight.target, false)
      .catch(this.parts.onError)
      .finally(() => this.sweep(flight.target.window));
  }
}

function tryKey(agent: number, seq: number): string {
  return `${agent} ${seq}`;
}
