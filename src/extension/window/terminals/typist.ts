import type { WakeParams, WakeResult } from '../../../protocol/reachMessages.ts';
import { prompts } from './prompts/table.ts';
import type { PromptLook } from './promptLook.ts';
import type { Screen } from './screen.ts';
import { TypeLine, type TypingPlace } from './typeLine.ts';

/** A terminal of this window, as far as typing into it goes. */
export interface TypistTerminal {
  /** Nothing where the editor can't read what the terminal shows. */
  screen: (() => Promise<Screen | undefined>) | undefined;
  send: (text: string) => void;
}

export interface TypistParts {
  find: (pid: number) => TypistTerminal | undefined;
  log: (line: string) => void;
}

/** Wakes an agent in a terminal of this window by a typed line. The hub asks for it only where the person allows it. */
export class Typist {
  private readonly parts: TypistParts;
  private readonly last = new Map<number, Promise<unknown>>();
  private readonly left = new Map<number, string>();

  constructor(parts: TypistParts) {
    this.parts = parts;
  }

  /** One at a time per terminal. */
  async wake(params: WakeParams, signal?: AbortSignal): Promise<WakeResult> {
    const pid = params.terminal;
    if (pid === undefined) return { rung: 'none', note: 'typing: its terminal is not known.' };
    const result = (this.last.get(pid) ?? Promise.resolve()).then(() => this.type(pid, params, signal));
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.last.set(pid, settled);
    void settled.then(() => {
      if (this.last.get(pid) === settled) this.last.delete(pid);
    });
    return result;
  }

  private async type(pid: number, params: WakeParams, signal: AbortSignal | undefined): Promise<WakeResult> {
    const outcome = await this.tryTyping(pid, params, signal);
    this.parts.log(`wake ${params.wake} of ${params.agent}: ${outcome.rung}. ${outcome.note ?? ''}`);
    return outcome;
  }

  private async tryTyping(pid: number, params: WakeParams, signal: AbortSignal | undefined): Promise<WakeResult> {
    const none = (why: string): WakeResult => ({ rung: 'none', note: `typing: ${why}.` });
    const read = prompts.get(params.product ?? '');
    if (!read) return none('the prompt of its product is not known');
    const terminal = this.parts.find(pid);
    if (!terminal) return none('its terminal is closed');
    const { screen, send } = terminal;
    if (!screen)
      return none('its terminal can’t be read; shell integration has to be on, and the product started after it');
    const look = async (): Promise<PromptLook | undefined> => {
      const shown = await screen();
      return shown && read(shown);
    };
    const place: TypingPlace = { look, send, left: this.left.get(pid) };
    const { sent, note } = await new TypeLine(place, params.prompt, { signal }).run();
    if (place.left === undefined) this.left.delete(pid);
    else this.left.set(pid, place.left);
    return sent ? { rung: 'typing' } : none(note ?? 'it could not be typed');
  }
}
