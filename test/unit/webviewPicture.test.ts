import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoryMessage } from '../../src/protocol/storyMessages.ts';
import { fitted, layout } from '../../src/webview/picture/layout.ts';

let count = 0;
function told(from: string, to: string[], minute: number, more: Partial<StoryMessage> = {}): StoryMessage {
  return {
    id: `m${(++count).toString(36)}`,
    conversation: 'c1',
    from,
    to,
    kind: 'inform',
    text: `from ${from}`,
    sent_at: new Date(2026, 0, 5, 9, minute).toISOString(),
    fates: to.map((agent) => ({ agent, step: 'shown', at: '' })),
    ...more,
  };
}
const now = new Date(2026, 0, 5, 12).getTime();

describe('the layout of the picture', () => {
  test('one lifeline each, whoever speaks first stands first', () => {
    const { lifelines } = layout([told('b', ['c'], 0), told('a', ['b'], 1)], 800, now);
    assert.deepEqual(
      lifelines.map(({ name }) => name),
      ['b', 'c', 'a'],
    );
    const gaps = lifelines.slice(1).map(({ x }, i) => x - (lifelines[i]?.x ?? 0));
    assert.ok(gaps.every((gap) => gap === gaps[0] && gap >= 132));
  });

  test('time runs downwards and nothing overlaps', () => {
    const messages = Array.from({ length: 300 }, (_, i) => told(i % 2 ? 'a' : 'b', [i % 2 ? 'b' : 'a'], i * 2));
    const { arrows, height } = layout(messages, 400, now);
    for (const [i, arrow] of arrows.entries()) assert.ok(arrow.y - (arrows[i - 1]?.y ?? 0) >= 40, `row ${i}`);
    assert.ok((arrows.at(-1)?.y ?? 0) < height);
  });

  test('long silences are gaps with a name, not long ways', () => {
    const { marks, height } = layout([told('a', ['b'], 0), told('b', ['a'], 150), told('a', ['b'], 151)], 400, now);
    assert.deepEqual(
      marks.filter(({ kind }) => kind === 'gap').map(({ silence }) => silence),
      ['2 h 30 min'],
    );
    assert.equal(marks.filter(({ kind }) => kind === 'day').length, 1);
    assert.ok(height < 400);
  });

  test('an arrow goes to everybody it was for; in a channel to those it reached', () => {
    const channel = told('a', ['#release'], 0, {
      channel: 'release',
      fates: ['b', 'c', 'd'].map((agent) => ({ agent, step: 'shown', at: '' })),
    });
    const [arrow] = layout([channel], 800, now).arrows;
    assert.deepEqual(arrow?.to.map(({ name }) => name).sort(), ['b', 'c', 'd']);
  });

  test('a question and its answer are joined, with the time it took', () => {
    const question = told('a', ['b'], 0, { kind: 'request', request: 'answered' });
    const answer = told('b', ['a'], 4, { kind: 'reply', reply_to: question.id });
    const { arcs, arrows, lifelines } = layout([question, told('a', ['b'], 2), answer], 800, now);
    assert.equal(arcs.length, 1);
    assert.equal(arcs[0]?.waited, '4 min');
    assert.equal(arcs[0]?.x, lifelines[1]?.x);
    assert.equal(arcs[0]?.y1, arrows[0]?.y);
    assert.equal(arcs[0]?.y2, arrows[2]?.y);
    assert.equal(arrows[0]?.state, 'answered');
    assert.equal(arrows[2]?.state, 'reply');
  });

  test('an open question reaches down to now, and two at once bend differently', () => {
    const open = told('a', ['b'], 0, { kind: 'request', request: 'pending' });
    const other = told('a', ['b'], 1, { kind: 'request', request: 'pending' });
    const { arcs, height } = layout([open, other], 800, now);
    assert.equal(arcs.length, 2);
    assert.ok(arcs.every((arc) => arc.reply === undefined && arc.y2 > height - 40));
    assert.notEqual(arcs[0]?.bend, arcs[1]?.bend);
    assert.equal(arcs[0]?.waited, '3 h');
  });

  test('what is held or lost looks like it', () => {
    const held = told('a', ['b'], 0, { fates: [{ agent: 'b', step: 'held', at: '' }] });
    const lost = told('a', ['b'], 1, { fates: [{ agent: 'b', step: 'undeliverable', at: '' }] });
    assert.deepEqual(
      layout([held, lost], 800, now).arrows.map(({ state }) => state),
      ['held', 'failed'],
    );
  });

  test('nothing at all is a small empty picture', () => {
    const picture = layout([], 400, now);
    assert.equal(picture.arrows.length, 0);
    assert.ok(picture.height > 0);
  });

  test('labels are cut to their room', () => {
    assert.equal(fitted('short', 200), 'short');
    const cut = fitted('a very long label that can not fit anywhere', 80);
    assert.ok(cut.length <= 13 && cut.endsWith('…'));
  });
});
