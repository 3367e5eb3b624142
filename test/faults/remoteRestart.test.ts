import assert from 'node:assert/strict';
import { after, afterEach, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { MessageView } from '../../src/core/model.ts';
import { RemoteAgent, type RemoteAgentOptions } from '../support/a2a/remoteAgent.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

const rounds = Number(process.env['AGENT_BUS_CRASH_ROUNDS'] ?? 15);

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.dispose();
});
after(() => assert.equal(open.length, 0));

interface Scene {
  hub: HubProcess;
  agent: RemoteAgent;
  asker: BusClient;
}

async function scene(options: RemoteAgentOptions, a2a: Record<string, unknown> = {}): Promise<Scene> {
  const settings = { a2a: { pollSeconds: 0.05, pollAtMostSeconds: 0.2, ...a2a } };
  const hub = await HubProcess.start({ settings });
  const agent = await RemoteAgent.start({ name: 'there', ...options });
  open.push(hub, { dispose: () => agent.stop() });
  const [asker] = await hub.agents(['asker']);
  await asker.call('register', { url: agent.url });
  return { hub, agent, asker };
}

async function ask(asker: BusClient, text: string): Promise<string> {
  return (await asker.call('send', { to: 'there', text, kind: 'request' })).data.id;
}

/** Kills the hub and starts it again; the asker as it is then. */
async function killed(hub: HubProcess, meanwhile: () => unknown = () => undefined): Promise<BusClient> {
  await hub.kill();
  await meanwhile();
  await hub.start();
  return hub.client({ as: 'asker' });
}

async function repliesTo(asker: BusClient, id: string): Promise<MessageView[]> {
  const { messages } = (await asker.call('inbox', { filter: 'all', limit: 100 })).data;
  return messages.filter((message) => message.reply_to === id && message.kind === 'reply');
}

async function endOf(asker: BusClient, id: string): Promise<{ state: string | undefined; note?: string | undefined }> {
  return until(`${id} has ended`, async () => {
    const { request } = (await asker.call('status', { id })).data;
    return request?.state === 'pending' ? undefined : { state: request?.state, note: request?.note };
  });
}

/** Answered, once, with this. */
async function answered(asker: BusClient, id: string, text: string): Promise<void> {
  assert.equal((await endOf(asker, id)).state, 'answered');
  assert.deepEqual(
    (await repliesTo(asker, id)).map((reply) => reply.text),
    [text],
  );
}

const wires: [string, RemoteAgentOptions][] = [
  ['by polling', {}],
  ['by stream', { streaming: true }],
  ['by polling, 0.3', { version: '0.3' }],
  ['by stream, 0.3', { version: '0.3', streaming: true }],
];

describe('the hub is killed while an agent elsewhere works', () => {
  for (const [wire, options] of wires) {
    test(`followed ${wire}`, async () => {
      const { hub, agent, asker } = await scene(options);
      const late = await ask(asker, 'work long');
      const early = await ask(asker, 'work short');
      const asks = await ask(asker, 'ask and wait');
      const find = async (client: BusClient): Promise<MessageView[]> => {
        const { messages } = (await client.call('inbox', { filter: 'all' })).data;
        return messages.filter((message) => message.kind === 'request');
      };
      await until('it works', () => agent.isAtWork('work long') && agent.isAtWork('work short'));
      await until('it asks', async () => (await find(asker)).length > 0);
      const again = await killed(hub, () => agent.finish('work short', 'meanwhile'));
      await answered(again, early, 'meanwhile');
      agent.progress('work long', 'still at it');
      await until('the new hub follows it', async () => {
        return (await again.call('status', { id: late })).data.task?.progress === 'still at it';
      });
      agent.finish('work long', 'at last');
      await answered(again, late, 'at last');
      const [question, ...more] = await find(again);
      assert.deepEqual(more, []);
      await again.call('send', { reply_to: question?.id ?? '', text: 'yes' });
      await answered(again, asks, 'you said: yes');
      assert.deepEqual(
        agent.heard.map(({ text }) => text),
        ['work long', 'work short', 'ask and wait', 'yes'],
      );
      assert.equal(agent.taskOf('yes'), agent.taskOf('ask and wait'));
    });
  }
});

describe('the hub is killed', () => {
  test('before it knows that the agent has the message', async () => {
    const { hub, agent, asker } = await scene({});
    agent.mute = true;
    const id = await ask(asker, 'work unheard');
    await until('it works', () => agent.isAtWork('work unheard'));
    agent.mute = false;
    const again = await killed(hub);
    await until('the new hub has found it', async () => {
      return (await again.call('status', { id })).data.task?.state === 'working';
    });
    agent.finish('work unheard', 'found');
    await answered(again, id, 'found');
    assert.equal(agent.heard.length, 1);
  });

  test('and one that can’t be asked for its tasks gets the same message again', async () => {
    const { hub, agent, asker } = await scene({ version: '0.3' });
    agent.mute = true;
    const id = await ask(asker, 'do twice');
    await until('it was heard', () => agent.heard.length === 1);
    agent.mute = false;
    const again = await killed(hub);
    await answered(again, id, 'done: do twice');
    assert.equal(agent.heard.length, 2);
    assert.equal(agent.heard[0]?.id, agent.heard[1]?.id);
  });

  test('while the agent is away', async () => {
    const { hub, agent, asker } = await scene({});
    await agent.stop();
    const id = await ask(asker, 'do it later');
    const again = await killed(hub);
    assert.equal((await again.call('status', { id })).data.request?.state, 'pending');
    await agent.open();
    await answered(again, id, 'done: do it later');
    assert.equal(agent.heard.length, 1);
  });

  test('before it could tell the agent that nobody wants the answer any more', async () => {
    const { hub, agent, asker } = await scene({});
    const id = await ask(asker, 'work in vain');
    await until('it works', () => agent.isAtWork('work in vain'));
    agent.mute = true;
    await asker.call('status', { id, cancel: true });
    const again = await killed(hub, () => (agent.mute = false));
    await until('it was told', async () => {
      const { recipients } = (await again.call('status', { id })).data;
      return recipients[0]?.steps.some(({ step, route, note }) => step === 'cancelled' && route === 'a2a' && note);
    });
    assert.equal((await endOf(again, id)).state, 'cancelled');
    assert.ok(agent.cancelled.length > 0);
  });

  test(`${rounds} times at any moment, and everything is done once and answered once`, async () => {
    const random = seededRandom(testSeed());
    const { hub, agent } = await scene({ streaming: true });
    let sent = 0;
    const ids = new Map<string, string>();
    for (let round = 0; round < rounds; round++) {
      const client = await hub.client({ as: 'asker' });
      const sends = Array.from({ length: 3 }, async () => {
        const key = `k${sent++}`;
        for (;;) {
          try {
            const { data } = await client.call('send', { to: 'there', text: `do ${key}`, kind: 'request', key });
            return ids.set(key, data.id);
          } catch {
            // The hub is gone: the next round asks again, with the same key.
            return undefined;
          }
        }
      });
      await Promise.race([Promise.all(sends), pause(random() * 60)]);
      await hub.kill();
      await Promise.all(sends);
      hub.close(client);
      await hub.start();
    }
    const asker = await hub.client({ as: 'asker' });
    for (let n = 0; n < sent; n++) {
      const { data } = await asker.call('send', { to: 'there', text: `do k${n}`, kind: 'request', key: `k${n}` });
      ids.set(`k${n}`, data.id);
    }
    for (const id of ids.values()) assert.equal((await endOf(asker, id)).state, 'answered');
    const replies = new Map<string, number>();
    for (let cursor: string | undefined; ;) {
      const page = (await asker.call('inbox', { filter: 'all', limit: 100, ...(cursor && { cursor }) })).data;
      for (const { reply_to: to = '' } of page.messages) replies.set(to, (replies.get(to) ?? 0) + 1);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    assert.deepEqual([...new Set(replies.values())], [1]);
    assert.equal(replies.size, sent);
    const times = new Map<string, number>();
    for (const { text } of agent.heard) times.set(text, (times.get(text) ?? 0) + 1);
    assert.equal(times.size, sent);
    assert.deepEqual(
      [...times].filter(([, count]) => count > 1),
      [],
    );
  });
});

describe('the agent is restarted in the middle', () => {
  for (const streaming of [false, true]) {
    test(`and keeps its tasks${streaming ? ', which were streamed' : ''}`, async () => {
      const { agent, asker } = await scene({ streaming });
      const id = await ask(asker, 'work on');
      await until('it works', () => agent.isAtWork('work on'));
      await agent.restart({ forget: false });
      await agent.finishKept('work on', 'kept');
      await answered(asker, id, 'kept');
      assert.equal(agent.heard.length, 1);
    });

    test(`and forgets its tasks${streaming ? ', which were streamed' : ''}`, async () => {
      const { agent, asker } = await scene({ streaming });
      const id = await ask(asker, 'work on');
      await until('it works', () => agent.isAtWork('work on'));
      await agent.restart({ forget: true });
      const { state, note } = await endOf(asker, id);
      assert.equal(state, 'failed');
      assert.match(note ?? '', /does not know the task any more/);
    });
  }

  test('and is given up when it does not come back', async () => {
    const { agent, asker } = await scene({}, { unreachableHours: 0.0002 });
    const id = await ask(asker, 'work on');
    await until('it works', () => agent.isAtWork('work on'));
    await agent.stop();
    const { state, note } = await endOf(asker, id);
    assert.equal(state, 'failed');
    assert.match(note ?? '', /could not be reached since 20.*nobody listens there/);
  });
});
