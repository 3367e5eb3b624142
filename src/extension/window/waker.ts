import type { Presence } from '../../core/model.ts';
import type { Rung, WakeParams, WakeResult } from '../../protocol/reachMessages.ts';

/** The parts of the editor that a wake needs; a test brings its own. */
export interface WakeSurface {
  chat: {
    isOpen(): Promise<boolean>;
    bringToFront(chat: string): Promise<void>;
    submit(prompt: string): Promise<void>;
    fillInput(prompt: string): Promise<void>;
    focusEditor(): Promise<void>;
  };
  person: {
    readonly isInEditor: boolean;
    quiet(quietMs: number, patienceMs: number, signal?: AbortSignal): Promise<boolean>;
  };
  /** What the bus knows at this moment of the agent; without a known chat, of whoever is busiest in this window. */
  presence(params: WakeParams): Promise<Presence>;
  /** Whether any chat of this window is seen to ask its person something: a turn might land there and cancel it. */
  isAsking(): boolean;
  /** Shows that messages wait; `deliver` is what the person's click does, and tells whether it was possible. */
  notify(params: WakeParams, deliver: () => Promise<boolean>): void;
  log(line: string): void;
}

/** First a real pause; a person who types on and on leaves short ones, too. */
const pauses = [
  { quietMs: 2_000, patienceMs: 20_000 },
  { quietMs: 500, patienceMs: 10_000 },
] as const;

/**
 * Puts a message in front of a chat of this window. One wake at a time, never under the person's fingers, and checked
 * again right before: a turn submitted while a confirmation is open would cancel what the person is being asked.
 */
export class Waker {
  private readonly surface: WakeSurface;
  private last: Promise<unknown> = Promise.resolve();

  constructor(surface: WakeSurface) {
    this.surface = surface;
  }

  async rungs(): Promise<Rung[]> {
    return (await this.surface.chat.isOpen()) ? ['turn', 'input', 'notification'] : ['notification'];
  }

  wake(params: WakeParams, signal?: AbortSignal): Promise<WakeResult> {
    const turn = this.last.then(() => this.climb(params, signal));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async climb(params: WakeParams, signal: AbortSignal | undefined): Promise<WakeResult> {
    if (params.by !== undefined) return this.remind(params);
    const outcome = await this.tryTurn(params, signal);
    this.surface.log(
      `wake ${params.wake} of ${params.agent}: ${outcome.rung ?? 'notification'}. ${outcome.note ?? ''}`,
    );
    if (outcome.rung !== undefined) return { rung: outcome.rung, ...(outcome.note && { note: outcome.note }) };
    this.surface.notify(params, () => this.deliverNow(params));
    return { rung: 'notification', ...(outcome.note && { note: outcome.note }) };
  }

  /** A session in a terminal: what its own product could not do is the person's. */
  private remind(params: WakeParams): WakeResult {
    this.surface.notify(params, () => Promise.resolve(false));
    return { rung: 'notification' };
  }

  /** No rung: the next one is to be tried. */
  private async tryTurn(
    params: WakeParams,
    signal: AbortSignal | undefined,
  ): Promise<{ rung?: Rung | 'none'; note?: string }> {
    const { chat, person } = this.surface;
    const before = await this.surface.presence(params);
    if (!(await chat.isOpen())) return { note: 'turn: this editor has no chat that takes one.' };
    if (!(await this.isQuiet(signal))) {
      return signal?.aborted
        ? { rung: 'none', note: 'turn: called off.' }
        : { note: 'turn: the person kept typing for half a minute.' };
    }
    const busy = { rung: 'none', note: 'turn: the chat was busy by then.' } as const;
    if (signal?.aborted || (await this.isBusySince(before, params))) return busy;
    const wasInEditor = person.isInEditor;
    try {
      if (params.chat !== undefined) {
        await chat.bringToFront(params.chat);
        if (await this.isBusySince(before, params)) return busy;
      }
      await chat.submit(params.prompt);
      return { rung: 'turn' };
    } catch (error) {
      return await this.tryInput(params, `turn: ${messageOf(error)}`);
    } finally {
      if (wasInEditor) await chat.focusEditor().catch(() => undefined);
    }
  }

  /** The editor refused the turn: the person has to press Enter. */
  private async tryInput({ prompt }: WakeParams, before: string): Promise<{ rung?: 'input'; note: string }> {
    try {
      await this.surface.chat.fillInput(prompt);
      return { rung: 'input', note: before };
    } catch (error) {
      return { note: `${before}; input: ${messageOf(error)}` };
    }
  }

  /** A wake is only sent to a chat that is taken for idle; one that seemed at work even then was cancelled. */
  private async isBusySince(before: Presence, params: WakeParams): Promise<boolean> {
    const now = await this.surface.presence(params);
    if (this.surface.isAsking()) return true;
    return now === 'waiting' || (now === 'working' && before !== 'working');
  }

  private async isQuiet(signal: AbortSignal | undefined): Promise<boolean> {
    for (const { quietMs, patienceMs } of pauses) {
      if (await this.surface.person.quiet(quietMs, patienceMs, signal)) return true;
    }
    return false;
  }

  /** The person said so: no waiting for a pause, and the focus may stay in the chat. */
  private async deliverNow(params: WakeParams): Promise<boolean> {
    const { chat } = this.surface;
    if (['working', 'waiting'].includes(await this.surface.presence(params)) || this.surface.isAsking()) return false;
    try {
      if (params.chat !== undefined) await chat.bringToFront(params.chat);
      await chat.submit(params.prompt);
    } catch (error) {
      this.surface.log(`deliver now ${params.wake}: ${String(error)}; filling the input instead.`);
      await chat.fillInput(params.prompt);
    }
    return true;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
