/** What the A2A door gives away, to whom, and what it makes of nonsense. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TaskState } from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { BusClient } from '../../src/client/busClient.ts';
import { bodyBytes } from '../../src/transports/body.ts';
import { isPublic } from '../../src/transports/guard.ts';
import { ask, nextRequest, openClient, tokenFetch, wires } from '../support/a2a/openClient.ts';
import { HubProcess } from '../support/hubProcess.ts';
import { RawHttp } from '../support/rawHttp.ts';

let hub: HubProcess;
let person: BusClient;
let cook: BusClient;
let raw: RawHttp;
let token: string;
const tokens: Record<string, string> = {};

// cook is open; closed is not, shut was; gone was removed while it was open; guest and eve ask.
before(async () => {
  hub = await HubProcess.start();
  person = await hub.client();
  for (const name of ['guest', 'eve', 'cook', 'closed', 'shut', 'gone', 'rita']) tokens[name] = await hub.mint(name);
  for (const name of ['cook', 'shut', 'gone']) await person.request('open', { name, on: true });
  await person.request('open', { name: 'shut', on: false });
  await person.request('remove', { name: 'gone' });
  await person.request('revoke', { name: 'rita' });
  cook = await hub.client({ as: 'cook' });
  token = tokens['guest'] ?? '';
  raw = new RawHttp(Number(new URL(hub.record.mcpUrl).port), token);
});
after(() => hub.dispose());

const card = (name: string): string => `/a2a/${name}/.well-known/agent-card.json`;
const rpc = (method: string, params: unknown = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const said = (messageId: string, more: object = {}): object => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text: `said ${messageId}` }], ...more },
  configuration: { returnImmediately: true },
});

interface RpcAnswer {
  result?: { task?: { id: string } };
  error?: { code: number; message: string };
}

async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const url = new URL(path, hub.record.mcpUrl);
  const all = { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers };
  return await tokenFetch(token)(url, { method: 'POST', body, headers: all });
}

async function call(body: string, headers: Record<string, string> = {}): Promise<RpcAnswer> {
  return (await (await post('/a2a/cook', body, headers)).json()) as RpcAnswer;
}

describe('who is let in', () => {
  test('the card of an open agent is for everybody, and of all others there is the same nothing', async () => {
    const anyone = { method: 'GET', headers: { Authorization: undefined } };
    for (const path of [card('cook'), '/a2a/cook/.well-known/agent.json']) {
      const answer = await raw.talk(raw.request({ ...anyone, path }));
      assert.equal(answer.status, 200);
      assert.equal((JSON.parse(answer.body) as { name: string }).name, 'cook');
      assert.doesNotMatch(answer.head, /access-control/i);
    }
    const nothings = await Promise.all(
      ['closed', 'shut', 'gone', 'nobody', 'person', 'guest', 'hub'].flatMap((name) => [
        raw.talk(raw.request({ ...anyone, path: card(name) })),
        raw.talk(raw.request({ method: 'GET', path: card(name) })),
        raw.talk(raw.request({ path: `/a2a/${name}`, body: rpc('SendMessage', said('x')) })),
        raw.talk(raw.request({ path: `/a2a/${name}`, body: 'no JSON' })),
        raw.talk(raw.request({ path: `/a2a/${name}/message:send`, body: '{}' })),
        raw.talk(raw.request({ method: 'GET', path: `/a2a/${name}/tasks/m1` })),
      ]),
    );
    for (const answer of nothings) {
      assert.equal(answer.status, 404);
      assert.equal(answer.body, nothings[0]?.body);
    }
  });

  test('nothing else is let in without a token', async () => {
    const tries: [string, string][] = [
      ['GET', `${card('cook')}?x=1`],
      ['GET', `${card('cook')}/`],
      ['GET', '/a2a//.well-known/agent-card.json'],
      ['GET', '/a2a/cook/x/.well-known/agent-card.json'],
      ['GET', '/a2a/cook/.well-known/agent-card.json.bak'],
      ['GET', '/a2a/cook/.well-known/../tasks'],
      ['GET', '/a2a/cook/%2ewell-known/agent-card.json'],
      ['GET', '/a2a/COOK/.well-known/agent-card.json'],
      ['GET', '/mcp/.well-known/agent-card.json'],
      ['GET', '/.well-known/agent-card.json'],
      ['GET', '/a2a/cook'],
      ['GET', '/a2a/cook/tasks'],
      ['GET', '/a2a/cook/tasks/m1'],
      ['GET', '/a2a/cook/extendedAgentCard'],
      ['GET', '/a2a/cook/v1/card'],
      ['POST', card('cook')],
      ['DELETE', card('cook')],
      ['POST', '/a2a/cook'],
      ['POST', '/a2a/cook/message:send'],
      ['POST', '/a2a/cook/v1/message:send'],
      ['POST', '/a2a/closed'],
    ];
    for (const [method, path] of tries) {
      assert.equal(isPublic({ method, path }), false, path);
      for (const Authorization of [
        undefined,
        'Bearer wrong',
        `Bearer ${tokens['rita']}`,
        `Bearer ${hub.record.token}`,
      ]) {
        assert.equal(await raw.status({ method, path, headers: { Authorization } }), 401, `${method} ${path}`);
      }
    }
    assert.equal(await raw.status({ method: 'HEAD', path: card('cook') }), 405);
  });

  test('no web page is, not even for a card', async () => {
    for (const path of [card('cook'), '/a2a/cook', '/a2a/cook/tasks']) {
      for (const method of ['GET', 'POST']) {
        for (const Origin of ['http://evil.example', 'null', 'http://localhost:1']) {
          assert.equal(await raw.status({ method, path, headers: { Origin } }), 403);
        }
        assert.equal(await raw.status({ method, path, headers: { Host: 'evil.example' } }), 403);
      }
    }
    for (const type of ['text/plain', 'application/a2a', 'application/x-www-form-urlencoded', undefined]) {
      assert.equal(await raw.status({ path: '/a2a/cook', headers: { 'Content-Type': type } }), 415);
    }
    assert.equal(await raw.status({ path: '/mcp', headers: { 'Content-Type': 'application/a2a+json' } }), 415);
  });

  test('an agent does not ask itself, on any wire', async () => {
    for (const wire of wires) {
      const client = await openClient(hub, 'cook', tokens['cook'], wire);
      await assert.rejects(ask(client, 'me?'), (error: Error) => {
        assert.ok(error instanceof UnsupportedOperationError);
        return /"cook" itself/.test(error.message) && /agent-bus register/.test(error.message);
      });
    }
  });
});

describe('who is speaking', () => {
  test('is whom the token says, whatever the message claims', async () => {
    const claims = {
      from: 'person',
      sender: 'person',
      agent: 'cook',
      user: 'person',
      name: 'person',
      a2a: { from: 'person' },
    };
    const body = {
      ...said('forged', { metadata: claims, role: 'ROLE_AGENT', from: 'person', sender: 1 }),
      metadata: claims,
      tenant: 'person',
      from: 'person',
    };
    const { result } = await call(rpc('SendMessage', body), { 'x-agent': 'person', 'x-forwarded-user': 'person' });
    const seen = await nextRequest(cook, 'said forged');
    assert.equal(seen.id, result?.task?.id);
    assert.equal(seen.from, 'guest');
    assert.deepEqual(seen.data, { a2a: { metadata: claims, requestMetadata: claims } });
  });

  test('can’t use the ids of others', async () => {
    const eve = await openClient(hub, 'cook', tokens['eve']);
    const mine = await call(rpc('SendMessage', said('mine')));
    const { result } = mine;
    for (const messageId of ['mine', 'a2a/1/mine']) {
      const task = await ask(eve, 'eve’s own', { messageId, returnImmediately: true });
      assert.notEqual(task.id, result?.task?.id, 'a message id is the sender’s own');
    }
    const theirs = await ask(eve, 'in your context', { contextId: 'c1', returnImmediately: true });
    assert.deepEqual(theirs.history.length, 1, 'a context of others is only a word');
  });
});

test('an answer that was given to somebody else ends the task and stays with them', async () => {
  const client = await openClient(hub, 'cook', token);
  const asking = ask(client, 'tell me');
  const request = await nextRequest(cook, 'tell me');
  await cook.call('send', { reply_to: request.id, to: 'person', kind: 'reply', text: 'the secret of the soup' });
  const task = await asking;
  assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
  assert.doesNotMatch(JSON.stringify(task), /secret/);
});

describe('what is sent', () => {
  test('may be as large as a message, and no larger', async () => {
    const huge = await raw.talk(
      raw.request({ path: '/a2a/cook', headers: { 'Content-Length': String(bodyBytes + 1) }, body: '' }),
    );
    assert.equal(huge.status, 413);
    const stored = (await hub.status()).messages;
    const large = said('large', { parts: [{ text: 'x'.repeat(1_048_577) }] });
    const overRpc = await call(rpc('SendMessage', large));
    assert.equal(overRpc.error?.code, -32602);
    assert.match(overRpc.error?.message ?? '', /larger than 1048576 bytes/);
    const overRest = await post('/a2a/cook/message:send', JSON.stringify(large));
    assert.equal(overRest.status, 400);
    const bytes = said('bytes', { parts: [{ raw: Buffer.alloc(1_000_000).toString('base64') }] });
    assert.match((await call(rpc('SendMessage', bytes))).error?.message ?? '', /data is larger/);
    const long = await call(rpc('SendMessage', said('i'.repeat(151))));
    assert.match(long.error?.message ?? '', /messageId/);
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    const nested = await call(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"metadata":{"x":${deep}}}}`);
    assert.equal(nested.error?.code, -32700);
    assert.equal((await hub.status()).messages, stored, 'nothing was stored');
    const whole = await call(rpc('SendMessage', said('whole', { parts: [{ text: 'x'.repeat(1_048_576) }] })));
    assert.equal(whole.error, undefined);
  });

  test('may be nonsense: that is the caller’s fault, in the protocol’s words, and leaks nothing', async () => {
    const odd = [null, 1, 'x', [], [null], {}, { message: null }, { id: 7 }, { message: { parts: [null] } }];
    const messages = [
      { messageId: 'a', parts: [{}] },
      { messageId: 'a', parts: [] },
      { messageId: 'a', parts: 'x' },
      { messageId: 'a', parts: [{ text: '' }] },
      { messageId: '', parts: [{ text: 'x' }] },
      { messageId: 'a', role: 'user', parts: [{ kind: 'file' }] },
      { messageId: 'a', role: 'user', parts: [{ kind: 'file', file: 7 }] },
      { messageId: 'a', role: 'user', parts: [{ kind: 'nope' }] },
      { messageId: 'a', role: 'user', taskId: {}, parts: [{ kind: 'text', text: 'x' }] },
      { messageId: 'a', taskId: 'mzzz', role: 'user', content: [{ text: {} }] },
      { messageId: 'a', content: [{ file: {} }] },
      { messageId: 'a', parts: [{ text: '\ud800' }] },
    ].map((message) => ({ message }));
    const methods = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'CancelTask', 'SubscribeToTask'];
    const legacy = ['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe'];
    const stored = (await hub.status()).messages;
    const isRefused = async (method: string, params: unknown, version: string): Promise<void> => {
      const { error } = await call(rpc(method, params), { 'a2a-version': version });
      const what = `${method} ${JSON.stringify(params)}`;
      assert.ok(error && [-32602, -32600, -32001].includes(error.code), `${what} ${JSON.stringify(error)}`);
      assert.doesNotMatch(error.message, /undefined|reading|null|\/src\/|\.js/, what);
    };
    for (const params of [...odd, ...messages]) {
      for (const method of methods) await isRefused(method, params, '1.0');
      for (const method of legacy) await isRefused(method, params, '0.3');
      for (const path of ['message:send', 'message:stream', 'v1/message:send', 'v1/message:stream']) {
        const response = await post(`/a2a/cook/${path}`, JSON.stringify(params));
        assert.ok([400, 404].includes(response.status), `${path} ${JSON.stringify(params)} ${response.status}`);
        assert.doesNotMatch(await response.text(), /undefined|reading|\/src\/|\.js/);
      }
    }
    for (const text of [7, {}, null]) {
      const message = { messageId: 'a', role: 'user', parts: [{ kind: 'text', text }] };
      await isRefused('message/send', { message }, '0.3');
    }
    for (const params of [null, 1, [], { pageSize: -1 }, { status: 'TASK_STATE_NOPE' }, { historyLength: -1 }]) {
      await isRefused('ListTasks', params, '1.0');
    }
    for (const body of ['no JSON', '[]', '7', '"x"', '{}', '{"jsonrpc":"1.0"}', rpc('')]) {
      assert.ok((await call(body)).error, body);
      assert.ok((await call(body, { 'a2a-version': '' })).error, body);
    }
    assert.equal((await post('/a2a/cook/message:send', 'no JSON')).status, 400);
    assert.equal((await post('/a2a/cook/v1/message:send', 'no JSON')).status, 400);
    assert.equal((await hub.status()).messages, stored, 'nothing was stored');
  });

  test('may ask for what there is not', async () => {
    for (const [method, version] of [
      ['Nope', '1.0'],
      ['message/send', '1.0'],
      ['SendMessage', '0.3'],
      ['tasks/list', '0.3'],
      ['nope', ''],
    ] as const) {
      const { error } = await call(rpc(method, said('x')), { 'a2a-version': version });
      assert.equal(error?.code, -32601, method);
    }
    assert.equal((await call(rpc('SendMessage', said('new')), { 'a2a-version': '2.0' })).error?.code, -32009);
    for (const path of ['nope', 'tasks/m1/nope', 'message:nope', 'v1/nope', 'v1', '../mcp', 'tasks/%ZZ:cancel']) {
      const response = await post(`/a2a/cook/${path}`, '{}');
      assert.ok([400, 404].includes(response.status), path);
    }
    assert.equal((await post('/a2a/cook/message:send', '{}', { 'a2a-version': '7' })).status, 400);
    const config = {
      tenant: '',
      taskId: 'm1',
      id: 'c',
      url: 'http://127.0.0.1:1',
      token: '',
      authentication: undefined,
    };
    for (const wire of wires) {
      const client = await openClient(hub, 'cook', token, wire);
      const push = [
        () => client.transport.createTaskPushNotificationConfig(config),
        () => client.transport.getTaskPushNotificationConfig(config),
        () => client.transport.listTaskPushNotificationConfig({ ...config, pageSize: 0, pageToken: '' }),
        () => client.transport.deleteTaskPushNotificationConfig(config),
      ];
      for (const one of push) await assert.rejects(one(), PushNotificationNotSupportedError, wire);
      await assert.rejects(client.transport.getExtendedAgentCard({ tenant: '' }), (error) => {
        return error instanceof UnsupportedOperationError || error instanceof ExtendedAgentCardNotConfiguredError;
      });
    }
    const pushed = { ...said('pushed'), configuration: { taskPushNotificationConfig: { url: 'http://127.0.0.1:1' } } };
    assert.equal((await call(rpc('SendMessage', pushed))).error?.code, -32003);
  });

  test('counts against the limits of the bus, which are told with their code and the next step', async () => {
    const small = await HubProcess.start({ settings: { limits: { rateBurst: 2, ratePerSecond: 0.01 } } });
    try {
      const owner = await small.client();
      await small.mint('cook');
      await owner.request('open', { name: 'cook', on: true });
      const own = await small.mint('guest');
      for (const wire of wires.slice(0, 2)) {
        await ask(await openClient(small, 'cook', own, wire), 'fits', { returnImmediately: true });
      }
      for (const wire of wires) {
        const client = await openClient(small, 'cook', own, wire);
        await assert.rejects(ask(client, 'too much'), (error: Error) => {
          assert.ok(error instanceof UnsupportedOperationError, wire);
          assert.match(error.message, /more than 2 messages in a short time/);
          if (wire.endsWith('1.0')) assert.match(JSON.stringify({ ...error }), /"code":"rate-limited"/);
          return true;
        });
      }
    } finally {
      await small.dispose();
    }
  });
});
