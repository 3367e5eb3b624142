import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Emulator } from '../../src/extension/window/terminals/emulator.ts';
import type { ReadPrompt } from '../../src/extension/window/terminals/promptLook.ts';
import { prompts } from '../../src/extension/window/terminals/prompts/table.ts';
import { textOf, type Cell, type Screen } from '../../src/extension/window/terminals/screen.ts';
import { whyNotType } from '../../src/extension/window/terminals/whyNotType.ts';
import { readRecording } from '../support/agents/recordedScreens.ts';

/** What each recorded scene shows, in order. */
async function scenesOf(recording: string): Promise<{ name: string; typed: string | undefined; screen: Screen }[]> {
  const { size, scenes } = readRecording(recording);
  const emulator = new Emulator(size);
  const shown = [];
  for (const { name, typed, data } of scenes) {
    emulator.write(data);
    shown.push({ name, typed, screen: await emulator.screen() });
  }
  emulator.dispose();
  return shown;
}

function picture({ rows, cursor }: Screen): string {
  const lines = rows.map((row, y) => `${String(y).padStart(2)}|${textOf(row).trimEnd()}`);
  return [`cursor ${cursor.x},${cursor.y}`, ...lines].join('\n');
}

const recordings = [...prompts].flatMap(([product, read]) => [
  { recording: product, read },
  { recording: `${product}-small`, read },
]);

for (const { recording, read } of recordings) {
  describe(`the prompt of ${recording}, as it was recorded`, () => {
    test('only an idle and empty one may be typed into, and a draft is read as it is', async () => {
      const scenes = await scenesOf(recording);
      assert.ok(scenes.length > 15, 'all scenes are there');
      for (const { name, typed, screen } of scenes) {
        const look = read(screen);
        const why = whyNotType(look);
        const where = `${name}:\n${picture(screen)}`;
        if (typed === '') assert.equal(why, undefined, where);
        else assert.notEqual(why, undefined, where);
        if (typed !== undefined) assert.equal(look?.typed, typed, where);
      }
    });

    test('no draft whatsoever is taken for an empty prompt', async () => {
      const scenes = await scenesOf(recording);
      const find = (name: string) => scenes.find((scene) => scene.name === name)?.screen;
      const idle = find('idle');
      const letter = find('one letter');
      assert.ok(idle && letter);
      const stage = new Stage(read, idle, letter);
      const words = fc.oneof(
        fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom(...'abz >*❯›!/?@"\'.  ') }),
        // What a product suggests may be typed by a person as well.
        fc.constantFrom(...['', ' ', '  '].map((before) => before + stage.suggestion).filter((text) => text !== '')),
      );
      // What is left over of an idle screen while the product has not drawn everything yet, or what it draws in the end.
      const screens = fc.constantFrom(idle, letter);
      fc.assert(
        fc.property(words, screens, fc.nat(), (draft, screen, at) => {
          const x = draft.trim() === '' ? draft.length : at % (draft.length + 1);
          const shown = stage.withDraft(screen, draft, x);
          assert.notEqual(whyNotType(read(shown)), undefined, picture(shown));
        }),
        { numRuns: 500 },
      );
    });
  });
}

/** Puts drafts where the product puts them, in the looks that it gives them. */
class Stage {
  readonly suggestion: string;
  private readonly ink: Cell;
  private readonly start: number;

  constructor(read: ReadPrompt, idle: Screen, letter: Screen) {
    assert.equal(read(letter)?.typed, 'h');
    this.start = letter.cursor.x - 1;
    const ink = letter.rows[letter.cursor.y]?.[this.start];
    assert.equal(ink?.text, 'h');
    this.ink = ink;
    this.suggestion = textOf(idle.rows[idle.cursor.y], this.start).trim();
  }

  withDraft(screen: Screen, draft: string, cursor: number): Screen {
    const y = screen.cursor.y;
    const blank = { ...this.ink, text: ' ' };
    const rows = screen.rows.map((row, at) => {
      if (at !== y) return row;
      const cells = [...draft].map((text) => ({ ...this.ink, text }));
      return [...row.slice(0, this.start), ...cells, ...row.slice(this.start + cells.length).map(() => blank)];
    });
    return { rows, cursor: { x: this.start + cursor, y } };
  }
}
