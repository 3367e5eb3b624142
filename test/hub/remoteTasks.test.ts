import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { MessageView } from '../../src/core/model.ts';
import { RemoteAgent, type RemoteAgentOptions } from '../support/a2a/remoteAgent.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { ask } from '../support/requests.ts';

let hub: HubProcess;
const agents: RemoteAgent[] = [];
before(async () => {
  hub = await HubProcess.start({ settings: { a2a: { pollSeconds: 0.05, pollAtMostSeconds: 0.2 } } });
});
after(async () => {
  await hub.dispose();
  for (const agent of agents) await agent.stop();
});

/** Somebody who asks, an agent elsewhere, and its name on the bus. */
async function pair(options: RemoteAgentOptions = {}): Promise<{ asker: BusClient; agent: RemoteAgent; name: string }> {
  const [asker] = await hub.strangers(1);
  const agent = await RemoteAgent.start(options);
  agents.push(agent);
  const { agent: added } = (await asker.call('register', { url: agent.url })).data;
  return { asker, agent, name: added?.name ?? '' };
}

async function stateOf(asker: BusClient, id: string): Promise<string | undefined> {
  return (await asker.call('status', { id })).data.request?.state;
}

async function ended(asker: BusClient, id: string, state = 'answered'): Promise<MessageView> {
  await until(`${id} has ended`, async () => (await stateOf(asker, id)) !== 'pending');
  const status = (await asker.call('status', { id })).data;
  assert.equal(status.request?.state, state, JSON.stringify(status));
  assert.ok(status.answer);
  return status.answer;
}

async function newest(reader: BusClient, kind: string): Promise<MessageView | undefined> {
  const { messages } = (await reader.call('inbox', { filter: 'all', limit: 100 })).data;
  return messages.findLast((message) => message.kind === kind);
}

async function stepsOf(asker: BusClient, id: string): Promise<string[]> {
  const { recipients } = (await asker.call('status', { id })).data;
  return (recipients[0]?.steps ?? []).map(({ step, route }) => [step, route].filter(Boolean).join(' '));
}

const wires: [string, RemoteAgentOptions][] = [
  ['1.0, JSON-RPC', {}],
  ['1.0, JSON-RPC, streaming', { streaming: true }],
  ['1.0, HTTP+JSON', { binding: 'HTTP+JSON' }],
  ['1.0, HTTP+JSON, streaming', { binding: 'HTTP+JSON', streaming: true }],
  ['0.3, JSON-RPC', { version: '0.3' }],
  ['0.3, JSON-RPC, streaming', { version: '0.3', streaming: true }],
  ['0.3, HTTP+JSON, streaming', { version: '0.3', binding: 'HTTP+JSON', streaming: true }],
];

for (const [wire, options] of wires) {
  describe(`an agent elsewhere over ${wire}`, () => {
    test('answers at once, by a message and by a task', async () => {
      const { asker, agent, name } = await pair(options);
      const sent = (await asker.call('send', { to: name, text: 'say hello', wait_seconds: 30 })).data;
      assert.equal(sent.request, 'answered');
      assert.equal(sent.answer?.text, 'hello');
      assert.equal(sent.answer?.from, name);
      assert.equal(sent.answer?.reply_to, sent.id);
      const done = (await asker.call('send', { to: name, text: 'do it', wait_seconds: 30 })).data;
      assert.equal(done.answer?.text, 'done: do it');
      assert.deepEqual(
        agent.heard.map(({ text }) => text),
        ['say hello', 'do it'],
      );
      assert.deepEqual(await stepsOf(asker, done.id), ['offered a2a', 'shown a2a', 'replied']);
      const { a2a } = done.answer?.data as { a2a: { task: string } };
      assert.equal(a2a.task, agent.taskOf('do it'));
    });

    test('works for long, tells how far it is, and answers into the inbox', async () => {
      const { asker, agent, name } = await pair(options);
      const sent = (await asker.call('send', { to: name, text: 'work on it', kind: 'request' })).data;
      assert.equal(sent.request, 'pending');
      assert.equal(sent.recipients[0]?.step, 'shown');
      agent.progress('work on it', 'half done');
      await until('the progress is seen', async () => {
        const { task, request } = (await asker.call('status', { id: sent.id })).data;
        return task?.state === 'working' && task.progress === 'half done' && request?.state === 'pending';
      });
      const presence = async (): Promise<unknown> => {
        const { data } = await asker.call('ping', { to: name });
        return 'presence' in data && data.presence;
      };
      assert.equal(await presence(), 'working');
      agent.finish('work on it', 'here it is');
      assert.equal((await ended(asker, sent.id)).text, 'here it is');
      assert.equal((await newest(asker, 'reply'))?.text, 'here it is');
      assert.equal((await asker.call('status', { id: sent.id })).data.task?.state, 'completed');
      assert.equal(agent.heard.length, 1);
      await until('it is idle', async () => (await presence()) === 'idle');
    });

    test('fails and rejects with its reason', async () => {
      const { asker, name } = await pair(options);
      const failed = await ended(asker, await ask(asker, name, 'fail out of ink'), 'failed');
      assert.equal(failed.text, 'out of ink');
      const id = await ask(asker, name, 'reject not my job');
      assert.equal((await ended(asker, id, 'failed')).text, 'not my job');
      assert.equal((await asker.call('status', { id })).data.request?.note, 'rejected: not my job');
    });

    test('asks back, and goes on with the answer', async () => {
      const { asker, agent, name } = await pair(options);
      const id = await ask(asker, name, 'ask which colour?');
      const question = await until('it asks', () => newest(asker, 'request'));
      assert.equal(question.text, 'which colour?');
      assert.equal(question.from, name);
      assert.equal(question.reply_to, id);
      assert.equal(await stateOf(asker, id), 'pending');
      assert.equal((await asker.call('status', { id })).data.task?.state, 'input-required');
      await asker.call('send', { text: 'red', reply_to: question.id });
      assert.equal((await ended(asker, id)).text, 'you said: red');
      const [first, second] = agent.heard;
      assert.equal(second?.task, first?.task);
      assert.equal(second?.context, first?.context);
    });

    test('is told when nobody wants the answer any more', async () => {
      const { asker, agent, name } = await pair(options);
      const id = await ask(asker, name, 'work in vain');
      await until('it works', () => agent.isAtWork('work in vain'));
      await asker.call('status', { id, cancel: true });
      await until('it was told', () => agent.cancelled.length === 1);
      const note = await until('what it said is noted', async () => {
        const { recipients } = (await asker.call('status', { id })).data;
        return recipients[0]?.steps.find((step) => step.route === 'a2a' && step.step === 'cancelled')?.note;
      });
      assert.equal(note, 'the agent has cancelled its task');
      assert.equal(await stateOf(asker, id), 'cancelled');
      assert.equal((await asker.call('status', { id })).data.task?.state, 'canceled');
    });

    test('keeps to one context per conversation', async () => {
      const { asker, agent, name } = await pair(options);
      const [other] = await hub.strangers(1);
      await Promise.all([ask(asker, name, 'do one'), ask(asker, name, 'say two'), ask(asker, name, 'do three')]);
      await ended(asker, await ask(asker, name, 'do four'));
      await ended(other, await ask(other, name, 'do five'));
      const contexts = agent.heard.map(({ text, context }) => [text, context]);
      const [own] = new Set(contexts.slice(0, 4).map(([, context]) => context));
      assert.equal(new Set(contexts.slice(0, 4).map(([, context]) => context)).size, 1, JSON.stringify(contexts));
      assert.notEqual(contexts[4]?.[1], own);
    });
  });
}

describe('what an agent elsewhere makes', () => {
  test('bytes become a file, data stays data', async () => {
    const { asker, name } = await pair();
    const answer = await ended(asker, await ask(asker, name, 'bytes 100000'));
    const [file = ''] = answer.files ?? [];
    assert.equal(statSync(file).size, 100_000);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(basename(file), /^m[0-9a-z]+-[0-9a-f]{8}-1-picture_one\.png$/);
    const { a2a } = answer.data as { a2a: { artifacts: { parts: Record<string, unknown>[] }[] } };
    const [bytes, data, url] = a2a.artifacts[0]?.parts ?? [];
    assert.equal(bytes?.['file'], file);
    assert.deepEqual(data, { data: { answer: [42] } });
    assert.deepEqual(url, { url: 'https://example.com/a.pdf' });
  });

  test('a few bytes stay in the data', async () => {
    const { asker, name } = await pair({ version: '0.3' });
    const answer = await ended(asker, await ask(asker, name, 'bytes 10'));
    assert.equal(answer.files, undefined);
    const { a2a } = answer.data as { a2a: { artifacts: { parts: Record<string, unknown>[] }[] } };
    assert.equal(a2a.artifacts[0]?.parts[0]?.['raw'], Buffer.alloc(10, 7).toString('base64'));
  });

  test('a text that no message can hold is whole in a file', async () => {
    const { asker, name } = await pair({ streaming: true });
    const answer = await ended(asker, await ask(asker, name, 'long 6000000'));
    const [file = ''] = answer.files ?? [];
    assert.equal(readFileSync(file, 'utf8'), 'x'.repeat(6_000_000));
    assert.ok(answer.text.includes(file) && answer.text.length < 30_000);
    assert.ok(existsSync(file));
  });

  test('chunks of one text are one text', async () => {
    const { asker, agent, name } = await pair({ streaming: true });
    const id = await ask(asker, name, 'work in pieces');
    await until('it works', () => agent.isAtWork('work in pieces'));
    for (const piece of ['one ', 'two ', 'three']) agent.chunk('work in pieces', piece);
    agent.finish('work in pieces', '');
    assert.equal((await ended(asker, id)).text, 'one two three');
  });

  test('an answer to an inform comes as a reply', async () => {
    const { asker, name } = await pair();
    const { id } = (await asker.call('send', { to: name, text: 'do as I say', kind: 'inform' })).data;
    const reply = await until('it answers', () => newest(asker, 'reply'));
    assert.equal(reply.reply_to, id);
    assert.equal(reply.text, 'done: do as I say');
  });

  test('data and options go along', async () => {
    const { asker, agent, name } = await pair();
    await ended(asker, await ask(asker, name, 'do it', { data: { n: 1 }, options: ['yes', 'no'] }));
    const contents = agent.heard[0]?.parts.map(({ content }) => content?.value as unknown);
    assert.deepEqual(contents, ['do it', { n: 1 }, { options: ['yes', 'no'] }]);
    assert.deepEqual(agent.heard[0]?.metadata?.['agentBus'], { from: asker.agent, kind: 'request' });
  });
});

describe('going on with a task', () => {
  test('a further request about it is answered with it', async () => {
    const { asker, agent, name } = await pair({ streaming: true });
    const id = await ask(asker, name, 'work on it');
    await until('it works', () => agent.isAtWork('work on it'));
    const more = (await asker.call('send', { text: 'and more', kind: 'request', reply_to: id })).data.id;
    assert.equal((await ended(asker, id)).text, 'you said: and more');
    assert.equal((await ended(asker, more)).text, 'you said: and more');
    assert.equal(agent.taskOf('and more'), agent.taskOf('work on it'));
  });

  test('what it needs to be authorised for is asked, too', async () => {
    const { asker, name } = await pair();
    const id = await ask(asker, name, 'auth please log in');
    const question = await until('it asks', () => newest(asker, 'request'));
    assert.equal(question.text, 'It is to be authorised first: please log in');
    await asker.call('send', { text: 'done so', reply_to: question.id });
    assert.equal((await ended(asker, id)).text, 'you said: done so');
  });

  test('it is cancelled when it expires', async () => {
    const { asker, agent, name } = await pair();
    const id = await ask(asker, name, 'work too long', { expires_seconds: 1 });
    await until('it works', () => agent.isAtWork('work too long'));
    await until('it was told', () => agent.cancelled.includes(agent.taskOf('work too long')));
    assert.equal(await stateOf(asker, id), 'expired');
  });

  test('it is listed by its state', async () => {
    const { asker, agent, name } = await pair();
    const id = await ask(asker, name, 'work for the list');
    await until('it works', () => agent.isAtWork('work for the list'));
    const { requests } = (await asker.call('status', { state: 'pending' })).data as {
      requests: { id: string; task?: { state: string } }[];
    };
    assert.deepEqual(
      requests.map((request) => [request.id, request.task?.state]),
      [[id, 'working']],
    );
    agent.finish('work for the list');
    await ended(asker, id);
  });
});

describe('several at once', () => {
  test('one message to two agents is a task for each', async () => {
    const { asker, name } = await pair();
    const { agent: other, name: otherName } = await pair();
    const { id } = (await asker.call('send', { to: [name, otherName], text: 'do both', kind: 'request' })).data;
    await until('both have answered', async () => {
      const { messages } = (await asker.call('inbox', { filter: 'all' })).data;
      return messages.filter((message) => message.reply_to === id).length === 2;
    });
    assert.equal(other.heard.length, 1, 'what one answers is not passed on to the other');
  });

  test('one of two that fails leaves the question to the other', async () => {
    const { asker, name } = await pair();
    const { agent: other, name: otherName } = await pair();
    const { id } = (await asker.call('send', { to: [name, otherName], text: 'work or not', kind: 'request' })).data;
    await until('the other works', () => other.isAtWork('work or not'));
    const [agent] = agents.slice(-2);
    agent?.finish('work or not', 'can’t', 4);
    await until('one has declined', async () => {
      const { recipients } = (await asker.call('status', { id })).data;
      return recipients.find((one) => one.agent === name)?.step === 'acked';
    });
    assert.equal(await stateOf(asker, id), 'pending');
    other.finish('work or not', 'can');
    assert.equal((await ended(asker, id)).text, 'can');
  });

  test('no more than twenty are at work, the rest wait their turn', async () => {
    const { agent, name } = await pair();
    const askers = await hub.strangers(25);
    const ids = await Promise.all(askers.map((asker, n) => ask(asker, name, `work ${n}`)));
    await until('twenty are at work', () => agent.heard.length === 20);
    const waits = async (n: number): Promise<boolean> => {
      const { task } = (await (askers[n] as BusClient).call('status', { id: ids[n] ?? '' })).data;
      return task?.state === 'queued';
    };
    const queued = await Promise.all(askers.map((_, n) => waits(n)));
    assert.equal(queued.filter(Boolean).length, 5);
    assert.equal(agent.heard.length, 20);
    for (let done = 0; done < 25; done++) {
      const text = await until('one works', () =>
        agent.heard.map((one) => one.text).find((one) => agent.isAtWork(one)),
      );
      agent.finish(text);
    }
    for (const [n, asker] of askers.entries()) await ended(asker, ids[n] ?? '');
  });
});
