/** A bus with a long past: 10,000 conversations and 100,000 messages in a real sidebar. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { until } from '../support/hubProcess.ts';
import { seedBus } from '../support/seedBus.ts';

describe('a long past', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let window: EditorWindow;

  before(async () => {
    editor = await EditorServer.start({
      prepare: (home) => seedBus({ home, conversations: 10_000, messages: 100_000 }),
    });
    window = await editor.open('shop');
  });
  after(() => editor?.dispose());

  test('opens at once and scrolls smoothly', async (t) => {
    const page = await window.sidebar();
    const list = page.getByRole('listbox', { name: 'Conversations' });
    await list.waitFor();
    await page.getByRole('option').nth(5).waitFor();
    assert.match((await page.getByRole('option').first().getAttribute('aria-setsize')) ?? '', /^(10000|-1)$/);
    assert.ok((await page.locator('[role=option]').count()) < 120, 'only what is near the screen is in the page');

    // The best of several tries: the machine may be busy with something else, the page may not.
    const paints: number[] = [];
    do {
      if (paints.length > 0) await window.reload();
      const again = (await window.sidebar()).getByRole('listbox', { name: 'Conversations' });
      await again.waitFor();
      const painted: number = await until('the first rows were painted', () => again.evaluate(paintedAfter));
      paints.push(painted);
    } while (Math.min(...paints) >= 300 && paints.length < 3);
    assert.ok(Math.min(...paints) < 300, `painted ${paints.map(Math.round).join(', ')} ms after the data came`);

    // What others take from the machine shows in frames that do nothing but count.
    const tries: { longest: number; noise: number }[] = [];
    const isSmooth = () => tries.some(({ longest, noise }) => longest <= 50 || longest <= 1.5 * noise);
    do {
      const one: (typeof tries)[number] = await list.evaluate(scrolling);
      tries.push(one);
    } while (!isSmooth() && tries.length < 10);
    const told = tries.map(({ longest, noise }) => `${Math.round(longest)} (${Math.round(noise)})`).join(', ');
    assert.ok(isSmooth(), `longest frames, and those of the machine alone: ${told} ms`);
    t.diagnostic(`painted ${paints.map(Math.round).join(', ')} ms; longest frames ${told} ms`);

    await list.focus();
    await window.page.keyboard.press('End');
    await until(
      'the last one is there',
      async () => {
        await window.page.keyboard.press('End');
        return (await page.locator('[role=option][aria-posinset="10000"]').count()) > 0;
      },
      120_000,
    );
    await window.screenshot('proof-7-end');
  });
});

const paintedAfter = `performance.getEntriesByName('agent-bus inbox painted')[0]?.duration`;

const scrolling = `(async (box) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const count = (to) => { let sum = 0; for (let i = 0; i < to; i++) sum += Math.sqrt(i); return sum; };
  let work = 100_000;
  for (const aim = 8; ; work *= 2) {
    const took = Math.min(...Array.from({ length: 5 }, () => { const at = performance.now(); count(work); return performance.now() - at; }));
    if (took > aim / 2) { work *= aim / took; break; }
  }
  const longestOf = async (step) => {
    await frame();
    let last = await frame();
    let longest = 0;
    for (let i = 0; i < 120; i++) {
      step();
      const now = await frame();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  };
  box.scrollTop = 0;
  const noise = await longestOf(() => count(work));
  return { noise, longest: await longestOf(() => { box.scrollTop += 240; }) };
})(document.querySelector('[role=listbox]'))`;
