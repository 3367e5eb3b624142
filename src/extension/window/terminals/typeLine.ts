import type { PromptLook } from './promptLook.ts';
import { whyNotType } from './whyNotType.ts';

/** A terminal with an agent's product in it. */
export interface TypingPlace {
  look(): Promise<PromptLook | undefined>;
  send(text: string): void;
  /** What was typed here before and had not appeared: it may have come since. */
  left?: string | undefined;
}

export interface TypingPace {
  /** How long the prompt has to stay as it is before it is touched, and before Enter. */
  stillMs: number;
  /** How long a product may take to show what was typed, or that it was taken. */
  patienceMs: number;
  /** How often it is looked at. */
  lookMs: number;
}

export interface Typed {
  sent: boolean;
  note?: string;
}

const pace: TypingPace = { stillMs: 500, patienceMs: 10_000, lookMs: 50 };
const backspace = '\x7f';
const enter = '\r';
/** Keys that open something in one of the products: such a line is not typed. */
const risky = /[^\x20-\x7e\xa1-\u024f]|[@#\\]|^[\s!/?$&]/;
const lineAtMost = 400;

/**
 * Types one line into an empty prompt and sends it off. Nothing but our own line is ever sent, and nothing but our own
 * characters is ever taken back: what is on the screen is compared before each step, and where it is not as expected,
 * it stays as it is.
 */
export class TypeLine {
  private readonly place: TypingPlace;
  private readonly line: string;
  private readonly signal: AbortSignal | undefined;
  private readonly pace: TypingPace;

  constructor(place: TypingPlace, line: string, options: { signal?: AbortSignal | undefined; pace?: TypingPace } = {}) {
    this.place = place;
    this.line = line;
    this.signal = options.signal;
    this.pace = options.pace ?? pace;
  }

  async run(): Promise<Typed> {
    if (risky.test(this.line) || this.line.length > lineAtMost) return no('the line is none that can be typed');
    await this.clearLeft();
    const why = whyNotType(await this.place.look()) ?? (await this.whyNotStill());
    if (why !== undefined) return no(why);
    if (this.signal?.aborted) return no('called off');
    // A space first: where it does not appear, the keys mean something else just now, and a space does nothing.
    this.place.send(' ');
    const isSpace = (look: PromptLook): boolean => look.typed === ' ' && look.atEnd;
    if (!(await this.reaches(isSpace))) return this.takeBack(' ', 'it takes no text');
    this.place.send(this.line);
    const ours = (look: PromptLook) => !look.busy && look.atEnd && same(look.typed, this.line);
    const whole = ` ${this.line}`;
    if (!(await this.reaches(ours))) return this.takeBack(whole, 'what appeared was not what was typed');
    const now = await this.stillLook();
    if (now === 'moving' || !now || !ours(now)) return this.takeBack(whole, 'somebody else typed, too');
    if (this.signal?.aborted) return this.takeBack(whole, 'called off');
    return this.sendOff(ours);
  }

  /** An Enter right behind fast typing is taken for a part of the text by some: then it is pressed again. */
  private async sendOff(ours: (look: PromptLook) => boolean): Promise<Typed> {
    const whole = ` ${this.line}`;
    for (let press = 0; press < 3; press++) {
      const now = await this.place.look();
      if (!now || !ours(now)) return press > 0 ? { sent: true } : this.takeBack(whole, 'somebody else typed, too');
      this.place.send(enter);
      if (await this.reaches((look) => !same(look.typed, this.line), true)) return { sent: true };
    }
    return this.takeBack(whole, 'it did not take the line');
  }

  /** Only while our own characters, and all of them, are the last in front of the cursor. */
  private async takeBack(own: string, why: string): Promise<Typed> {
    this.place.left = own;
    const look = await this.place.look();
    if (look?.typed === '') return no(why);
    if (!look || !endsWithOurs(look, own)) return no(`${why}; what was typed there is left as it is`);
    const isBack = await this.erase(look, own);
    return no(isBack ? `${why}; it was taken back` : `${why}; taking it back has not been seen to work`);
  }

  /** What a slow product shows only now is still ours, if nothing else is there. */
  private async clearLeft(): Promise<void> {
    const { left } = this.place;
    if (left === undefined) return;
    const look = await this.stillLook();
    if (look === 'moving' || !look || look.busy || squeezed(look.typed) !== squeezed(left)) return;
    if (look.typed !== '' && endsWithOurs(look, left)) await this.erase(look, left);
  }

  private async erase(look: PromptLook, own: string): Promise<boolean> {
    const all = squeezed(look.typed);
    const rest = all.slice(0, all.length - squeezed(own).length);
    this.place.left = undefined;
    this.place.send(backspace.repeat(own.length));
    return this.reaches((after) => (rest === '' ? after.typed === '' : squeezed(after.typed) === rest));
  }

  private async whyNotStill(): Promise<string | undefined> {
    const look = await this.stillLook();
    return look === 'moving' ? 'somebody is at it' : whyNotType(look);
  }

  /** The prompt as it has been for a moment: a person who types makes it move. */
  private async stillLook(): Promise<PromptLook | undefined | 'moving'> {
    const first = await this.place.look();
    const end = performance.now() + this.pace.stillMs;
    while (performance.now() < end) {
      await sleep(this.pace.lookMs);
      if (!isSame(first, await this.place.look())) return 'moving';
    }
    return first;
  }

  /** @param orGone whether it is also reached by the prompt being gone */
  private async reaches(isThere: (look: PromptLook) => boolean, orGone = false): Promise<boolean> {
    const end = performance.now() + this.pace.patienceMs;
    for (;;) {
      const look = await this.place.look();
      if (look ? isThere(look) : orGone) return true;
      if (performance.now() > end) return false;
      await sleep(this.pace.lookMs);
    }
  }
}

function no(note: string): Typed {
  return { sent: false, note };
}

/** A space alone is ours only if there is nothing but it. */
function endsWithOurs({ typed, atEnd, busy }: PromptLook, own: string): boolean {
  if (!atEnd || busy) return false;
  return squeezed(own) === '' ? typed === own : squeezed(typed).endsWith(squeezed(own));
}

/** Where a product breaks a line, spaces may go. */
function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function same(typed: string, line: string): boolean {
  return squeezed(typed) === squeezed(line);
}

function isSame(a: PromptLook | undefined, b: PromptLook | undefined): boolean {
  return a?.typed === b?.typed && a?.atEnd === b?.atEnd && a?.idle === b?.idle && a?.busy === b?.busy;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
