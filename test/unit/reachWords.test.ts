import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AgentView } from '../../src/core/model.ts';
import type { HeardHook } from '../../src/hub/heardHooks.ts';
import { reachWords, type ReachFacts } from '../../src/hub/reachWords.ts';
import { products } from '../../src/connect/products/table.ts';
import { withAdvice } from '../../src/connect/reachAdvice.ts';
import type { AgentReach } from '../../src/protocol/reachMessages.ts';

const view: AgentView = {
  name: 'api-claude',
  kind: 'agent',
  presence: 'idle',
  reach: [],
  workspace: 'api',
  product: 'claude',
};
const all = new Set<HeardHook>(['session-start', 'prompt', 'after-tool', 'taken along', 'stop']);

function reach(facts: Partial<ReachFacts> = {}): AgentReach {
  return reachWords({
    view,
    chat: { state: 'idle', asking: false, window: '' },
    free: true,
    quiet: false,
    waits: false,
    connected: true,
    hooks: all,
    ways: [{ rung: 'turn', route: 'its background hook' }],
    paused: false,
    held: [],
    elsewhere: undefined,
    typing: undefined,
    ...facts,
  });
}

describe('the words for how an agent is reached', () => {
  test('an idle one: whoever can wake it; the rest by the hooks that were heard', () => {
    const { agent, state, now, busy, end_of_turn, idle, hooks } = reach();
    assert.deepEqual([agent, state, hooks], ['api-claude', 'idle', true]);
    assert.deepEqual(
      [now, busy, end_of_turn, idle].map(({ how }) => how),
      ['its background hook', 'next tool call', 'before it ends', 'its background hook'],
    );
    assert.ok([now, busy, end_of_turn, idle].every(({ blocked }) => blocked === undefined));
  });

  test('a working one is reached as while busy, and what may be a question to the person is told', () => {
    const chat = { state: 'working' as const, asking: false, window: 'w' };
    assert.deepEqual(reach({ chat, free: false }).now, { how: 'next tool call' });
    const doing = 'Bash runs or waits for your approval';
    assert.deepEqual(reach({ chat, free: false, view: { ...view, doing } }).now, {
      how: 'next tool call',
      blocked: doing,
    });
    const asking = reach({ chat: { ...chat, asking: true }, free: false });
    assert.equal(asking.state, 'approval');
    assert.match(asking.now.todo ?? '', /in its window of VS Code/);
    assert.equal(asking.now.how, undefined);
  });

  test('hooks that were not heard are no way, whatever else is known', () => {
    const none = reach({ hooks: new Set(), ways: [] });
    assert.equal(none.hooks, undefined);
    assert.deepEqual(none.busy, { how: 'next bus call', blocked: 'no hook of its session was heard yet' });
    assert.equal(none.end_of_turn.how, undefined);
    assert.equal(reach({ hooks: new Set(), connected: false }).busy.how, undefined);
    assert.match(reach({ hooks: new Set(['session-start']) }).busy.blocked ?? '', /tools was not heard yet/);
    // After a tool, what a hook is answered may not reach the model.
    assert.notEqual(reach({ hooks: new Set(['after-tool', 'stop']) }).busy.how, 'next tool call');
  });

  test('a window without a chat is woken, and its first turn tells the rest', () => {
    const fresh = reach({ chat: undefined, hooks: new Set(), ways: [{ rung: 'turn' }] });
    assert.deepEqual([fresh.state, fresh.now], ['idle', { how: 'new chat turn' }]);
    assert.equal(fresh.busy.blocked, 'it has no chat yet; its first turn tells');
  });

  test('the person is no way by itself; that typing could be allowed is said once, and asks for nothing now', () => {
    const told = reach({ ways: [{ rung: 'notification' }], typing: false });
    assert.deepEqual(told.now, { how: 'asks you', blocked: 'nothing can wake it without you' });
    assert.match(told.idle.todo ?? '', /agent-bus allow --typing api-claude$/);
    assert.equal(reach({ ways: [{ rung: 'input' }] }).idle.how, 'text in its input');
    assert.deepEqual(reach({ ways: [{ rung: 'typing' }], typing: true }).now, { how: 'typed line' });
  });

  test('what is held for the person blocks an idle one, not a working one', () => {
    const held = ['waits for the person’s consent', 'waits for the person’s consent'];
    assert.equal(reach({ held }).now.blocked, '2 messages are held: waits for the person’s consent');
    const working = { chat: { state: 'working' as const, asking: false, window: '' }, free: false };
    assert.equal(reach({ held, ...working }).now.how, 'next tool call');
  });

  test('a pause blocks all but a call that waits, also what is carried elsewhere', () => {
    assert.match(reach({ paused: true }).now.todo ?? '', /agent-bus resume/);
    assert.deepEqual(reach({ paused: true, waits: true }).now, { how: 'waiting call' });
    const remote = { elsewhere: ['A2A'], chat: undefined, hooks: new Set<HeardHook>(), ways: [] };
    assert.deepEqual(reach(remote).now, { how: 'A2A' });
    assert.match(
      reach({ ...remote, paused: true, view: { ...view, address: 'https://x' } }).now.blocked ?? '',
      /paused/,
    );
    assert.deepEqual(reach({ ...remote, elsewhere: ['nothing, it can only send'] }).idle, {
      blocked: 'it can only send',
    });
  });

  test('one that is not there: gone, or unknown while its chat has not ended', () => {
    const offline = { view: { ...view, presence: 'offline' as const }, ways: [], connected: false, waits: false };
    const ended = reach({ ...offline, chat: { state: 'gone', asking: false, window: '' } });
    assert.equal(ended.state, 'gone');
    assert.match(ended.now.todo ?? '', /start claude in api again/);
    const silent = reach(offline);
    assert.deepEqual([silent.state, silent.now.how], ['unknown', undefined]);
    assert.match(silent.now.blocked ?? '', /nothing of it is connected/);
    assert.equal(reach({ ...offline, quiet: true }).state, 'gone');
    // It has a connection again, but no chat has begun.
    assert.equal(reach({ chat: { state: 'gone', asking: false, window: '' }, ways: [] }).state, 'unknown');
  });
});

describe('advice about hooks that were not heard', () => {
  const codex = products.codex;
  const unheard = reach({ hooks: new Set(), ways: [], chat: undefined });
  const advice = (user: string, project?: string): string | undefined =>
    withAdvice(unheard, {
      product: codex,
      user: { state: user as 'no' },
      project: project === undefined ? undefined : { state: project as 'no' },
    }).now.todo;

  test('follows from what the files of the product tell', () => {
    assert.match(advice('connected', 'no') ?? '', /approve them with \/hooks/);
    assert.match(advice('no', 'connected') ?? '', /approve them with \/hooks/);
    assert.match(advice('without hooks', 'no') ?? '', /agent-bus connect codex adds them/);
    assert.match(advice('unreadable') ?? '', /can’t be read/);
    assert.match(advice('no', 'no') ?? '', /^agent-bus connect codex, then start it again$/);
    assert.match(advice('no') ?? '', /in its folder/);
  });

  test('leaves alone what has nothing to do with hooks, and agents whose hooks were heard', () => {
    const known = { product: codex, user: { state: 'no' as const }, project: { state: 'no' as const } };
    assert.deepEqual(withAdvice(reach(), known), reach());
    assert.deepEqual(withAdvice(unheard, undefined), unheard);
    assert.equal(withAdvice(unheard, known).idle.todo, undefined);
  });
});
