import type { MessageRecord } from '../core/model.ts';
import type { Rung } from '../protocol/reachMessages.ts';
import type { Target } from './ladder.ts';

/** One submitted turn, from the decision to the proof that it began or to giving up on it. */
export class Flight {
  readonly token: string;
  readonly target: Target;
  messages: MessageRecord[] = [];
  ids: string[] = [];
  seqs: ReadonlySet<number> = new Set();
  prompt = '';
  whole: string[] = [];
  /** How far the carrier got with it, once it has said so. */
  rung: Rung | 'none' | undefined;
  /** Its carrier went away before it had said so. */
  lost = false;
  proven = false;
  over = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(token: string, target: Target) {
    this.token = token;
    this.target = target;
  }

  load(messages: MessageRecord[], ids: string[], prompt: string, whole: string[]): void {
    this.messages = messages;
    this.ids = ids;
    this.seqs = new Set(messages.map(({ seq }) => seq));
    this.prompt = prompt;
    this.whole = whole;
  }

  watch(ms: number, late: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(late, ms).unref();
  }

  rest(): void {
    clearTimeout(this.timer);
  }
}

/** Tokens that are remembered after their flight: text in an input may be sent by its person much later. */
const remembered = 1_000;

export class Flights {
  private readonly byAgent = new Map<number, Flight>();
  private readonly byCarrier = new Map<string, Flight>();
  private readonly tokens = new Map<string, Flight>();

  add(flight: Flight): void {
    this.byAgent.set(flight.target.agent, flight);
    this.byCarrier.set(flight.target.carrier.id, flight);
    this.tokens.set(flight.token, flight);
    for (const token of this.tokens.keys()) {
      if (this.tokens.size <= remembered) break;
      this.tokens.delete(token);
    }
  }

  of(agent: number): Flight | undefined {
    return this.byAgent.get(agent);
  }

  byToken(token: string): Flight | undefined {
    return this.tokens.get(token);
  }

  /** Those that a carrier was given, over or not. */
  givenTo(carrier: string): Flight[] {
    return [...this.tokens.values()].filter((flight) => flight.target.carrier.id === carrier);
  }

  isBusy(agent: number, carrier: string): boolean {
    return this.byAgent.has(agent) || this.byCarrier.has(carrier);
  }

  /** Others of its carrier need not wait for it any longer. */
  freeCarrier(flight: Flight): void {
    const { id } = flight.target.carrier;
    if (this.byCarrier.get(id) === flight) this.byCarrier.delete(id);
  }

  remove(flight: Flight): void {
    flight.over = true;
    flight.rest();
    this.freeCarrier(flight);
    if (this.byAgent.get(flight.target.agent) === flight) this.byAgent.delete(flight.target.agent);
  }

  close(): void {
    for (const flight of this.byAgent.values()) flight.rest();
  }
}
