import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import * as rpc from 'vscode-jsonrpc/node';
import { BusError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';
import { FrameDecoder, encodeFrame } from '../../src/protocol/frames.ts';
import type { RequestContext } from '../../src/protocol/calls.ts';
import { Peer } from '../../src/protocol/peer.ts';
import type { PeerHandlers, PeerOptions } from '../../src/protocol/peer.ts';
import { UnknownMethod } from '../../src/protocol/wireErrors.ts';

interface Wire {
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string; data: { code: string; next: string } };
}

/** Two ends of one real TCP connection. */
async function socketPair(t: TestContext): Promise<[near: Socket, far: Socket]> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[near]] = (await Promise.all([once(server, 'connection'), once(far, 'connect')])) as [[Socket], unknown];
  server.close();
  for (const socket of [near, far]) socket.on('error', () => {});
  t.after(() => [near, far].forEach((socket) => socket.destroy()));
  return [near, far];
}

async function peerPair(t: TestContext, near: PeerOptions, far: PeerOptions = {}): Promise<[Peer, Peer]> {
  const [a, b] = await socketPair(t);
  return [new Peer(a, near), new Peer(b, far)];
}

async function rawClient(t: TestContext, options: PeerOptions) {
  const [near, far] = await socketPair(t);
  const answers: Wire[] = [];
  const decoder = new FrameDecoder((text) => answers.push(JSON.parse(text) as Wire));
  far.on('data', (chunk) => decoder.push(chunk));
  return { peer: new Peer(near, options), socket: far, answers, send: (text: string) => far.write(encodeFrame(text)) };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    assert.ok(i < 1000, 'waited 5 s in vain');
    await sleep(5);
  }
}

function is(code: ErrorCode, text?: RegExp) {
  return (error: unknown) =>
    error instanceof BusError && error.code === code && error.next !== '' && (text?.test(error.message) ?? true);
}

/** Resolves when the context's signal aborts; rejects with its reason as a handler would. */
function untilAborted({ signal }: RequestContext): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

const echo: PeerHandlers = {
  onRequest(method, params, context) {
    if (method === 'echo') return params;
    if (method === 'later') return sleep(1).then(() => params);
    if (method === 'hang') return untilAborted(context);
    if (method === 'refuse') throw new BusError('mailbox-full', 'It is full.', { next: 'Wait.' });
    if (method === 'crash') return Promise.reject(new Error('the password is swordfish'));
    throw new UnknownMethod(method);
  },
};

function vscodeConnection(socket: Socket): rpc.MessageConnection {
  return rpc.createMessageConnection(new rpc.StreamMessageReader(socket), new rpc.StreamMessageWriter(socket));
}

test('any value comes back as it went, in both directions at once', async (t) => {
  const [a, b] = await peerPair(t, { handlers: echo }, { handlers: echo });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), { maxLength: 20 }),
      async (values) => {
        const calls = values.flatMap((value) => [a.request('echo', { value }), b.request('later', { value })]);
        const expected = values.flatMap((value) => Array<unknown>(2).fill(JSON.parse(JSON.stringify({ value }))));
        assert.deepEqual(await Promise.all(calls), expected);
      },
    ),
    { numRuns: 50 },
  );
  assert.equal(await a.request('echo'), null);
  assert.equal(await a.request('echo', null), null);
});

test('a megabyte of control characters and of everything else arrives byte for byte', async (t) => {
  const [a] = await peerPair(t, {}, { handlers: echo });
  const controls = String.fromCharCode(
    ...Array.from({ length: 32 }, (_, i) => i),
    0x7f,
    0x85,
    0x2028,
    0x2029,
    0xfeff,
    0xfffd,
  );
  const texts = Array.from({ length: 32 }, (_, i) => String.fromCharCode(i).repeat(1_048_576));
  for (const text of [...texts, controls.repeat(30_000), '🚌'.repeat(262_144), '\ud800"\\'.repeat(1000)]) {
    const back = (await a.request('echo', { text })) as { text: string };
    assert.ok(back.text === text, `text starting with ${JSON.stringify(text.slice(0, 2))}`);
  }
});

test('all requests of one read are dispatched together, and their answers are one write', async (t) => {
  const { promise: commit, resolve: committed } = Promise.withResolvers<void>();
  const [near, far] = await socketPair(t);
  const started: string[] = [];
  const server = new Peer(near, {
    handlers: {
      async onRequest(method, params) {
        started.push(method);
        await commit;
        // Answers become ready at different depths of the microtask queue, as after a group commit.
        for (let i = 0; i < (params as { i: number }).i % 7; i++) await Promise.resolve();
        return params;
      },
    },
  });
  assert.ok(server.isOpen);
  const write = t.mock.method(near, 'write');
  let turns = 0;
  near.on('data', () => turns++);
  const client = new Peer(far);
  const calls = Array.from({ length: 64 }, (_, i) => client.request('send', { i }));
  await until(() => started.length > 0);
  assert.deepEqual([started.length, turns], [64, 1]);
  committed();
  assert.equal((await Promise.all(calls)).length, 64);
  assert.equal(write.mock.callCount(), 1);
});

test('answers ready at once and answers a few promises later are one write', async (t) => {
  const [near, far] = await socketPair(t);
  const peer = new Peer(near, { handlers: { onRequest: (method) => (method === 'now' ? 1 : settle(2)) } });
  const settle = async (value: number) => (await Promise.resolve(), await Promise.resolve(), value);
  const write = t.mock.method(near, 'write');
  const client = new Peer(far);
  const answers = Promise.all(['now', 'soon', 'now', 'soon'].map((method) => client.request(method)));
  assert.deepEqual(await answers, [1, 2, 1, 2]);
  assert.equal(write.mock.callCount(), 1);
  assert.ok(peer.isOpen);
});

test('errors keep their code and next step; our own failures say nothing of the inside', async (t) => {
  const failures: [unknown, string][] = [];
  const [a] = await peerPair(
    t,
    {},
    { handlers: echo, onInternalError: (error, method) => failures.push([error, method]) },
  );
  await assert.rejects(a.request('refuse'), (error: BusError) => {
    assert.deepEqual(error.toShape(), { code: 'mailbox-full', message: 'It is full.', next: 'Wait.' });
    return true;
  });
  await assert.rejects(a.request('nonsense'), is('unknown-tool', /nonsense/));
  await assert.rejects(
    a.request('crash'),
    (error: BusError) => is('internal')(error) && !/swordfish/.test(JSON.stringify(error.toShape())),
  );
  assert.deepEqual(
    failures.map(([error, method]) => [(error as Error).message, method]),
    [['the password is swordfish', 'crash']],
  );
});

test('without handlers every method is unknown, and notifications go nowhere', async (t) => {
  const [a, b] = await peerPair(t, {});
  b.notify('hello');
  await assert.rejects(b.request('echo'), is('unknown-tool'));
  assert.ok(a.isOpen && b.isOpen);
});

test('what cannot be written as JSON, or is too large, fails its own call only', async (t) => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const failures: unknown[] = [];
  const onRequest = (method: string) =>
    method === 'circular' ? circular : method === 'large' ? 'x'.repeat(2000) : undefined;
  const options = { maxFrame: 1000, onInternalError: (error: unknown) => failures.push(error) };
  const [a, b] = await peerPair(t, { ...options }, { ...options, handlers: { onRequest } });
  await assert.rejects(a.request('circular'), is('internal'));
  await assert.rejects(a.request('large'), is('too-large'));
  await assert.rejects(a.request('any', 'x'.repeat(2000)), is('too-large'));
  assert.throws(() => a.notify('any', 'x'.repeat(2000)), is('too-large'));
  assert.equal(await a.request('any'), null);
  assert.equal(failures.length, 1);
  assert.ok(b.isOpen);
});

test('notifications arrive in order; a handler that fails is reported and harms nothing', async (t) => {
  const seen: unknown[] = [];
  const failures: string[] = [];
  const handlers: PeerHandlers = {
    onNotification(method, params) {
      seen.push(params);
      if (method === 'throw') throw new Error('sync');
      if (method === 'reject') return Promise.reject(new Error('async'));
      return undefined;
    },
    onRequest: () => 'ok',
  };
  const [a] = await peerPair(
    t,
    {},
    { handlers, onInternalError: (error, method) => failures.push(`${method} ${String(error)}`) },
  );
  ['note', 'throw', 'reject', '$/unknown'].forEach((method, i) => a.notify(method, { i }));
  assert.equal(await a.request('sync'), 'ok');
  assert.deepEqual(seen, [{ i: 0 }, { i: 1 }, { i: 2 }, { i: 3 }]);
  assert.deepEqual(failures.sort(), ['reject Error: async', 'throw Error: sync']);
});

test('cancelling ends the call on both sides at once', async (t) => {
  const reasons: unknown[] = [];
  const handlers: PeerHandlers = {
    onRequest: (method, params, context) =>
      method === 'deaf' ? new Promise(() => {}) : untilAborted(context).catch((error) => reasons.push(error)),
  };
  const [near, far] = await socketPair(t);
  const server = new Peer(near, { handlers });
  const client = new Peer(far);
  assert.ok(server.isOpen);
  for (const method of ['listen', 'deaf']) {
    const abort = new AbortController();
    const call = client.request(method, {}, { signal: abort.signal });
    await sleep(20);
    abort.abort(new Error('changed my mind'));
    await assert.rejects(
      call,
      (error: BusError) => is('cancelled')(error) && (error.cause as Error).message === 'changed my mind',
    );
  }
  await until(() => reasons.length === 1);
  assert.ok(is('cancelled')(reasons[0]));
  await assert.rejects(client.request('listen', {}, { signal: AbortSignal.abort() }), is('cancelled'));
  const abort = new AbortController();
  const done = client.request('quick', {}, { signal: abort.signal, timeoutMs: 5_000 }).catch((error: unknown) => error);
  abort.abort();
  assert.ok(is('cancelled')(await done));
});

test('a cancelled request is answered once with -32800, and its slot is kept until the handler ends', async (t) => {
  const ends: (() => void)[] = [];
  const onRequest = () => new Promise<string>((resolve) => ends.push(() => resolve('too late')));
  const { send, answers, peer } = await rawClient(t, { handlers: { onRequest }, maxInFlight: 2 });
  send('{"jsonrpc":"2.0","id":"a","method":"x"}');
  send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}}');
  send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"nobody"}}');
  send('{"jsonrpc":"2.0","method":"$/cancelRequest"}');
  send('{"jsonrpc":"2.0","id":"b","method":"x"}');
  send('{"jsonrpc":"2.0","id":"c","method":"x"}');
  await until(() => answers.length === 2);
  assert.deepEqual(
    answers.map(({ id, error }) => [id, error?.code, error?.data.code]),
    [
      ['a', -32800, 'cancelled'],
      ['c', -32000, 'too-many-waits'],
    ],
  );
  ends.forEach((end) => end());
  await until(() => answers.length === 3);
  send('{"jsonrpc":"2.0","id":"a","method":"x"}');
  await until(() => ends.length === 3);
  ends[2]?.();
  await until(() => answers.length === 4);
  assert.deepEqual(answers.slice(2), [
    { jsonrpc: '2.0', id: 'b', result: 'too late' },
    { jsonrpc: '2.0', id: 'a', result: 'too late' },
  ]);
  assert.ok(peer.isOpen);
});

test('a timeout cancels the call, and a late answer is dropped', async (t) => {
  const aborted: string[] = [];
  const onRequest = async (method: string, _params: unknown, { signal }: RequestContext) => {
    signal.addEventListener('abort', () => aborted.push(method));
    await sleep(method === 'slow' ? 60 : 1);
    return method;
  };
  const [a] = await peerPair(t, {}, { handlers: { onRequest } });
  await assert.rejects(a.request('slow', {}, { timeoutMs: 20 }), is('hub-unavailable', /20 ms/));
  const { signal } = new AbortController();
  assert.equal(await a.request('quick', {}, { signal, timeoutMs: 5_000 }), 'quick');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await sleep(80);
  assert.equal(await a.request('quick'), 'quick');
  assert.deepEqual(aborted, ['slow']);
});

test('closing in the middle aborts handlers and rejects calls, on both sides, once', async (t) => {
  for (const how of ['close', 'destroy', 'reset'] as const) {
    const [near, far] = await socketPair(t);
    const closes: string[] = [];
    const aborts: unknown[] = [];
    const handlers: PeerHandlers = {
      onRequest: (_method, _params, context) => untilAborted(context).catch((error) => aborts.push(error)),
    };
    const a = new Peer(near, { handlers, onClose: () => closes.push('a') });
    const b = new Peer(far, { handlers, onClose: () => closes.push('b') });
    const calls = [a.request('x'), a.request('y', {}, { timeoutMs: 60_000 }), b.request('z')];
    const outcomes = Promise.allSettled(calls);
    await sleep(20);
    if (how === 'close') a.close();
    else if (how === 'destroy') near.destroy();
    else near.resetAndDestroy();
    a.close();
    for (const outcome of await outcomes) {
      assert.ok(
        outcome.status === 'rejected' && is('hub-unavailable')(outcome.reason),
        `${how}: ${JSON.stringify(outcome)}`,
      );
    }
    await Promise.all([a.closed, b.closed]);
    assert.deepEqual(closes.sort(), ['a', 'b']);
    assert.equal(aborts.length, 3);
    assert.ok(aborts.every(is('cancelled')));
    await assert.rejects(a.request('x'), is('hub-unavailable'));
    a.notify('nobody hears this');
  }
});

test('close writes what is queued before it hangs up', async (t) => {
  const [a, b] = await peerPair(
    t,
    {},
    { handlers: { onRequest: () => (setImmediate(() => b.close()), 'x'.repeat(3_000_000)) } },
  );
  assert.equal(((await a.request('last words')) as string).length, 3_000_000);
  await Promise.all([a.closed, b.closed]);
});

test('afterWritten runs for a written result only', async (t) => {
  const written: string[] = [];
  const failures: unknown[] = [];
  const onRequest = async (method: string, _params: unknown, context: RequestContext) => {
    context.afterWritten(() => written.push(method));
    if (method === 'bad callback') context.afterWritten(() => assert.fail('in callback'));
    if (method === 'throws') throw new BusError('rate-limited', 'No.', { next: 'Wait.' });
    if (method === 'hang') await untilAborted(context);
    return method;
  };
  const [a] = await peerPair(t, {}, { handlers: { onRequest }, onInternalError: (error) => failures.push(error) });
  const abort = new AbortController();
  const calls = ['one', 'throws', 'bad callback', 'two'].map((method) => a.request(method));
  calls.push(a.request('hang', {}, { signal: abort.signal }));
  setTimeout(() => abort.abort(), 20);
  await Promise.allSettled(calls);
  await until(() => written.length >= 3);
  assert.deepEqual(written, ['one', 'bad callback', 'two']);
  assert.equal(failures.length, 1);
});

test('afterWritten does not run for what a lost socket still held', async (t) => {
  const [near, far] = await socketPair(t);
  far.pause();
  let written = 0;
  const onRequest = (_method: string, _params: unknown, context: RequestContext) => {
    context.afterWritten(() => written++);
    return 'x'.repeat(7_500_000);
  };
  const peer = new Peer(near, { handlers: { onRequest } });
  // Several reads: the first answer is half in the kernel, the others wait behind it.
  for (let id = 0; id < 4; id++) {
    far.write(encodeFrame(`{"jsonrpc":"2.0","id":${id},"method":"x"}`));
    await until(() => near.writableLength > id * 7_500_000);
  }
  near.destroy();
  await peer.closed;
  await sleep(20);
  assert.equal(written, 0);
});

test('a reader that stops reading is closed with slow-reader, without more memory than allowed', async (t) => {
  const [near, far] = await socketPair(t);
  far.pause();
  const { promise: closed, resolve: onClose } = Promise.withResolvers<BusError | undefined>();
  let answered = 0;
  let written = 0;
  const block = 'x'.repeat(100_000);
  const handlers: PeerHandlers = {
    onRequest(_method, _params, context) {
      answered++;
      context.afterWritten(() => written++);
      return block;
    },
  };
  const peer = new Peer(near, { handlers, onClose, maxQueuedBytes: 2 * 1024 * 1024 });
  for (let id = 0; id < 2000 && peer.isOpen; id++) {
    far.write(encodeFrame(`{"jsonrpc":"2.0","id":${id},"method":"more"}`));
    if (id % 10 === 0) await sleep(1);
    assert.ok(near.writableLength <= 2 * 1024 * 1024);
  }
  assert.ok(is('slow-reader')(await closed));
  assert.ok(near.destroyed, 'what is queued is let go at once');
  await peer.closed;
  assert.ok(answered - written >= 10, `${written} of ${answered} were said to be written`);
  await assert.rejects(peer.request('x'), is('hub-unavailable'));
});

test('malformed messages are answered with id null, then the connection is closed', async (t) => {
  const cases: [text: string, code: number][] = [
    ['{"jsonrpc":"2.0",', -32700],
    ['', -32700],
    ['[{"jsonrpc":"2.0","id":1,"method":"echo"}]', -32600],
    ['1', -32600],
    ['null', -32600],
    ['{}', -32600],
    ['{"id":1,"method":"echo"}', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":1}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":1e999,"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":[],"result":1}', -32600],
    ['{"jsonrpc":"2.0","id":1,"error":7}', -32600],
    [`{"params":${'['.repeat(100)}${']'.repeat(100)},"jsonrpc":"2.0","id":1,"method":"echo"}`, -32700],
  ];
  for (const [text, code] of cases) {
    let closedBy: BusError | undefined;
    const { send, answers, peer, socket } = await rawClient(t, {
      handlers: echo,
      onClose: (error) => (closedBy = error),
    });
    send('{"jsonrpc":"2.0","id":0,"method":"echo","params":{}}');
    send(text);
    send('{"jsonrpc":"2.0","id":2,"method":"echo","params":{}}');
    await once(socket, 'close');
    assert.deepEqual(
      answers.map(({ id, error }) => [id, error?.code]),
      [
        [0, undefined],
        [null, code],
      ],
      text,
    );
    assert.ok(closedBy instanceof BusError, text);
    await peer.closed;
  }
});

test('two open requests with one id, an oversized frame and garbage close the connection', async (t) => {
  const hang = '{"jsonrpc":"2.0","id":1,"method":"hang"}';
  for (const bytes of [
    encodeFrame(hang).repeat(2),
    'Content-Length: 99999999\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  ]) {
    const { socket, answers } = await rawClient(t, { handlers: echo });
    socket.write(bytes);
    await once(socket, 'close');
    assert.deepEqual(
      answers.map(({ id, error }) => [id, error !== undefined]),
      [[null, true]],
    );
  }
});

test('too deep a message fails its own call only', async (t) => {
  const deep = JSON.parse('['.repeat(80) + ']'.repeat(80)) as unknown;
  const [a, b] = await peerPair(t, { handlers: { onRequest: () => deep } }, { maxDepth: 70 });
  await assert.rejects(b.request('get'), is('too-deep'));
  await assert.rejects(b.request('put', deep), is('too-deep'));
  assert.ok(a.isOpen && b.isOpen);
});

test('random bytes never throw, hang or leave the peer half open', async (t) => {
  const pieces = fc.constantFrom(
    ...['"jsonrpc":"2.0"', '"id":1', '"method":"echo"', '"error":{}', '"result":null', '{', '}', ',', '[', 'null'],
  );
  const anyPayload = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.json(),
    fc.string(),
  );
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.array(anyPayload, { maxLength: 4 }).map((texts) => Buffer.from(texts.map(encodeFrame).join(''))),
  );
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const { socket, peer } = await rawClient(t, {
        handlers: echo,
        onInternalError: (error) => assert.fail(String(error)),
      });
      socket.end(bytes);
      await Promise.all([peer.closed, once(socket, 'close')]);
    }),
    { numRuns: 150 },
  );
});

test('the same ids on a hundred connections never meet', async (t) => {
  const server = createServer((socket) => {
    new Peer(socket, { handlers: { onRequest: (_method, params) => sleep(Math.random() * 5).then(() => params) } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: 100 }, () => new Peer(connect(port, '127.0.0.1')));
  await Promise.all(
    clients.map(async (client, c) => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => client.request('echo', { c, i })));
      assert.deepEqual(
        answers,
        Array.from({ length: 50 }, (_, i) => ({ c, i })),
      );
      client.close();
      await client.closed;
    }),
  );
});

test('vscode-jsonrpc as the client of a peer', async (t) => {
  const [near, far] = await socketPair(t);
  const notes: unknown[] = [];
  const peer = new Peer(near, {
    handlers: { ...echo, onNotification: (method, params) => notes.push([method, params]) },
  });
  const client = vscodeConnection(far);
  client.onRequest('question', (params: { n: number }) => ({ n: params.n + 1 }));
  client.listen();
  assert.deepEqual(await client.sendRequest('echo', { text: 'é🚌\u0000' }), { text: 'é🚌\u0000' });
  assert.deepEqual(await client.sendRequest('echo', 1, 'two'), [1, 'two']);
  const many = await Promise.all(Array.from({ length: 200 }, (_, i) => client.sendRequest('later', { i })));
  assert.deepEqual(
    many,
    Array.from({ length: 200 }, (_, i) => ({ i })),
  );
  await client.sendNotification('note', { a: 1 });
  assert.deepEqual(await peer.request('question', { n: 41 }), { n: 42 });
  assert.deepEqual(notes, [['note', { a: 1 }]]);

  const rejects = async (method: string, code: number, data: unknown) =>
    assert.rejects(client.sendRequest(method, {}), (error: rpc.ResponseError<{ code: string }>) => {
      assert.deepEqual([error.code, error.data?.code], [code, data]);
      return true;
    });
  await rejects('refuse', -32000, 'mailbox-full');
  await rejects('crash', rpc.ErrorCodes.InternalError, 'internal');
  await rejects('nonsense', rpc.ErrorCodes.MethodNotFound, 'unknown-tool');

  const source = new rpc.CancellationTokenSource();
  const hanging = client.sendRequest('hang', {}, source.token);
  await sleep(20);
  source.cancel();
  await assert.rejects(hanging, (error: rpc.ResponseError<unknown>) => error.code === -32800);
  client.dispose();
  far.end();
  await peer.closed;
});

test('vscode-jsonrpc as the server of a peer', async (t) => {
  const [near, far] = await socketPair(t);
  const server = vscodeConnection(near);
  const notes: unknown[] = [];
  let cancelled = 0;
  server.onRequest('echo', (params: unknown) => params);
  server.onRequest('refuse', () => new rpc.ResponseError(-32000, 'Full.', { code: 'mailbox-full', next: 'Wait.' }));
  server.onRequest('crash', () => {
    throw new Error('broken');
  });
  server.onRequest('hang', (_params: unknown, token: rpc.CancellationToken) => {
    return new Promise((resolve) => token.onCancellationRequested(() => (cancelled++, resolve('stopped'))));
  });
  server.onNotification('note', (params: unknown) => void notes.push(params));
  server.listen();
  const peer = new Peer(far, { handlers: echo });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => peer.request('echo', { i, text: 'é🚌\u0000' })),
  );
  assert.deepEqual(
    answers,
    Array.from({ length: 200 }, (_, i) => ({ i, text: 'é🚌\u0000' })),
  );
  peer.notify('note', { a: 1 });
  assert.deepEqual(await server.sendRequest('later', { b: 2 }), { b: 2 });
  assert.deepEqual(notes, [{ a: 1 }]);
  await assert.rejects(peer.request('refuse', {}), is('mailbox-full', /Full/));
  await assert.rejects(peer.request('crash', {}), is('internal'));
  await assert.rejects(peer.request('nonsense', {}), is('unknown-tool'));
  const abort = new AbortController();
  const hanging = peer.request('hang', {}, { signal: abort.signal });
  await sleep(20);
  abort.abort();
  await assert.rejects(hanging, is('cancelled'));
  await until(() => cancelled === 1);
  assert.deepEqual(await peer.request('echo', { still: 'there' }), { still: 'there' });
  server.dispose();
});
