/** What the person is asked before an agent is woken, and the brakes: consent, long chains, pause. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import type { AskResult } from '../../src/protocol/reachMessages.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { ask } from '../support/requests.ts';

const aWhile = 600;

let hub: HubProcess;
let person: BusClient;
let folders = 0;

async function twoWorkspaces(): Promise<{ from: BusClient; window: FakeWindow; pair: { from: string; to: string } }> {
  const pair = { from: `/w/web-${++folders}`, to: `/w/api-${folders}` };
  const from = await hub.client({ attach: { workspace: pair.from, product: 'copilot' }, reconnect: true });
  return { from, window: await FakeWindow.open(hub, { workspace: pair.to }), pair };
}

async function notes(from: BusClient, id: string): Promise<string[]> {
  const { recipients } = (await from.call('status', { id })).data;
  return recipients.flatMap(({ steps }) => steps.map(({ step, route, note }) => `${step} ${note ?? route ?? ''}`));
}

before(async () => {
  hub = await HubProcess.start();
  person = await hub.client({ reconnect: true });
});
after(() => hub.dispose());

describe('consent', () => {
  test('is asked for once, and "once" is for what waits', async () => {
    const { from, window } = await twoWorkspaces();
    let answer: (result: AskResult) => void = () => undefined;
    window.onAsk = () => new Promise((resolve) => (answer = resolve));
    const first = await ask(from, window.home, 'what does\nGET /orders return?');
    const question = await until('it asks', () => window.asks[0]);
    assert.deepEqual(question, {
      kind: 'consent',
      from: { agent: from.agent, workspace: `web-${folders}` },
      to: { agent: window.home, workspace: `api-${folders}` },
      message: { id: first, line: 'what does' },
      waiting: 1,
    });
    const second = await ask(from, window.home, 'and this?');
    await pause(aWhile);
    assert.equal(window.asks.length, 1);
    assert.equal(window.wakes.length, 0);
    assert.deepEqual(await notes(from, first), ['held waits for the person’s consent']);
    answer({ verdict: 'once' });
    assert.deepEqual((await window.woken()).ids, [first, second]);
    await until('it is shown', async () => (await notes(from, first)).includes('shown turn'));
    await window.hook(await window.ran(1), 'stop', { again: true });
    window.onAsk = () => ({ verdict: 'once' });
    await ask(from, window.home, 'later');
    await window.woken(2);
    assert.equal(window.asks.length, 2, 'the next delivery is another');
    assert.deepEqual(await person.request('consents', {}), []);
    window.close();
  });

  test('"always" and "never" are kept, listed and forgotten', async () => {
    const { from, window, pair } = await twoWorkspaces();
    await ask(from, window.home, 'one');
    await window.ran();
    const [kept] = await person.request('consents', {});
    assert.deepEqual({ ...kept, at: '' }, { ...pair, verdict: 'always', at: '' });
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    await window.hook(await window.ran(1), 'stop', { again: true });
    await ask(from, window.home, 'two');
    await window.woken(2);
    assert.equal(window.asks.length, 1);
    await person.request('forget', pair);
    assert.deepEqual(await person.request('consents', {}), []);
    await assert.rejects(person.request('forget', pair), { code: 'invalid-input' });
    window.onAsk = () => ({ verdict: 'never' });
    await window.hook(await window.ran(2), 'stop', { again: true });
    const id = await ask(from, window.home, 'three');
    await until('it is refused', async () => (await notes(from, id)).some((note) => note.includes('does not let')));
    assert.equal((await person.request('consents', {}))[0]?.verdict, 'never');
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 3);
    const other = await ask(from, window.home, 'four');
    await pause(aWhile);
    assert.equal(window.wakes.length, 2);
    assert.equal(window.asks.length, 2, 'the person has said so');
    const chat = await window.ran(2);
    assert.match((await window.hook(chat, 'prompt', { prompt: 'hi' })).context ?? '', /three[^]*four/);
    assert.equal((await window.hook(chat, 'stop')).block, undefined, 'nor is a turn held up for it');
    await until('it is shown', async () => (await notes(from, other)).includes('shown hook'));
    await person.request('forget', pair);
    window.close();
  });

  test('a closed question is no answer; the person can release the message', async () => {
    const { from, window, pair } = await twoWorkspaces();
    window.onAsk = () => ({ verdict: 'dismissed' });
    const id = await ask(from, window.home, 'well?');
    await until('it asks', () => window.asks.length === 1);
    await ask(from, window.home, 'hello?');
    await pause(aWhile);
    assert.equal(window.asks.length, 1);
    assert.equal(window.wakes.length, 0);
    await assert.rejects(from.request('release', { id, verdict: 'once' }), { code: 'forbidden' });
    await person.request('release', { id, verdict: 'once' });
    assert.deepEqual((await window.woken()).ids, [id]);
    await window.ran();
    assert.match(
      window.turns[0]?.answer.context ?? '',
      /hello\?/,
      'the other one rides along on the hook of this turn',
    );
    await window.hook(await window.ran(), 'stop', { again: true });
    const next = await ask(from, window.home, 'and this?');
    await until('it asks once more', () => window.asks.length === 2);
    await pause(aWhile);
    assert.equal(window.wakes.length, 1);
    await person.request('release', { id: next, verdict: 'always' });
    await window.woken(2);
    assert.deepEqual((await person.request('consents', {}))[0]?.to, pair.to);
    await person.request('forget', pair);
    window.close();
  });

  test('is asked for again when the window went away with the question open', async () => {
    const { from, window } = await twoWorkspaces();
    window.onAsk = () => new Promise(() => undefined);
    await ask(from, window.home, 'well?');
    await until('it asks', () => window.asks.length === 1);
    window.close();
    await pause(50);
    const again = await FakeWindow.open(hub, { workspace: window.workspace, verdict: 'once' });
    await again.woken();
    assert.equal(again.asks.length, 1);
    again.close();
  });

  test('is not needed by the person, nor within a workspace', async () => {
    const { window } = await twoWorkspaces();
    await ask(person, window.home, 'please');
    await window.woken();
    await window.hook(await window.ran(1), 'stop', { again: true });
    await ask(await hub.client({ attach: { workspace: window.workspace, product: 'x' } }), window.home, 'hi');
    await window.woken(2);
    assert.equal(window.asks.length, 0);
    const [nomad] = await hub.strangers(1);
    await window.hook(await window.ran(2), 'stop', { again: true });
    await ask(nomad, window.home, 'from nowhere');
    await window.woken(3);
    assert.equal(window.asks.length, 1);
    assert.deepEqual(
      (await person.request('consents', {})).map(({ from, to }) => [from, to]),
      [[nomad.agent, window.workspace]],
    );
    await person.request('forget', { from: nomad.agent, to: window.workspace });
    window.close();
  });
});

describe('a long chain of messages', () => {
  /** Two windows of one folder that ask each other again and again, each in the turn that the other's question began. */
  async function loop(withReply: boolean): Promise<{ windows: [FakeWindow, FakeWindow]; asked: string[] }> {
    const workspace = `/w/loop-${++folders}`;
    const windows: [FakeWindow, FakeWindow] = [
      await FakeWindow.open(hub, { workspace }),
      await FakeWindow.open(hub, { workspace }),
    ];
    const asked: string[] = [];
    for (const [i, window] of windows.entries()) {
      const other = windows[1 - i] as FakeWindow;
      window.onAsk = () => new Promise(() => undefined);
      window.onWake = (wake) => {
        window.inBackground(async () => {
          const chat = wake.chat ?? `loop-${i}`;
          await window.hook(chat, 'prompt', { prompt: wake.prompt });
          const reply = withReply ? { reply_to: wake.ids[0] } : {};
          asked.push(await ask(window.client, other.home, `ping ${asked.length}`, reply));
          await window.hook(chat, 'stop', { again: true });
        });
        return { rung: 'turn' };
      };
    }
    return { windows, asked };
  }

  for (const withReply of [true, false]) {
    test(`stops for the person's word, ${withReply ? 'with' : 'without'} reply_to`, async () => {
      const { windows, asked } = await loop(withReply);
      const [one, two] = windows;
      await ask(person, one.home, 'start');
      const question = await until('somebody asks', () => [...one.asks, ...two.asks][0]);
      assert.equal(question.kind, 'hops');
      assert.equal(question.kind === 'hops' && question.hops, 8);
      await pause(aWhile);
      assert.equal(one.wakes.length + two.wakes.length, 8);
      const held = asked.at(-1) ?? '';
      assert.deepEqual(await notes(person, held), [
        'held held after 8 messages in a chain: the person decides whether it goes on',
      ]);
      await person.request('release', { id: held, verdict: 'once' });
      await until('it goes on', () => one.wakes.length + two.wakes.length === 16);
      await pause(aWhile);
      assert.equal(one.wakes.length + two.wakes.length, 16, 'and stops again');
      one.close();
      two.close();
    });
  }

  test('goes on, or ends, by the answer to the question', async () => {
    const { windows } = await loop(false);
    const [one, two] = windows;
    let answers = 0;
    for (const window of windows) window.onAsk = () => ({ verdict: ++answers === 1 ? 'once' : 'never' });
    await ask(person, one.home, 'start');
    await until('both questions', () => one.asks.length + two.asks.length === 2);
    await pause(aWhile);
    assert.equal(one.wakes.length + two.wakes.length, 16);
    assert.equal(answers, 2);
    one.close();
    two.close();
  });

  test('does not come of many questions in one turn of the person’s', async () => {
    const workspace = `/w/many-${++folders}`;
    const window = await FakeWindow.open(hub, { workspace });
    await window.hook('c', 'prompt', { prompt: 'ask around' });
    const [bob] = await hub.strangers(1);
    for (let i = 0; i < 12; i++) {
      const answer = window.client.call('send', { to: bob.agent, text: `q${i}`, kind: 'request', wait_seconds: 20 });
      const { messages } = (await bob.call('inbox', { wait_seconds: 20 })).data;
      bob.shown([messages[0]?.id ?? '']);
      await bob.call('send', { reply_to: messages[0]?.id, text: 'a' });
      const { data, shown } = await answer;
      assert.equal(data.request, 'answered');
      window.client.shown(shown, 'answer');
    }
    window.close();
  });
});

describe('pause', () => {
  test('stops every push and no answer; its end delivers what waited', async () => {
    const workspace = `/w/pause-${++folders}`;
    const window = await FakeWindow.open(hub, { workspace });
    const ann = await hub.client({ attach: { workspace, product: 'x' }, reconnect: true });
    const events: HubEvent[] = [];
    await ann.subscribe({ onEvent: (event) => events.push(event) });
    await person.request('pause', { on: true });
    await until('it is told', () => events.some((event) => event.type === 'paused' && event.paused));
    assert.equal((await hub.status()).paused, true);
    const id = await ask(ann, window.home, 'well?');
    await until('it is held', async () => (await notes(ann, id)).length > 0);
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    assert.equal((await hub.status()).paused, true, 'a pause outlives the hub');
    await pause(aWhile);
    assert.deepEqual(await notes(ann, id), ['held paused by the person']);
    assert.equal((await window.hook('c', 'prompt', { prompt: 'hi' })).context, undefined);
    assert.equal((await window.hook('c', 'before-tool', { tool: 'x' })).context, undefined);
    assert.equal((await window.hook('c', 'after-tool', { tool: 'x' })).context, undefined);
    assert.equal((await window.hook('c', 'stop')).block, undefined);
    const { agents } = (await ann.call('agents', {})).data;
    assert.deepEqual(agents.find(({ name }) => name === window.home)?.reach, ['inbox']);
    const { text } = await window.client.callForModel('inbox', {});
    assert.match(text, /\nwell\?\n/);
    assert.equal(window.wakes.length, 0);
    await person.request('pause', { on: false });
    assert.deepEqual((await window.woken()).ids, [id], 'nobody has reported the inbox as shown');
    assert.equal((await hub.status()).paused, false);
    window.close();
  });
});
