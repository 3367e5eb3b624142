import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { afterEvent, afterSight, isIdle, isQuiet, withRunning, type ChatEvent } from '../../src/core/chatState.ts';
import type { ChatRecord } from '../../src/core/model.ts';

const blank: ChatRecord = {
  id: 'c',
  agent: 1,
  workspace: '/w',
  product: 'copilot',
  window: 'w',
  home: 1,
  state: 'idle',
  tools: [],
  asking: false,
  waking: false,
  hop: null,
  at: 0,
};
const staleMs = 180_000;
const later = 100 * 24 * 3600_000;
const after = (...events: ChatEvent[]): ChatRecord =>
  events.reduce((chat, event, i) => afterEvent(chat, event, i), blank);
const idleNow = (chat: ChatRecord, now = 10, heard = true): boolean => isIdle(chat, { now, staleMs, heard });

const prompt: ChatEvent = { type: 'prompt', hop: null };
const begin = (use: string, name = 'run'): ChatEvent => ({ type: 'before-tool', use, name });
const end = (use: string, name = 'run'): ChatEvent => ({ type: 'after-tool', use, name });
const stop: ChatEvent = { type: 'stop' };

describe('the state of a chat', () => {
  test('a turn runs from its prompt to its stop', () => {
    assert.equal(idleNow(blank), true);
    assert.equal(idleNow(after(prompt)), false);
    assert.equal(idleNow(after(prompt, stop)), true);
    assert.equal(after(prompt, { type: 'gone' }).state, 'gone');
    assert.equal(idleNow(after({ type: 'gone' })), false);
    assert.equal(after({ type: 'gone' }, { type: 'started' }).state, 'idle');
  });

  test('a turn without a sign of life counts as over, unless its hooks may have gone unheard', () => {
    const working = after(prompt);
    assert.equal(idleNow(working, staleMs - 1), false);
    assert.equal(idleNow(working, staleMs), true);
    assert.equal(idleNow(working, later, false), false);
  });

  test('a submitted turn counts until a hook tells of it', () => {
    const waking = { ...blank, waking: true };
    assert.equal(idleNow(waking, later), false);
    assert.equal(afterEvent(waking, prompt, 1).waking, false);
    assert.equal(afterEvent(waking, { type: 'started' }, 1).waking, true);
  });

  test('what the editor shows counts from its own time on', () => {
    const cancelled = after(prompt, begin('a'));
    assert.equal(afterSight(cancelled, { state: 'idle', at: cancelled.at }), cancelled, 'older than the last hook');
    const over = afterSight(cancelled, { state: 'idle', at: 100 });
    assert.equal(idleNow(over), true);
    assert.deepEqual([over.tools, over.at], [[], 100]);
    const asked = afterSight(after(prompt), { state: 'approval', at: 100 });
    assert.equal(idleNow(asked, later), false, 'though no tool is known');
    assert.equal(isQuiet(asked, later, 1), false);
    assert.equal(afterSight(asked, { state: 'working', at: 200 }).asking, false);
    assert.equal(afterEvent(asked, end('a'), 300).asking, false);
    assert.equal(idleNow(afterSight(blank, { state: 'working', at: 100 })), true, 'a little late');
    assert.equal(idleNow(afterSight(blank, { state: 'working', at: 20_000 })), false, 'a turn without hooks');
    const gone = after({ type: 'gone' });
    assert.equal(afterSight(gone, { state: 'working', at: 20_000 }), gone);
  });

  test('a tool is ended by its id, or else by its name', () => {
    assert.deepEqual(
      after(prompt, begin('a'), begin('b'), end('b')).tools.map(({ use }) => use),
      ['a'],
    );
    assert.deepEqual(
      after(prompt, begin(''), begin('', 'x'), end('', 'run')).tools.map(({ name }) => name),
      ['x'],
    );
    assert.equal(after(prompt, begin('a'), end('z', 'other')).tools.length, 1);
  });

  test('a call that reached the bus runs; the tool of another name does not', () => {
    const chat = after(prompt, begin('a', 'mcp_agent_bus_send'), begin('b', 'run_in_terminal'));
    assert.deepEqual(
      withRunning(chat, 'send', 5).tools.map(({ runs }) => runs),
      [true, false],
    );
    assert.deepEqual(
      withRunning(chat, 'inbox', 5).tools.map(({ runs }) => runs),
      [false, false],
    );
    assert.equal(idleNow(withRunning(chat, 'send', 5), later), false);
  });

  test('whatever happens, a chat with a tool out is not idle and keeps its name', () => {
    const use = fc.constantFrom('a', 'b', 'c', '');
    const event: fc.Arbitrary<ChatEvent> = fc.oneof(
      fc.constant(prompt),
      fc.constant<ChatEvent>({ type: 'started' }),
      fc.constant(stop),
      use.map((id) => begin(id)),
      use.map((id) => end(id)),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const out: string[] = [];
        for (const happened of events) {
          if (happened.type === 'prompt' || happened.type === 'stop') out.length = 0;
          else if (happened.type === 'before-tool' && (happened.use === '' || !out.includes(happened.use)))
            out.push(happened.use);
          else if (happened.type === 'after-tool' && out.includes(happened.use) && happened.use !== '')
            out.splice(out.indexOf(happened.use), 1);
          else if (happened.type === 'after-tool') out.shift();
        }
        const chat = after(...events);
        if (chat.tools.length > 0) {
          assert.equal(idleNow(chat, later), false);
          assert.equal(isQuiet(chat, later, 1), false);
        }
        if (out.length > 0 && events.every((e) => e.type !== 'after-tool' || e.use !== ''))
          assert.ok(chat.tools.length > 0);
      }),
    );
  });
});
