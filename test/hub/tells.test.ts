/** "Tell me when": an agent is idle, a request has ended. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { BusError } from '../../src/core/errors.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';

let hub: HubProcess;
let folders = 0;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

async function working(): Promise<FakeWindow> {
  const window = await FakeWindow.open(hub, { workspace: `/w/tell-${++folders}` });
  await window.hook('c', 'prompt', { prompt: 'do something' });
  return window;
}

async function told(reader: BusClient): Promise<string[]> {
  const { data } = await reader.call('inbox', { filter: 'all', from: 'agent-bus', limit: 100 });
  return data.messages.map(({ text }) => text);
}

async function tells(reader: BusClient): Promise<unknown[]> {
  const { data } = await reader.call('status', {});
  return 'requests' in data ? (data.tells ?? []).map(({ until: _, ...what }) => what) : [];
}

describe('an agent that becomes idle', () => {
  test('is told of once, and not before it is known to be', async () => {
    const window = await working();
    const [ann] = await hub.strangers(1);
    const wish = { agent: window.home, tell: true };
    assert.deepEqual((await ann.call('status', wish)).data, {
      agent: window.home,
      presence: 'working',
      idle: false,
      telling: true,
    });
    await ann.call('status', wish);
    assert.deepEqual(await tells(ann), [{ idle: window.home }]);
    await window.hook('c', 'before-tool', { tool: 'run', toolUse: 't' });
    await window.hook('c', 'after-tool', { tool: 'run', toolUse: 't' });
    assert.deepEqual(await told(ann), []);
    await window.hook('c', 'stop');
    await until('she is told', async () => (await told(ann)).length > 0);
    await window.hook('c', 'prompt', { prompt: 'more' });
    await window.hook('c', 'stop');
    await pause(300);
    assert.deepEqual(await told(ann), [`You wanted to be told: ${window.home} is idle now.`]);
    assert.deepEqual(await tells(ann), []);
    const person = await hub.client();
    const { conversations } = await person.request('overview', { filter: 'all', limit: 50 });
    assert.deepEqual(
      conversations.flatMap(({ title, notices }) => (notices === undefined ? [] : [{ title, notices }])),
      [{ title: `agent-bus, ${ann.agent}`, notices: 'agent-bus' }],
    );
    window.close();
  });

  test('is not told of when it merely goes away, nor when the wish was taken back', async () => {
    const window = await working();
    const agent = window.home;
    const [ann, bob] = await hub.strangers(2);
    for (const who of [ann, bob]) await who.call('status', { agent, tell: true });
    const off = (await bob.call('status', { agent, tell: false })).data;
    assert.equal('telling' in off && off.telling, false);
    window.close();
    await until('it is gone', async () => {
      const { data } = await ann.call('status', { agent });
      return 'presence' in data && data.presence === 'offline';
    });
    await pause(300);
    assert.deepEqual(await told(ann), []);
    await window.connect();
    await until('she is told', async () => {
      await window.hook('c', 'stop');
      return (await told(ann)).length === 1;
    });
    assert.deepEqual(await told(bob), []);
    window.close();
  });

  test('is said at once where it is idle already, and nothing is kept', async () => {
    const window = await working();
    await window.hook('c', 'stop');
    const [ann] = await hub.strangers(1);
    const { data } = await ann.call('status', { agent: window.home, tell: true });
    assert.deepEqual(['idle' in data && data.idle, 'telling' in data && data.telling], [true, false]);
    assert.deepEqual(await tells(ann), []);
    await assert.rejects(ann.call('status', { agent: ann.agent, tell: true }), /wait for yourself/);
    await assert.rejects(ann.call('status', { agent: 'nobody-here', tell: true }), unknown('unknown-agent'));
    await assert.rejects(ann.call('status', { tell: true }), unknown('invalid-input'));
    window.close();
  });

  test('is told of after a restart of the hub, and wakes who wanted to know', async () => {
    const window = await working();
    const reader = await FakeWindow.open(hub, { workspace: '/w/wants-to-know' });
    await reader.hook('r', 'prompt', { prompt: 'hi' });
    await reader.hook('r', 'stop');
    const asker = await hub.client({ as: reader.home, passing: true, reconnect: true });
    await asker.call('status', { agent: window.home, tell: true });
    await hub.kill();
    await hub.start();
    await until('both are back', () => window.carried > 1 && reader.carried > 1);
    await window.hook('c', 'stop');
    assert.match((await reader.woken()).prompt, new RegExp(`You wanted to be told: ${window.home} is idle now\\.`));
    for (const one of [window, reader]) one.close();
  });

  test('may leave instead, and that is told', async () => {
    const window = await working();
    const [ann] = await hub.strangers(1);
    await ann.call('status', { agent: window.home, tell: true });
    const person = await hub.client();
    await person.request('remove', { name: window.home });
    await until('she is told', async () => (await told(ann))[0]?.includes('it has left the bus'));
    window.close();
  });
});

describe('a request that ends', () => {
  test('is told of to those who may see it, with who has answered', async () => {
    const [ann, bob, cid, dan] = await hub.strangers(4);
    const { id } = (await ann.call('send', { to: [bob.agent, cid.agent], text: 'who?', kind: 'request' })).data;
    assert.equal((await cid.call('status', { id, tell: true })).data.telling, true);
    await assert.rejects(dan.call('status', { id, tell: true }), unknown('unknown-message'));
    const own = (await ann.callForModel('status', { id, tell: true })).text;
    assert.match(own, /It is your own request: its answer, or a notice of its end, comes to your inbox by itself\./);
    const person = await hub.client();
    assert.equal((await person.call('status', { id, tell: true })).data.telling, true);
    assert.equal((await person.call('status', { id, tell: false })).data.telling, undefined);
    const reply = (await bob.call('send', { reply_to: id, text: 'me' })).data.id;
    const [text, ...more] = await until('cid is told', async () => {
      const all = await told(cid);
      return all.length > 0 ? all : undefined;
    });
    assert.equal(
      text,
      `You wanted to be told: request ${id} to ${bob.agent}, ${cid.agent} is answered by ${bob.agent} (${reply}).\nAsked: "who?"`,
    );
    assert.deepEqual([more, await told(ann), await told(person)], [[], [], []]);
    const late = (await cid.callForModel('status', { id, tell: true })).text;
    assert.match(late, /It has ended already/);
    assert.deepEqual(await tells(cid), []);
  });

  test('may have been cancelled', async () => {
    const [ann, bob] = await hub.strangers(2);
    const { id } = (await ann.call('send', { to: bob.agent, text: 'hm', kind: 'request' })).data;
    await bob.call('status', { id, tell: true });
    await ann.call('status', { id, cancel: true });
    await until('bob is told', async () => (await told(bob))[0]?.includes(`is cancelled.`));
  });
});

test('a wish lapses with a word, also over a restart', async () => {
  const quick = await HubProcess.start({ settings: { reach: { tellHours: 0.0005 } } });
  try {
    const window = await FakeWindow.open(quick, { workspace: '/w/busy' });
    await window.hook('c', 'prompt', { prompt: 'long' });
    const [ann] = await quick.agents(['ann'], { reconnect: true });
    await ann.call('status', { agent: window.home, tell: true });
    await quick.kill();
    await quick.start();
    const texts = await until('it lapses', async () => {
      const all = await told(ann);
      return all.length > 0 ? all : undefined;
    });
    assert.deepEqual(texts.length, 1);
    assert.match(texts[0] ?? '', /^You wanted to be told when busy-copilot is idle: that has not happened in /);
    window.close();
  } finally {
    await quick.dispose();
  }
});

function unknown(code: string): (error: unknown) => boolean {
  return (error) => error instanceof BusError && error.code === code;
}
