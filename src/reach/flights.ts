import type { MessageRecord } from '../core/model.ts';
import type { Rung } from '../protocol/reachMessages.ts';
import type { Target } from './chatBook.ts';

/** One submitted turn, from the decision to the proof that it began or to giving up on it. */
export class Flight {
  readonly token: string;
  readonly target: Target;
  messages: MessageRecord[] = [];
  ids: string[] = [];
  seqs: ReadonlySet<number> = new Set();
  prompt = '';
  whole: string[] = [];
  /** How far the window got with it, once it has said so. */
  rung: Rung | 'none' | undefined;
  /** Its window went away before it had said so. */
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
  private readonly byWindow = new Map<string, Flight>();
  private readonly tokens = new Map<string, Flight>();

  add(flight: Flight): void {
    this.byAgent.set(flight.target.agent, flight);
    this.byWindow.set(flight.target.window.id, flight);
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

  /** Those of a window, over or not. */
  inWindow(window: string): Flight[] {
    return [...this.tokens.values()].filter((flight) => flight.target.window.id === window);
  }

  isBusy(agent: number, window: string): boolean {
    return this.byAgent.has(agent) || this.byWindow.has(window);
  }

  /** Others of its window need not wait for it any longer. */
  freeWindow(flight: Flight): void {
    const { id } = flight.target.window;
    if (this.byWindow.get(id) === flight) this.byWindow.delete(id);
  }

  remove(flight: Flight): void {
    flight.over = true;
    flight.rest();
    this.freeWindow(flight);
    if (this.byAgent.get(flight.target.agent) === flight) this.byAgent.delete(flight.target.agent);
  }

  close(): void {
    for (const flight of this.byAgent.values()) flight.rest();
  }
}
