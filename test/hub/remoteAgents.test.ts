import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { AgentView } from '../../src/core/model.ts';
import { RemoteAgent, type RemoteAgentOptions } from '../support/a2a/remoteAgent.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;
const agents: RemoteAgent[] = [];
before(async () => {
  hub = await HubProcess.start({
    settings: { a2a: { pollSeconds: 0.05, pollAtMostSeconds: 0.2, healthMinutes: 0.01 } },
  });
});
after(async () => {
  await hub.dispose();
  for (const agent of agents) await agent.stop();
});

async function elsewhere(options: RemoteAgentOptions = {}): Promise<RemoteAgent> {
  const agent = await RemoteAgent.start(options);
  agents.push(agent);
  return agent;
}

async function add(client: BusClient, url: string, name?: string): Promise<{ agent: AgentView; known: boolean }> {
  const { agent, known } = (await client.call('register', { url, ...(name && { name }) })).data;
  assert.ok(agent);
  return { agent, known: known ?? false };
}

async function seen(client: BusClient, name: string): Promise<AgentView> {
  const { data } = await client.call('ping', { to: name });
  assert.ok('presence' in data);
  return data;
}

const refusedWith = (code: string, words: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, code, String(error));
  assert.match(String(error), words);
  return true;
};

describe('an agent elsewhere on the roster', () => {
  test('is called and described as its card says', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'Größte Helferin!' });
    const { agent, known } = await add(ann, there.url);
    assert.equal(known, false);
    assert.equal(agent.name, 'gro-te-helferin');
    assert.equal(agent.about, 'Does what the first word of a message says.');
    assert.deepEqual(agent.skills, ['Looking up', 'Summing up', 'search', 'facts']);
    assert.equal(agent.address, there.url);
    assert.equal(agent.product, 'a2a');
    assert.deepEqual(agent.reach, ['A2A']);
    assert.equal(agent.presence, 'idle');
  });

  test('has one address, however it is written', async () => {
    const [ann, bob] = await hub.strangers(2);
    const there = await elsewhere();
    const { agent } = await add(ann, there.url, 'one-agent');
    assert.equal(agent.name, 'one-agent');
    const spellings = [
      `${there.url}/`,
      there.url.toUpperCase(),
      `${there.url}/.well-known/agent-card.json?x=1#y`,
      there.url.replace('127.0.0.1', '2130706433'),
    ];
    for (const url of spellings) {
      const again = await add(bob, url, 'another-name');
      assert.equal(again.agent.name, 'one-agent');
      assert.equal(again.known, true);
    }
    const sent = (await bob.call('send', { to: `${there.url}/`, text: 'say hi', wait_seconds: 30 })).data;
    assert.deepEqual(sent.to, ['one-agent']);
    assert.equal(sent.answer?.text, 'hi');
  });

  test('is added by its address on the first message to it', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'on-the-fly' });
    const sent = (await ann.call('send', { to: there.url, text: 'say hi', wait_seconds: 30 })).data;
    assert.deepEqual(sent.to, ['on-the-fly']);
    assert.equal(sent.answer?.text, 'hi');
  });

  test('is one agent for two who add it in the same moment', async () => {
    const askers = await hub.strangers(4);
    const there = await elsewhere({ name: 'wanted' });
    const added = await Promise.all(askers.map((asker) => add(asker, there.url)));
    assert.deepEqual([...new Set(added.map(({ agent }) => agent.name))], ['wanted']);
    assert.equal(added.filter(({ known }) => !known).length, 1);
  });

  test('answers a ping, by name and by address; an unknown address gives nobody a name', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'pinged' });
    const before = await ann.call('ping', { to: there.url });
    assert.equal(typeof before.data.rtt_ms, 'number');
    await add(ann, there.url);
    assert.equal(typeof (await ann.call('ping', { to: 'pinged' })).data.rtt_ms, 'number');
    await there.stop();
    await assert.rejects(ann.call('ping', { to: there.url }), refusedWith('unreachable', /nobody listens there/));
  });

  test('is offline while it is down, and back when it is back', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'comes-and-goes' });
    await add(ann, there.url);
    await there.stop();
    const gone = await until('it is noticed', async () => {
      const agent = await seen(ann, 'comes-and-goes');
      return agent.presence === 'offline' ? agent : undefined;
    });
    assert.match(
      gone.reach[0] ?? '',
      /^A2A, once it is back: 127\.0\.0\.1:\d+ could not be reached: nobody listens there/,
    );
    await there.open();
    await until('it is back', async () => (await seen(ann, 'comes-and-goes')).presence === 'idle');
    assert.deepEqual((await seen(ann, 'comes-and-goes')).reach, ['A2A']);
  });

  test('gets what was sent to it while it was down', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'late' });
    await add(ann, there.url);
    await there.stop();
    const sent = (await ann.call('send', { to: 'late', text: 'do it later', kind: 'request' })).data;
    assert.equal(sent.request, 'pending');
    assert.equal(sent.recipients[0]?.step, 'held');
    assert.match(sent.recipients[0]?.note ?? '', /nobody listens there; it is tried again/);
    const { task } = (await ann.call('status', { id: sent.id })).data;
    assert.match(task?.progress ?? '', /not reached since/);
    await there.open();
    await until('it has answered', async () => {
      const { request, answer } = (await ann.call('status', { id: sent.id })).data;
      return request?.state === 'answered' && answer?.text === 'done: do it later';
    });
    assert.equal(there.heard.length, 1);
  });

  test('is tried again when it is busy, and fails for good when it says so', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'busy' });
    await add(ann, there.url);
    there.failsWith = 503;
    const { id } = (await ann.call('send', { to: 'busy', text: 'do it', kind: 'request' })).data;
    assert.equal((await ann.call('status', { id })).data.request?.state, 'pending');
    there.failsWith = undefined;
    await until('it has answered', async () => (await ann.call('status', { id })).data.request?.state === 'answered');
    there.failsWith = 400;
    const failed = (await ann.call('send', { to: 'busy', text: 'do it', wait_seconds: 30 })).data;
    assert.equal(failed.request, 'failed');
    assert.match(failed.note ?? '', /HTTP 400/);
  });

  test('tells of changes in its card', async () => {
    const [ann] = await hub.strangers(1);
    const card: Record<string, unknown> = { description: 'first' };
    const there = await elsewhere({ name: 'changing', card });
    await add(ann, there.url);
    card['description'] = 'second';
    await until('it was read again', async () => (await seen(ann, 'changing')).about === 'second');
  });
});

describe('removing', () => {
  test('only who added it and the person can; conversations stay', async () => {
    const [ann, bob] = await hub.strangers(2);
    const there = await elsewhere({ name: 'removable' });
    await add(ann, there.url);
    const { conversation } = (await bob.call('send', { to: 'removable', text: 'say hi', wait_seconds: 30 })).data;
    await assert.rejects(bob.call('register', { remove: 'removable' }), refusedWith('forbidden', /was added by/));
    assert.equal((await ann.call('register', { remove: 'removable' })).data.removed, 'removable');
    await assert.rejects(
      bob.call('send', { to: 'removable', text: 'hi' }),
      refusedWith('agent-removed', /left the bus/),
    );
    const { messages } = (await bob.call('conversation', { id: conversation })).data;
    assert.deepEqual(
      messages.map(({ text }) => text),
      ['say hi', 'hi'],
    );
    const other = await elsewhere({ name: 'removable-too' });
    await add(ann, other.url);
    const person = await hub.client();
    await person.call('register', { remove: 'removable-too' });
  });

  test('what runs there is cancelled there and fails here', async () => {
    const [ann] = await hub.strangers(1);
    const there = await elsewhere({ name: 'dismissed' });
    await add(ann, there.url);
    const { id } = (await ann.call('send', { to: 'dismissed', text: 'work on', kind: 'request' })).data;
    await until('it works', () => there.isAtWork('work on'));
    await ann.call('register', { remove: 'dismissed' });
    assert.deepEqual(there.cancelled, [there.taskOf('work on')]);
    const { request } = (await ann.call('status', { id })).data;
    assert.equal(request?.state, 'failed');
    assert.equal(request?.note, 'the agent left the bus');
  });

  test('its address brings the same agent back', async () => {
    const [ann, bob] = await hub.strangers(2);
    const there = await elsewhere({ name: 'returning' });
    await add(ann, there.url);
    const before = (await bob.call('send', { to: 'returning', text: 'say one', wait_seconds: 30 })).data;
    await ann.call('register', { remove: 'returning' });
    const back = await add(bob, there.url);
    assert.equal(back.known, false);
    assert.equal(back.agent.name, 'returning');
    const after = (await bob.call('send', { to: 'returning', text: 'say two', wait_seconds: 30 })).data;
    assert.equal(after.answer?.text, 'two');
    assert.equal(after.conversation, before.conversation);
    await hub.stop();
    await hub.start();
    const [cid] = await hub.strangers(1);
    const later = (await cid.call('send', { to: 'returning', text: 'say three', wait_seconds: 30 })).data;
    assert.equal(later.answer?.text, 'three');
    await assert.rejects(cid.call('register', { remove: 'returning' }), refusedWith('forbidden', /was added by/));
  });
});

describe('the person’s pause', () => {
  test('holds what goes out until it ends', async () => {
    const [ann] = await hub.strangers(1);
    const person = await hub.client();
    const there = await elsewhere({ name: 'paused' });
    await add(ann, there.url);
    await person.request('pause', { on: true });
    try {
      const sent = (await ann.call('send', { to: 'paused', text: 'do it', kind: 'request' })).data;
      assert.equal(sent.recipients[0]?.step, 'held');
      assert.equal(sent.recipients[0]?.note, 'paused by the person');
      assert.equal(there.heard.length, 0);
      await person.request('pause', { on: false });
      await until('it has answered', async () => {
        return (await ann.call('status', { id: sent.id })).data.request?.state === 'answered';
      });
    } finally {
      await person.request('pause', { on: false });
    }
  });
});
