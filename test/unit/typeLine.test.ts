import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PromptLook } from '../../src/extension/window/terminals/promptLook.ts';
import { TypeLine, type TypingPlace } from '../../src/extension/window/terminals/typeLine.ts';

const line = '[Agent Bus] 1 message waits for you. (wake-0123456789012345678901)';
const pace = { stillMs: 0, patienceMs: 20, lookMs: 1 };

interface Key {
  text: string;
  by: 'us' | 'person';
}

/** A prompt that does what keys do, with a person at it as well. */
class Desk implements TypingPlace {
  readonly sent: Key[][] = [];
  readonly lost: string[] = [];
  left: string | undefined;
  busy = false;
  takesText = true;
  private keys: Key[] = [];
  private looks = 0;
  private readonly meanwhile: ReadonlyMap<number, (desk: Desk) => void>;

  constructor(meanwhile: ReadonlyMap<number, (desk: Desk) => void> = new Map()) {
    this.meanwhile = meanwhile;
  }

  get text(): string {
    return this.keys.map(({ text }) => text).join('');
  }

  look(): Promise<PromptLook | undefined> {
    this.meanwhile.get(++this.looks)?.(this);
    return Promise.resolve({ typed: this.text, atEnd: true, idle: !this.busy, busy: this.busy });
  }

  send(text: string): void {
    this.press(text, 'us');
  }

  press(text: string, by: Key['by']): void {
    for (const key of text) {
      if (key === '\r') this.sent.push(this.keys.splice(0));
      else if (key === '\x7f') this.erase(by);
      else if (this.takesText || by === 'person') this.keys.push({ text: key, by });
    }
  }

  private erase(by: Key['by']): void {
    const key = this.keys.pop();
    if (key && key.by !== by) this.lost.push(key.text);
  }
}

describe('typing a line', () => {
  test('into an empty prompt: the line and nothing else is sent', async () => {
    const desk = new Desk();
    assert.deepEqual(await new TypeLine(desk, line, { pace }).run(), { sent: true });
    assert.deepEqual(
      desk.sent.map((keys) =>
        keys
          .map(({ text }) => text)
          .join('')
          .trim(),
      ),
      [line],
    );
  });

  test('whatever a person types meanwhile is neither sent off nor erased', async () => {
    const typing = fc.tuple(
      fc.integer({ min: 1, max: 30 }),
      fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(typing, { maxLength: 4 }), async (events) => {
        const keys = new Map(events.map(([at, text]) => [at, (desk: Desk) => desk.press(text, 'person')]));
        const desk = new Desk(keys);
        const { sent } = await new TypeLine(desk, line, { pace }).run();
        // Spaces count for nothing: products break lines at them.
        assert.equal(desk.lost.join('').trim(), '');
        const persons = desk.sent.flat().filter(({ by }) => by === 'person');
        assert.equal(
          persons
            .map(({ text }) => text)
            .join('')
            .trim(),
          '',
        );
        assert.equal(sent, desk.sent.length > 0);
      }),
      { numRuns: 200 },
    );
  });

  test('a turn that begins meanwhile gets no Enter', async () => {
    for (let at = 1; at < 8; at++) {
      const desk = new Desk(new Map([[at, (place: Desk) => (place.busy = true)]]));
      const { sent } = await new TypeLine(desk, line, { pace }).run();
      // By the last looks it may be its own turn.
      if (!sent) assert.deepEqual(desk.sent, []);
      else assert.ok(at > 5, `look ${at}`);
    }
  });

  test('where keys mean something else, only a space is tried', async () => {
    const desk = new Desk();
    desk.takesText = false;
    const result = await new TypeLine(desk, line, { pace }).run();
    assert.deepEqual(result, { sent: false, note: 'it takes no text' });
    assert.equal(desk.left, ' ');
  });

  test('what a slow product shows only later is taken back before the next line', async () => {
    const desk = new Desk();
    desk.left = ' ';
    desk.press(' ', 'us');
    assert.deepEqual(await new TypeLine(desk, line, { pace }).run(), { sent: true });
    assert.equal(desk.sent[0]?.length, line.length + 1);
    const persons = new Desk();
    persons.left = ' ';
    persons.press(' x', 'person');
    assert.equal((await new TypeLine(persons, line, { pace }).run()).sent, false);
    assert.equal(persons.text, ' x');
  });

  test('called off after it was typed, it is taken back', async () => {
    const off = new AbortController();
    const desk = new Desk(new Map([[5, () => off.abort()]]));
    const result = await new TypeLine(desk, line, { pace, signal: off.signal }).run();
    assert.deepEqual(
      { ...result, text: desk.text, sent: desk.sent },
      { note: 'called off; it was taken back', text: '', sent: [] },
    );
  });

  test('a line with keys that open something is not typed at all', async () => {
    for (const text of ['two\nlines', '/quit', 'see @file', 'a\x1b[A', '#1', '!ls', ' a', 'a'.repeat(500)]) {
      const desk = new Desk();
      assert.equal((await new TypeLine(desk, text, { pace }).run()).sent, false);
      assert.equal(desk.text, '');
    }
  });
});
