/** Turns submitted to idle agents for requests that wait for them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { FakeWindow, type WindowOptions } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { ask, steps } from '../support/requests.ts';

/** Long enough for a wake that must not come: it would take a sixth of a second. */
const aWhile = 600;

let hub: HubProcess;
let folders = 0;
const newFolder = (): string => `/w/folder-${++folders}`;
const open = (options: Partial<WindowOptions> = {}): Promise<FakeWindow> =>
  FakeWindow.open(hub, { workspace: newFolder(), ...options });
/** Somebody of the same workspace, who needs no consent. */
const neighbour = (window: FakeWindow, product = 'tester'): Promise<BusClient> =>
  hub.client({ attach: { workspace: window.workspace, product } });

describe('a wake', () => {
  before(async () => {
    hub = await HubProcess.start();
  });
  after(() => hub.dispose());

  test('is a turn in the window of an idle agent, proven by the hook that sees its prompt', async () => {
    const window = await open();
    const ann = await neighbour(window);
    const id = await ask(ann, window.home, 'what does GET /orders return?');
    const wake = await window.woken();
    assert.equal(wake.agent, window.home);
    assert.equal(wake.chat, undefined);
    assert.deepEqual(wake.ids, [id]);
    assert.match(wake.prompt, /^Message from folder-\d+-tester \(folder-\d+\) via Agent Bus\n/);
    assert.match(wake.prompt, /\nwhat does GET \/orders return\?\n/);
    assert.ok(wake.prompt.includes(wake.wake));
    await until('it is shown', async () => (await steps(ann, id)).includes('shown turn'));
    assert.deepEqual(await steps(ann, id), ['offered turn', 'shown turn']);
    await until('the hook has its answer', () => window.turns.length === 1);
    assert.equal(await window.agentOf(window.turns[0]?.chat ?? ''), window.home);
    assert.equal(window.turns[0]?.answer.context, undefined, 'the prompt is not carried a second time');
    await pause(aWhile);
    assert.equal(window.wakes.length, 1);
    window.close();
  });

  test('goes to the exact chat once there is one', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await window.hook('c-1', 'prompt', { prompt: 'hi' });
    await window.hook('c-1', 'stop');
    const sibling = await window.agentOf('c-2');
    await ask(ann, sibling, 'you there?');
    assert.equal((await window.woken()).chat, 'c-2');
    await ask(ann, window.home, 'and you?');
    assert.equal((await window.woken(2)).chat, 'c-1');
    window.close();
  });

  test('is one for a burst, and only for requests', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await ann.call('send', { to: window.home, text: 'just so you know' });
    await pause(aWhile);
    assert.equal(window.wakes.length, 0);
    const ids = await Promise.all(Array.from({ length: 4 }, (_, i) => ask(ann, window.home, `question ${i}`)));
    const wake = await window.woken();
    assert.deepEqual([...wake.ids].sort(), ids.sort());
    await until('the turn runs', () => window.turns.length === 1);
    assert.match(window.turns[0]?.answer.context ?? '', /just so you know/, 'the rest rides along on the hook');
    await pause(aWhile);
    assert.equal(window.wakes.length, 1);
    window.close();
  });

  test('comes for the answer to what an agent has asked, without consent, and for no other reply', async () => {
    const window = await open();
    // From another workspace: who asks has agreed to be answered.
    const bob = await hub.client({ attach: { workspace: newFolder(), product: 'tester' } });
    await window.hook('c', 'prompt', { prompt: 'ask bob' });
    const asked = await ask(window.client, bob.agent, 'what does GET /orders return?');
    await window.hook('c', 'stop');
    await bob.call('send', { reply_to: asked, text: 'let me look', kind: 'inform' });
    await pause(aWhile);
    assert.equal(window.wakes.length, 0, 'a word in between is no answer');
    const answer = (await bob.call('send', { reply_to: asked, text: 'a list of orders' })).data.id;
    const wake = await window.woken();
    assert.deepEqual(wake.ids, [answer]);
    assert.match(wake.prompt, /^Answer from [a-z0-9-]+ \(folder-\d+\) via Agent Bus\n/);
    assert.match(wake.prompt, new RegExp(`What you had asked \\(${asked}\\) is answered here`));
    assert.doesNotMatch(wake.prompt, /Answer with/);
    await until('it is shown', async () => (await steps(bob, answer)).includes('shown turn'));
    assert.equal(window.asks.length, 0);
    await window.hook('c', 'stop', { again: true });
    await bob.call('send', { reply_to: asked, text: 'one more thing' });
    await pause(aWhile);
    assert.equal(window.wakes.length, 1, 'only the answer is the answer');
    window.close();
  });

  test('comes for an answer that came after a question in between', async () => {
    const window = await open();
    const bob = await neighbour(window);
    await window.hook('c', 'prompt', { prompt: 'ask bob' });
    const asked = await ask(window.client, bob.agent, 'which port?');
    const back = (await bob.call('send', { reply_to: asked, text: 'of which server?', kind: 'request' })).data.id;
    const answer = (await window.client.call('send', { reply_to: back, text: 'the web server' })).data.id;
    await window.hook('c', 'stop', { again: true });
    const { id } = (await bob.call('send', { reply_to: answer, text: '8080' })).data;
    assert.deepEqual((await window.woken()).ids, [id]);
    assert.equal((await window.client.call('status', { id: asked })).data.request?.state, 'answered');
    window.close();
  });

  test('is never sent while a turn runs or a tool may be waiting; it comes when the turn has ended', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await window.hook('c', 'prompt', { prompt: 'work' });
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: 'a' });
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: 'b' });
    const id = await ask(ann, window.home, 'well?');
    await window.hook('c', 'after-tool', { tool: 'run_in_terminal', toolUse: 'a' });
    const person = await hub.client({ reconnect: true });
    await person.request('release', { id, verdict: 'once' });
    await pause(aWhile);
    assert.equal(window.wakes.length, 0, 'one of two tools is still out');
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    await person.request('release', { id, verdict: 'once' });
    await pause(aWhile);
    assert.equal(window.wakes.length, 0, 'and is after a restart of the hub');
    await window.hook('c', 'stop', { again: true });
    assert.deepEqual((await window.woken()).ids, [id]);
    window.close();
  });

  test('a chat that was working when the hub died is not taken for idle', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await window.hook('c', 'prompt', { prompt: 'work' });
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    await ask(ann, window.home, 'well?');
    await pause(aWhile);
    assert.equal(window.wakes.length, 0);
    window.close();
  });

  test('a window that starts anew has no turn running', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await window.hook('c', 'prompt', { prompt: 'work' });
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: 'a' });
    await ask(ann, window.home, 'well?');
    window.close();
    await pause(50);
    const again = await open({ workspace: window.workspace });
    assert.equal(again.home, 'folder-' + window.workspace.slice(10) + '-copilot');
    assert.equal((await again.woken()).chat, 'c');
    again.close();
  });

  test('is not needed by a call that waits', async () => {
    const window = await open();
    const ann = await neighbour(window);
    const waiting = window.client.call('inbox', { wait_seconds: 20 });
    await until('it waits', async () => (await hub.status()).connections.waitingCalls === 1);
    await ask(ann, window.home, 'well?');
    const { data, shown } = await waiting;
    assert.equal(data.messages[0]?.text, 'well?');
    window.client.shown(shown, 'inbox');
    await pause(aWhile);
    assert.equal(window.wakes.length, 0);
    window.close();
  });

  test('waits while another is under way in the same window', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await window.agentOf('c-1');
    const sibling = await window.agentOf('c-2');
    let finish: () => void = () => undefined;
    window.onWake = async (wake) => {
      if (wake.chat === 'c-1') await new Promise<void>((resolve) => (finish = resolve));
      return { rung: 'notification' };
    };
    await ask(ann, window.home, 'first');
    await window.woken();
    await ask(ann, sibling, 'second');
    await pause(aWhile);
    assert.equal(window.wakes.length, 1);
    finish();
    assert.equal((await window.woken(2)).chat, 'c-2');
    window.close();
  });

  test('tells by which rung it came to rest, and leaves it there', async () => {
    for (const rung of ['input', 'notification'] as const) {
      const window = await open();
      const ann = await neighbour(window);
      window.onWake = () => ({ rung, note: 'a draft was there' });
      const id = await ask(ann, window.home, 'well?');
      await until('it is offered', async () => (await steps(ann, id)).length > 0);
      assert.deepEqual(await steps(ann, id), [`offered ${rung} a draft was there`]);
      const { context } = await window.hook('c', 'prompt', { prompt: 'hi' });
      assert.match(context ?? '', /\nwell\?\n/, 'the agent itself has not been told yet');
      await until('it is shown', async () => (await steps(ann, id)).includes('shown hook'));
      assert.equal(window.wakes.length, 1);
      window.close();
    }
    const window = await open();
    const ann = await neighbour(window);
    window.onWake = () => ({ rung: 'none', note: 'chat is disabled' });
    const id = await ask(ann, window.home, 'well?');
    await until('it is held', async () => (await steps(ann, id)).length > 0);
    assert.deepEqual(await steps(ann, id), ['held chat is disabled']);
    const { text } = await window.client.callForModel('agents', {});
    assert.match(text, /\nwell\?\n/, 'held is not the end');
    window.close();
  });

  test('that ended is proof as good as its beginning, for whichever chat of the window it was', async () => {
    const window = await open({ runs: false });
    const ann = await neighbour(window);
    await window.agentOf('c-1');
    const id = await ask(ann, await window.agentOf('c-2'), 'well?');
    await window.woken();
    const [stranger] = await hub.strangers(1);
    stranger.shown([id], 'turn');
    await stranger.request('presence', { state: 'idle' });
    window.client.shown(['m1', 'nonsense'], 'turn');
    await until('it is offered', async () => (await steps(ann, id)).length > 0);
    assert.deepEqual(await steps(ann, id), ['offered turn']);
    window.client.shown([id], 'turn');
    await until('it is shown', async () => (await steps(ann, id)).includes('shown turn'));
    window.close();
  });

  test('waits for what the editor shows of a chat, and learns from it that a turn was cancelled', async () => {
    const window = await open();
    const ann = await neighbour(window);
    const see = (state: 'idle' | 'approval' | 'working', at = Date.now()) =>
      window.client.request('observe', { chat: `${window.prefix}c`, state, at });
    await window.hook('c', 'prompt', { prompt: 'work' });
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: 'x' });
    const early = Date.now() - 60_000;
    await pause(20);
    await see('approval');
    const person = await hub.client();
    const look = async () => (await person.call('agents', { query: window.home })).data.agents[0];
    assert.equal((await look())?.presence, 'waiting', 'at once');
    assert.equal((await look())?.doing, 'waits for your approval of run_in_terminal');
    await ask(ann, window.home, 'well?');
    await see('idle', early);
    await pause(aWhile);
    assert.equal(window.wakes.length, 0, 'older than the last hook, it says nothing');
    await see('idle');
    assert.equal((await window.woken()).chat, 'c');
    await assert.rejects(person.request('observe', { chat: 'c', state: 'idle', at: 0 }), { code: 'invalid-input' });
    window.close();
  });

  test('text in an input that its person sends later proves it all the same', async () => {
    const window = await open();
    const ann = await neighbour(window);
    window.onWake = () => ({ rung: 'input' });
    const id = await ask(ann, window.home, 'well?');
    const { prompt } = await window.woken();
    await window.hook('c', 'prompt', { prompt: `please look:\n${prompt}` });
    await until('it is shown', async () => (await steps(ann, id)).includes('shown turn'));
    window.close();
  });

  test('goes on after the window was lost in the middle', async () => {
    const window = await open();
    const ann = await neighbour(window);
    window.onWake = () => new Promise(() => undefined);
    const id = await ask(ann, window.home, 'well?');
    await window.woken();
    window.close();
    await pause(50);
    assert.deepEqual(await steps(ann, id), []);
    const again = await open({ workspace: window.workspace });
    assert.deepEqual((await again.woken()).ids, [id]);
    await until('it is shown', async () => (await steps(ann, id)).includes('shown turn'));
    again.close();
  });

  test('goes on after the hub was killed in the middle, without a second turn where one began', async () => {
    const window = await open();
    const ann = await neighbour(window);
    await window.agentOf('c');
    window.onWake = () => new Promise(() => undefined);
    const id = await ask(ann, window.home, 'well?');
    await window.woken();
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    await pause(aWhile);
    assert.equal(window.wakes.length, 1, 'the turn may have begun while there was no hub');
    const { block, shown } = await window.hook('c', 'stop');
    assert.match(block ?? '', /well\?/, 'whatever turn it was: the request is still there');
    assert.deepEqual(shown, [id]);
    window.close();
  });

  test('after a hub that was killed in the middle, a window without a chat is left alone until a hook is heard', async () => {
    const window = await open();
    const ann = await neighbour(window);
    window.onWake = () => new Promise(() => undefined);
    const id = await ask(ann, window.home, 'well?');
    const wake = await window.woken();
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    await pause(aWhile);
    assert.equal(window.wakes.length, 1);
    const { context, shown } = await window.hook('new', 'prompt', { prompt: wake.prompt });
    assert.match(context ?? '', /\nwell\?\n/, 'this hub does not know the token');
    assert.deepEqual(shown, [id]);
    await window.hook('new', 'stop', { again: true });
    const next = await ask(ann, window.home, 'and this?');
    assert.deepEqual((await window.woken(2)).ids, [next]);
    window.close();
  });

  test('a strange or foreign token proves nothing', async () => {
    const window = await open({ runs: false });
    const ann = await neighbour(window);
    await window.agentOf('c-1');
    const id = await ask(ann, window.home, 'well?');
    const { prompt } = await window.woken();
    await window.hook('c-2', 'prompt', { prompt });
    await window.hook('c-1', 'prompt', { prompt: prompt.replace(/wake-\S{22}/, 'wake-aaaaaaaaaaaaaaaaaaaaaa') });
    await pause(150);
    assert.deepEqual(await steps(ann, id), ['offered turn']);
    window.close();
  });
});

describe('a turn that nobody saw begin', () => {
  test('is submitted once more, then left to the person', async () => {
    hub = await HubProcess.start({ settings: { reach: { proofSeconds: 0.2 } } });
    try {
      const window = await open({ runs: false });
      const ann = await neighbour(window);
      const id = await ask(ann, window.home, 'well?');
      await window.woken(2);
      await pause(aWhile);
      assert.equal(window.wakes.length, 2);
      assert.deepEqual(await steps(ann, id), ['offered turn', 'offered turn']);
      assert.notEqual(window.wakes[0]?.wake, window.wakes[1]?.wake);
      const person = await hub.client();
      await person.request('release', { id, verdict: 'once' });
      await window.woken(3);
      window.close();
    } finally {
      await hub.dispose();
    }
  });

  test('is not submitted again while it may be queued behind a turn of the person’s', async () => {
    hub = await HubProcess.start({ settings: { reach: { proofSeconds: 0.2 } } });
    try {
      const window = await open({ runs: false });
      const ann = await neighbour(window);
      await window.agentOf('c');
      const id = await ask(ann, window.home, 'well?');
      const wake = await window.woken();
      await window.hook('c', 'prompt', { prompt: 'the person was faster' });
      await pause(aWhile);
      await window.hook('c', 'stop');
      await window.runTurn(wake);
      await until('it is shown', async () => (await steps(ann, id)).includes('shown turn'));
      assert.equal(window.wakes.length, 1);
      window.close();
    } finally {
      await hub.dispose();
    }
  });

  test('a turn without a sign of life counts as over, a tool never does', async () => {
    hub = await HubProcess.start({ settings: { reach: { staleSeconds: 0.3 } } });
    try {
      const window = await open();
      const ann = await neighbour(window);
      await window.hook('c', 'prompt', { prompt: 'cancelled by its person' });
      await window.hook('d', 'prompt', { prompt: 'asks' });
      await window.hook('d', 'before-tool', { tool: 'run_in_terminal', toolUse: 'x' });
      await pause(400);
      await ask(ann, window.home, 'well?');
      await ask(ann, await window.agentOf('d'), 'and you?');
      assert.equal((await window.woken()).chat, 'c');
      await pause(aWhile);
      assert.equal(window.wakes.length, 1);
      window.close();
    } finally {
      await hub.dispose();
    }
  });
});
