import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { TaskState } from '@a2a-js/sdk';
import type { BusClient } from '../../src/client/busClient.ts';
import {
  answerOf,
  ask,
  Following,
  getTask,
  nextRequest,
  openClient,
  say,
  textOf,
  wires,
  type Wire,
} from '../support/a2a/openClient.ts';
import { storedMessages } from '../support/checker.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;
let token: string;

before(async () => {
  hub = await HubProcess.start();
  const person = await hub.client();
  token = await hub.mint('guest');
  await hub.mint('cook');
  await person.request('open', { name: 'cook', on: true });
  hub.close(person);
});
after(() => hub.dispose());

const cook = (): Promise<BusClient> => hub.client({ as: 'cook' });
const guest = (wire: Wire): ReturnType<typeof openClient> => openClient(hub, 'cook', token, wire);
const count = (text: string): number => storedMessages(hub.home.database).filter((one) => one.text === text).length;

for (const wire of wires) {
  describe(`the hub is killed, over ${wire}`, () => {
    test('while a call waits: the same message again finds the same task, answered once', async () => {
      const messageId = randomUUID();
      const text = `waiting over ${wire}`;
      const cut = assert.rejects(ask(await guest(wire), text, { messageId }));
      const request = await nextRequest(await cook(), text);
      await hub.kill();
      await cut;
      await hub.start();
      const again = ask(await guest(wire), text, { messageId });
      await (await cook()).call('send', { reply_to: request.id, text: 'Still here.' });
      const task = await again;
      assert.deepEqual([task.id, answerOf(task)], [request.id, 'Still here.']);
      await hub.kill();
      assert.equal(count(text), 1);
      await hub.start();
      assert.deepEqual((await getTask(await guest(wire), task.id)).artifacts, task.artifacts);
    });

    test('while a stream is open: coming back to it goes on where it was', async () => {
      const text = `streaming over ${wire}`;
      const client = await guest(wire);
      const stream = new Following((options) => client.sendMessageStream(say(text), options));
      const request = await nextRequest(await cook(), text);
      await stream.reaches(TaskState.TASK_STATE_WORKING);
      await hub.kill();
      await assert.rejects(stream.done);
      await hub.start();
      const later = await guest(wire);
      const back = new Following((options) => later.resubscribeTask({ id: request.id, tenant: '' }, options));
      await back.reaches(TaskState.TASK_STATE_WORKING);
      await (await cook()).call('send', { reply_to: request.id, text: 'Done at last.' });
      await back.done;
      assert.equal(back.states.at(-1), TaskState.TASK_STATE_COMPLETED);
      assert.equal(answerOf(await getTask(later, request.id)), 'Done at last.');
    });
  });
}

test('a question that is open when the hub is killed can be answered after it, once', async () => {
  const asking = ask(await guest('JSON-RPC 1.0'), 'a question comes');
  const request = await nextRequest(await cook(), 'a question comes');
  const { data } = await (await cook()).call('send', { reply_to: request.id, kind: 'request', text: 'When?' });
  assert.equal((await asking).status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  await hub.kill();
  await hub.start();
  const client = await guest('JSON-RPC 1.0');
  const open = await getTask(client, request.id);
  assert.deepEqual([open.status?.state, textOf(open.status?.message)], [TaskState.TASK_STATE_INPUT_REQUIRED, 'When?']);
  const messageId = randomUUID();
  const cut = assert.rejects(ask(client, 'At noon.', { taskId: request.id, messageId }));
  const agent = await cook();
  await until('the question is answered', async () => {
    return (await agent.call('status', { id: data.id })).data.request?.state === 'answered';
  });
  await hub.kill();
  await cut;
  await hub.start();
  const again = ask(await guest('JSON-RPC 1.0'), 'At noon.', { taskId: request.id, messageId });
  const answer = await nextRequest(await cook(), 'At noon.');
  assert.equal(answer.reply_to, data.id);
  await (await cook()).call('send', { reply_to: request.id, text: 'See you.' });
  assert.equal(answerOf(await again), 'See you.');
  await hub.kill();
  assert.equal(count('At noon.'), 1);
});

test('an orderly end lets waiting calls return the task as it stands', async () => {
  await hub.start();
  const client = await guest('HTTP+JSON 1.0');
  const asking = ask(client, 'the hub stops');
  const stream = new Following((options) => client.sendMessageStream(say('the stream stops'), options));
  await stream.reaches(TaskState.TASK_STATE_SUBMITTED);
  await until('both wait', async () => (await hub.status()).connections.waitingCalls === 2);
  await hub.stop();
  assert.equal((await asking).status?.state, TaskState.TASK_STATE_SUBMITTED);
  await stream.done;
  await hub.start();
  assert.equal((await getTask(await guest('JSON-RPC 1.0'), stream.first.id)).id, stream.first.id);
});
