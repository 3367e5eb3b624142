import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { TaskState } from '@a2a-js/sdk';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { BusClient } from '../../src/client/busClient.ts';
import {
  answerOf,
  ask,
  cancelTask,
  getTask,
  nextRequest,
  openClient,
  openUrl,
  textOf,
  tokenFetch,
  wires,
} from '../support/a2a/openClient.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;
let person: BusClient;
let cook: BusClient;
let token: string;

before(async () => {
  hub = await HubProcess.start();
  person = await hub.client();
  [cook] = await hub.agents(['cook']);
  await cook.call('register', { about: 'Cooks.', skills: ['soup', 'bread'], open: true });
  token = await hub.mint('guest');
});
after(() => hub.dispose());

/** Everything that a pending task leaves behind would be seen by the next test. */
async function answers(text: string, reply: string, extra: { data?: unknown } = {}): Promise<string> {
  const request = await nextRequest(cook, text);
  await cook.call('send', { reply_to: request.id, text: reply, ...extra });
  return request.id;
}

for (const wire of wires) {
  describe(`an open agent over ${wire}`, () => {
    test('sees a normal request, and its reply completes the task', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `soup over ${wire}?`;
      const asking = ask(client, text);
      const request = await nextRequest(cook, text);
      assert.equal(request.from, 'guest');
      assert.equal(request.kind, 'request');
      assert.deepEqual(request.to, ['cook']);
      assert.equal(request.data, undefined, 'a plain question comes without anything beside it');
      const reply = await cook.call('send', { reply_to: request.id, text: 'Yes.', data: { bowls: 2 } });
      const task = await asking;
      assert.equal(task.id, request.id);
      assert.equal(task.contextId, request.conversation);
      assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(answerOf(task), 'Yes.');
      const [, data] = task.artifacts[0]?.parts ?? [];
      assert.deepEqual(data?.content, { $case: 'data', value: { bowls: 2 } });
      await until('the agent knows that its reply was shown', async () => {
        const { data: status } = await cook.call('status', { id: reply.data.id });
        return status.recipients[0]?.steps.some(({ step, route }) => step === 'shown' && route === 'a2a');
      });
    });

    test('is asked without waiting, and the task is there later', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `later over ${wire}`;
      const task = await ask(client, text, { returnImmediately: true });
      assert.equal(task.status?.state, TaskState.TASK_STATE_SUBMITTED);
      const request = await nextRequest(cook, text);
      await until('it counts as working', async () => {
        return (await getTask(client, task.id)).status?.state === TaskState.TASK_STATE_WORKING;
      });
      await cook.call('send', { reply_to: request.id, text: 'Here.' });
      const done = await getTask(client, task.id);
      assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(answerOf(done), 'Here.');
    });

    test('asks back, gets an answer, and goes on', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `bread over ${wire}`;
      const asking = ask(client, text);
      const request = await nextRequest(cook, text);
      const question = cook.call('send', {
        reply_to: request.id,
        kind: 'request',
        text: 'White or brown?',
        options: ['white', 'brown'],
      });
      const asked = await asking;
      assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
      assert.equal(textOf(asked.status?.message), 'White or brown?');
      assert.deepEqual(asked.status?.message?.parts[1]?.content, {
        $case: 'data',
        value: { options: ['white', 'brown'] },
      });
      const going = ask(client, 'brown', { taskId: asked.id });
      const { data: answered } = await until('the question is answered', async () => {
        const status = await cook.call('status', { id: (await question).data.id });
        return status.data.request?.state === 'answered' ? status : undefined;
      });
      assert.equal(answered.answer?.text, 'brown');
      assert.equal(answered.answer?.from, 'guest');
      await nextRequest(cook, 'brown');
      await cook.call('send', { reply_to: request.id, text: 'A brown loaf.' });
      const done = await going;
      assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(answerOf(done), 'A brown loaf.');
      assert.deepEqual(done.history.map(textOf), [text, 'White or brown?', 'brown']);
    });

    test('learns that a task was cancelled, and an ended one can’t be', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const text = `never mind over ${wire}`;
      const task = await ask(client, text, { returnImmediately: true });
      const request = await nextRequest(cook, text);
      const question = await cook.call('send', { reply_to: request.id, kind: 'request', text: 'Sure?' });
      assert.equal((await cancelTask(client, task.id)).status?.state, TaskState.TASK_STATE_CANCELED);
      assert.equal((await cook.call('status', { id: request.id })).data.request?.state, 'cancelled');
      const { request: asked } = (await cook.call('status', { id: question.data.id })).data;
      assert.equal(asked?.state, 'failed', 'nobody answers the question any more, and the agent knows');
      await assert.rejects(cancelTask(client, task.id), TaskNotCancelableError);
      await assert.rejects(ask(client, 'still there?', { taskId: task.id }), UnsupportedOperationError);
    });

    test('rejects a task, or is done with it without a word', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const rejected = ask(client, `rejected over ${wire}`);
      const request = await nextRequest(cook, `rejected over ${wire}`);
      await cook.call('ack', { ids: [request.id], outcome: 'rejected', note: 'The kitchen is closed.' });
      const { status } = await rejected;
      assert.equal(status?.state, TaskState.TASK_STATE_REJECTED);
      assert.equal(textOf(status?.message), 'The kitchen is closed.');
      const done = ask(client, `just done over ${wire}`);
      const { id } = await nextRequest(cook, `just done over ${wire}`);
      await cook.call('ack', { ids: [id], outcome: 'done', note: 'It is on the table.' });
      const { status: ended, artifacts } = await done;
      assert.equal(ended?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(textOf(ended?.message), 'It is on the table.');
      assert.deepEqual(artifacts, []);
    });

    test('hears the same message once, however often it is sent', async () => {
      const client = await openClient(hub, 'cook', token, wire);
      const messageId = randomUUID();
      const text = `once over ${wire}`;
      const first = await ask(client, text, { messageId, returnImmediately: true });
      const again = ask(client, text, { messageId });
      const id = await answers(text, 'Once.');
      assert.equal(first.id, id);
      assert.equal((await again).id, id);
      const last = await ask(client, text, { messageId });
      assert.deepEqual([last.id, answerOf(last)], [id, 'Once.']);
      await assert.rejects(ask(client, 'something else', { messageId }), /messageId was used before/);
      const { data } = await cook.call('inbox', { filter: 'new', from: 'guest' });
      assert.deepEqual(data.messages, []);
    });
  });
}

describe('a task', () => {
  test('is the caller’s own, with that agent', async () => {
    const [baker] = await hub.agents(['baker']);
    await person.request('open', { name: 'baker', on: true });
    const mine = await openClient(hub, 'cook', token);
    const task = await ask(mine, 'whose is it', { returnImmediately: true });
    const others = await Promise.all([
      openClient(hub, 'cook', await hub.mint('stranger')),
      openClient(hub, 'baker', token),
      openClient(hub, 'cook', await hub.mint('stranger'), 'HTTP+JSON 1.0'),
    ]);
    for (const other of others) {
      for (const id of [task.id, 'mzzz', 'nonsense']) {
        await assert.rejects(getTask(other, id), TaskNotFoundError);
        await assert.rejects(cancelTask(other, id), TaskNotFoundError);
        await assert.rejects(ask(other, 'me too', { taskId: id }), TaskNotFoundError);
      }
      const { tasks, totalSize } = await other.listTasks(list());
      assert.deepEqual([tasks, totalSize], [[], 0]);
    }
    await answers('whose is it', 'Yours.');
    hub.close(baker);
  });

  test('keeps the context and the parts that the client gave it', async () => {
    const client = await openClient(hub, 'cook', token);
    const bytes = Buffer.from([0, 1, 2, 255]);
    const parts = [
      part({ $case: 'text', value: 'Look at this' }),
      part({ $case: 'raw', value: bytes }, { filename: 'soup.bin', mediaType: 'application/octet-stream' }),
      part({ $case: 'data', value: { salt: [1, 2] } }),
    ];
    const asking = ask(client, '', { contextId: 'evening', parts, metadata: { trace: 7 } });
    const request = await nextRequest(cook, 'Look at this');
    assert.deepEqual(request.data, {
      a2a: {
        contextId: 'evening',
        parts: [
          { raw: bytes.toString('base64'), filename: 'soup.bin', mediaType: 'application/octet-stream' },
          { data: { salt: [1, 2] } },
        ],
        metadata: { trace: 7 },
        requestMetadata: { trace: 7 },
      },
    });
    await cook.call('send', {
      reply_to: request.id,
      text: 'Seen.',
      data: { a2a: { parts: [{ url: 'file:///menu' }] } },
    });
    const task = await asking;
    assert.equal(task.contextId, 'evening');
    assert.deepEqual(
      task.history[0]?.parts.map(({ content }) => content),
      parts.map(({ content }) => content),
    );
    assert.deepEqual(task.artifacts[0]?.parts[1]?.content, { $case: 'url', value: 'file:///menu' });
    await assert.rejects(ask(client, 'x', { taskId: task.id, contextId: 'morning' }), /another context/);
  });

  test('without a question open, takes what its caller adds; a task of no text has its parts', async () => {
    const client = await openClient(hub, 'cook', token);
    const parts = [part({ $case: 'data', value: { order: 1 } })];
    const task = await ask(client, '', { parts, returnImmediately: true });
    const request = await nextRequest(cook);
    assert.deepEqual(request.data, { a2a: { parts: [{ data: { order: 1 } }] } });
    await ask(client, 'and quick', { taskId: task.id, returnImmediately: true });
    const added = await nextRequest(cook, 'and quick');
    assert.deepEqual([added.kind, added.reply_to], ['inform', request.id]);
    await cook.call('send', { reply_to: request.id, text: 'Done.' });
    const { history } = await getTask(client, task.id);
    assert.deepEqual(
      history.map(({ parts: said }) => said.length),
      [1, 1],
    );
    assert.equal((await client.getTask({ id: task.id, tenant: '', historyLength: 1 })).history.length, 1);
    assert.equal((await client.getTask({ id: task.id, tenant: '', historyLength: 0 })).history.length, 0);
  });

  test('is answered by an answer to the answer to its question', async () => {
    const client = await openClient(hub, 'cook', token);
    const asking = ask(client, 'a cake');
    const request = await nextRequest(cook, 'a cake');
    await cook.call('send', { reply_to: request.id, kind: 'request', text: 'How many eggs?' });
    const going = ask(client, 'three', { taskId: (await asking).id });
    const eggs = await nextRequest(cook, 'three');
    await cook.call('send', { reply_to: eggs.id, kind: 'request', text: 'And sugar?' });
    const asked = await going;
    assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    assert.equal(textOf(asked.status?.message), 'And sugar?');
    const ending = ask(client, 'some', { taskId: asked.id });
    const sugar = await nextRequest(cook, 'some');
    await cook.call('send', { reply_to: sugar.id, text: 'A cake.' });
    const done = await ending;
    assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(answerOf(done), 'A cake.');
    assert.equal((await cook.call('status', { id: request.id })).data.request?.state, 'answered');
  });

  test('is listed by state and context, in pages', async () => {
    const own = await hub.mint('lister');
    const [jsonRpc, rest] = await Promise.all([
      openClient(hub, 'cook', own),
      openClient(hub, 'cook', own, 'HTTP+JSON 1.0'),
    ]);
    const ids: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      const said = { returnImmediately: true, ...(n > 3 && { contextId: 'late' }) };
      ids.unshift((await ask(jsonRpc, `list ${n}`, said)).id);
    }
    await answers('list 2', 'Two.');
    for (const client of [jsonRpc, rest]) {
      const first = await client.listTasks(list({ pageSize: 3 }));
      const second = await client.listTasks(list({ pageSize: 3, pageToken: first.nextPageToken }));
      assert.deepEqual(
        [...first.tasks, ...second.tasks].map(({ id }) => id),
        ids,
      );
      assert.deepEqual([first.totalSize, first.pageSize, second.nextPageToken], [5, 3, '']);
      const done = await client.listTasks(list({ status: TaskState.TASK_STATE_COMPLETED, includeArtifacts: true }));
      assert.deepEqual(done.tasks.map(answerOf), ['Two.']);
      const late = await client.listTasks(list({ contextId: 'late' }));
      assert.deepEqual(
        late.tasks.map(({ id }) => id),
        ids.slice(0, 2),
      );
      await assert.rejects(client.listTasks(list({ pageSize: 101 })), /pageSize/);
      await assert.rejects(client.listTasks(list({ pageToken: 'x' })), /pageToken/);
    }
    for (const n of [1, 3, 4, 5]) await answers(`list ${n}`, 'ok');
  });

  test('that expires has failed, and so has one that was asked over another door', async () => {
    const guest = await hub.client({ as: 'guest' });
    const { data } = await guest.call('send', { to: 'cook', kind: 'request', text: 'in time?', expires_seconds: 1 });
    const client = await openClient(hub, 'cook', token);
    assert.equal(textOf((await getTask(client, data.id)).history[0]), 'in time?');
    const { status } = await until('it has expired', async () => {
      const task = await getTask(client, data.id);
      return task.status?.state === TaskState.TASK_STATE_FAILED ? task : undefined;
    });
    assert.match(textOf(status?.message), /expired/);
  });

  test('fails when the agent leaves, and its caller is an agent like any other', async () => {
    const [waiter] = await hub.agents(['waiter']);
    await person.request('open', { name: 'waiter', on: true });
    const client = await openClient(hub, 'waiter', token);
    const asking = ask(client, 'the bill');
    await nextRequest(waiter, 'the bill');
    const { data } = await person.call('agents', {});
    const guest = data.agents.find(({ name }) => name === 'guest');
    assert.deepEqual([guest?.kind, guest?.presence], ['agent', 'waiting']);
    assert.equal(data.agents.find(({ name }) => name === 'waiter')?.open, true);
    await person.request('remove', { name: 'waiter' });
    const { status } = await asking;
    assert.equal(status?.state, TaskState.TASK_STATE_FAILED);
    assert.match(textOf(status?.message), /left the bus/);
    await assert.rejects(getTask(client, 'm1'), /404|nothing at this path/i);
  });
});

describe('an address', () => {
  test('is one of several, each with its own card', async () => {
    await hub.agents(['painter']);
    await person.request('open', { name: 'painter', on: true });
    const cards = await Promise.all(
      ['cook', 'painter'].map(async (name) => (await openClient(hub, name, token)).getAgentCard()),
    );
    assert.deepEqual(
      cards.map(({ name, skills }) => [name, skills.map((skill) => skill.name)]),
      [
        ['cook', ['soup', 'bread']],
        ['painter', ['Anything it can help with']],
      ],
    );
    assert.notEqual(cards[0]?.supportedInterfaces[0]?.url, cards[1]?.supportedInterfaces[0]?.url);
  });

  test('outlives a change of name, and ends when the agent closes', async () => {
    const [poet] = await hub.agents(['poet']);
    const { url } = await person.request('open', { name: 'poet', on: true });
    const client = await openClient(hub, 'poet', token);
    const task = await ask(client, 'a rhyme', { returnImmediately: true });
    await poet.call('register', { name: 'bard' });
    const request = await nextRequest(poet, 'a rhyme');
    await poet.call('send', { reply_to: request.id, text: 'Time.' });
    assert.equal(answerOf(await getTask(client, task.id)), 'Time.');
    const renamed = await openClient(hub, 'poet', token);
    const card = await renamed.getAgentCard();
    assert.equal(card.name, 'bard');
    assert.equal(card.supportedInterfaces[0]?.url, openUrl(hub, 'bard').replace(/\/$/, ''));
    assert.equal(answerOf(await getTask(renamed, task.id)), 'Time.');
    await person.request('open', { name: 'bard', on: false });
    for (const name of ['poet', 'bard']) {
      const response = await tokenFetch(token)(`${openUrl(hub, name)}tasks/${task.id}`);
      assert.equal(response.status, 404);
    }
    assert.match(url ?? '', /\/a2a\/poet\/?$/);
  });

  test('is kept by the hub, which would end without anybody on it', async () => {
    const settings = { idleMinutes: 0.01 };
    const kept = await HubProcess.start({ settings });
    await kept.mint('cook');
    const owner = await kept.client();
    await owner.request('open', { name: 'cook', on: true });
    kept.close(owner);
    const idle = await HubProcess.start({ settings });
    try {
      await until('the hub without an open agent has ended', () => !idle.running);
      const client = await openClient(kept, 'cook', await kept.mint('guest'));
      assert.equal((await ask(client, 'still open?', { returnImmediately: true })).history.length, 1);
    } finally {
      await Promise.all([kept.dispose(), idle.dispose()]);
    }
  });
});

function part(
  content: NonNullable<Parameters<typeof textOf>[0]>['parts'][number]['content'],
  { filename = '', mediaType = '' } = {},
): NonNullable<Parameters<typeof textOf>[0]>['parts'][number] {
  return { content, filename, mediaType, metadata: undefined };
}

function list(
  wanted: {
    pageSize?: number;
    pageToken?: string;
    status?: TaskState;
    contextId?: string;
    includeArtifacts?: boolean;
  } = {},
): Parameters<Awaited<ReturnType<typeof openClient>>['listTasks']>[0] {
  return {
    tenant: '',
    contextId: wanted.contextId ?? '',
    status: wanted.status ?? TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: wanted.pageToken ?? '',
    statusTimestampAfter: undefined,
    ...(wanted.pageSize !== undefined && { pageSize: wanted.pageSize }),
    ...(wanted.includeArtifacts !== undefined && { includeArtifacts: wanted.includeArtifacts }),
  };
}
