import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { TaskState, type StreamResponse } from '@a2a-js/sdk';
import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { BusClient } from '../../src/client/busClient.ts';
import { Bus } from '../../src/core/bus.ts';
import { defaultTunables } from '../../src/core/limits.ts';
import type { Caller } from '../../src/core/model.ts';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import { a2aRoute } from '../../src/transports/a2a/a2aRoute.ts';
import { loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor, type HttpDoor } from '../../src/transports/httpDoor.ts';
import {
  answerOf,
  ask,
  cancelTask,
  Following,
  getTask,
  nextRequest,
  openClient,
  say,
  textOf,
  wires,
} from '../support/a2a/openClient.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

const {
  TASK_STATE_SUBMITTED: submitted,
  TASK_STATE_WORKING: working,
  TASK_STATE_COMPLETED: completed,
  TASK_STATE_INPUT_REQUIRED: inputRequired,
  TASK_STATE_CANCELED: canceled,
} = TaskState;

let hub: HubProcess;
let person: BusClient;
let cook: BusClient;
let token: string;

before(async () => {
  hub = await HubProcess.start();
  person = await hub.client();
  [cook] = await hub.agents(['cook']);
  await person.request('open', { name: 'cook', on: true });
  token = await hub.mint('guest');
});
after(() => hub.dispose());

const waitingCalls = async (): Promise<number> => (await hub.status()).connections.waitingCalls;
const kinds = (events: StreamResponse[]): (string | undefined)[] => events.map(({ payload }) => payload?.$case);

for (const wire of wires) {
  describe(`a stream over ${wire}`, () => {
    test('tells submitted, working, the answer, completed, and ends', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `stream over ${wire}`;
      const stream = new Following((options) => client.sendMessageStream(say(text), options));
      await stream.reaches(submitted);
      const request = await nextRequest(cook, text);
      await stream.reaches(working);
      const reply = await cook.call('send', { reply_to: request.id, text: 'Ready.' });
      await stream.done;
      assert.deepEqual(kinds(stream.events), ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
      assert.deepEqual(stream.states, [submitted, working, completed]);
      assert.equal(stream.first.id, request.id);
      const artifact = stream.events[2]?.payload;
      assert.equal(artifact?.$case === 'artifactUpdate' ? textOf(artifact.value.artifact) : '', 'Ready.');
      await until('the agent knows that its reply was shown', async () => {
        const { data } = await cook.call('status', { id: reply.data.id });
        return data.recipients[0]?.step === 'shown';
      });
    });

    test('ends with a question, and the answer opens the next one', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `ask back over ${wire}`;
      const stream = new Following((options) => client.sendMessageStream(say(text), options));
      const request = await nextRequest(cook, text);
      const question = await cook.call('send', { reply_to: request.id, kind: 'request', text: 'Which?' });
      await stream.done;
      assert.equal(stream.states.at(-1), inputRequired);
      await until('the agent knows that its question was shown', async () => {
        const { data } = await cook.call('status', { id: question.data.id });
        return data.recipients[0]?.step === 'shown';
      });
      const next = new Following((options) => client.sendMessageStream(say('That.', { taskId: request.id }), options));
      const answer = await nextRequest(cook, 'That.');
      assert.equal(answer.reply_to, question.data.id);
      await next.reaches(working);
      await cook.call('send', { reply_to: request.id, text: 'Good choice.' });
      await next.done;
      assert.equal(next.states.at(-1), completed);
    });

    test('can be left and come back to', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `come back over ${wire}`;
      const stream = new Following((options) => client.sendMessageStream(say(text), options));
      await stream.reaches(submitted);
      await until('it is waited for', async () => (await waitingCalls()) === 1);
      stream.leave();
      await until('nothing of it is left', async () => (await waitingCalls()) === 0);
      const { id } = stream.first;
      const back = new Following((options) => client.resubscribeTask({ id, tenant: '' }, options));
      await back.reaches(submitted);
      await cancelTask(client, id);
      await back.done;
      assert.equal(back.states.at(-1), canceled);
      const ended = new Following((options) => client.resubscribeTask({ id, tenant: '' }, options));
      await assert.rejects(ended.done, UnsupportedOperationError);
      const foreign = new Following((options) => client.resubscribeTask({ id: 'mzzz', tenant: '' }, options));
      await assert.rejects(foreign.done, TaskNotFoundError);
      await until('nothing is left', async () => (await waitingCalls()) === 0);
    });
  });
}

describe('streams', () => {
  test('of a task with an open question go on when another call answers it', async () => {
    const client = await openClient(hub, 'cook', token);
    const asking = ask(client, 'two of you');
    const request = await nextRequest(cook, 'two of you');
    await cook.call('send', { reply_to: request.id, kind: 'request', text: 'Which of you?' });
    const { id } = await asking;
    const other = new Following((options) => client.resubscribeTask({ id, tenant: '' }, options));
    await other.reaches(inputRequired);
    const answered = ask(client, 'Me.', { taskId: id });
    await other.reaches(working);
    const me = await nextRequest(cook, 'Me.');
    await cook.call('send', { reply_to: me.id, text: 'You, then.' });
    assert.equal(answerOf(await answered), 'You, then.');
    await other.done;
    assert.deepEqual(other.states, [inputRequired, working, completed]);
  });

  test('are a hundred at most for one caller, and leave nothing behind when it vanishes', async () => {
    const many = await hub.mint('many');
    const client = await openClient(hub, 'cook', many);
    const task = await ask(client, 'for all of you', { returnImmediately: true });
    const follow = (): Following =>
      new Following((options) => client.resubscribeTask({ id: task.id, tenant: '' }, options));
    const streams = Array.from({ length: 100 }, follow);
    await until('all are open', async () => (await waitingCalls()) === 100);
    await assert.rejects(follow().done, /open already/);
    const { data } = await cook.call('inbox', { filter: 'new' });
    await assert.rejects(ask(client, 'and this'), /open already/);
    assert.equal((await cook.call('inbox', { filter: 'new' })).data.messages.length, data.messages.length);
    assert.equal((await getTask(client, task.id)).id, task.id, 'a call that does not wait is served');
    for (const stream of streams) stream.leave();
    await until('nothing is left', async () => (await waitingCalls()) === 0);
    const request = await nextRequest(cook, 'for all of you');
    const last = follow();
    await last.reaches(working);
    await cook.call('send', { reply_to: request.id, text: 'All of us.' });
    await last.done;
  });

  test('end when the agent closes', async () => {
    const [poet] = await hub.agents(['poet']);
    await person.request('open', { name: 'poet', on: true });
    const client = await openClient(hub, 'poet', token);
    const stream = new Following((options) => client.sendMessageStream(say('a rhyme'), options));
    await stream.reaches(submitted);
    await person.request('open', { name: 'poet', on: false });
    await stream.done;
    assert.deepEqual(stream.states, [submitted]);
    hub.close(poet);
  });

  test('and calls that wait for an answer are over when their caller leaves; the task is not', async () => {
    const client = await openClient(hub, 'cook', token);
    const leaving = new AbortController();
    const call = client.sendMessage(say('are you there', { messageId: 'left-1' }), { signal: leaving.signal });
    await until('it waits', async () => (await waitingCalls()) === 1);
    leaving.abort();
    await assert.rejects(call);
    await until('nothing is left', async () => (await waitingCalls()) === 0);
    const request = await nextRequest(cook, 'are you there');
    await cook.call('send', { reply_to: request.id, text: 'Always.' });
    const again = await ask(client, 'are you there', { messageId: 'left-1' });
    assert.deepEqual([again.id, answerOf(again)], [request.id, 'Always.']);
  });
});

describe('with little patience', () => {
  let folder: string;
  let door: HttpDoor;
  let store: SqliteStore;
  let bus: Bus;
  let asker: Caller;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'agent-bus-test-'));
    store = new SqliteStore(join(folder, 'bus.db'), () => undefined);
    bus = new Bus(store, { now: Date.now }, defaultTunables);
    await bus.load();
    await bus.roster.describe(await bus.roster.create({ name: 'slow' }), { open: true });
    asker = { agent: (await bus.roster.create({ name: 'asker' })).id, via: 'a2a' };
    const route = a2aRoute({
      bus,
      store,
      version: '1',
      baseUrl: () => `http://127.0.0.1:${door.port}`,
      onError: (error) => assert.fail(String(error)),
      timings: { answerMs: 50, beatMs: 60 },
    });
    door = await openHttpDoor({ port: 0, guard: loopbackGuard(() => asker), routes: new Map([['/a2a/', route]]) });
  });
  after(async () => {
    await door.close(0);
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const send = (operation: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${door.port}/a2a/slow/message:${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: { messageId: operation, role: 'ROLE_USER', parts: [{ text: 'no hurry' }] } }),
    });

  test('a call returns the task as it stands', async () => {
    const { task } = (await (await send('send')).json()) as { task: { status: { state: string } } };
    assert.equal(task.status.state, 'TASK_STATE_SUBMITTED');
    assert.equal(bus.waiting.size, 0);
  });

  test('a stream is kept alive while nothing happens', async () => {
    const response = await send('stream');
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    let seen = '';
    for await (const chunk of response.body ?? []) {
      seen += Buffer.from(chunk as Uint8Array).toString();
      if (/^: .*\n\n: /m.test(seen)) break;
    }
    assert.match(seen, /^data: \{"task":/);
    await until('it was left', () => bus.waiting.size === 0);
    assert.notEqual(bus.presence.of(asker.agent), 'waiting');
  });
});
