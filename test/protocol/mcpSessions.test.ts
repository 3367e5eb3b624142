/** MCP over HTTP on the level of single requests: waiting, vanishing, sessions. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sessions, type Session } from '../../src/transports/mcp/sessions.ts';
import { openMcpBus, until, type McpBus } from '../support/mcpBus.ts';

interface Posted {
  req: ClientRequest;
  res: IncomingMessage;
}

/** One POST whose connection the test holds in its hand. Resolves with the head of the answer. */
async function post(
  url: URL,
  body: unknown,
  headers: Record<string, string> = {},
  token = 'token-ann',
): Promise<Posted> {
  const req = httpRequest(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...headers,
    },
    agent: false,
  });
  req.on('error', () => {});
  req.end(JSON.stringify(body));
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return { req, res };
}

async function textIn({ res }: Posted): Promise<string> {
  let text = '';
  for await (const chunk of res.setEncoding('utf8')) text += chunk as string;
  return text;
}

const call = (name: string, args: Record<string, unknown> = {}, id: number | string = 1): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

async function openSession(url: URL, token?: string): Promise<string> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  const opened = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, {}, token);
  await textIn(opened);
  return opened.res.headers['mcp-session-id'] as string;
}

const modernHeaders = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' };
function modernCall(name: string): Record<string, unknown> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta } };
}

describe('waiting calls', () => {
  const eras: Record<string, (bus: McpBus) => Promise<Posted>> = {
    'older revisions': async (bus) => post(bus.url, call('wait'), { 'mcp-session-id': await openSession(bus.url) }),
    '2026-07-28': (bus) => post(bus.url, modernCall('wait'), modernHeaders),
  };
  for (const [era, start] of Object.entries(eras)) {
    test(`${era}: the head of the answer comes at once`, async (t) => {
      const bus = await openMcpBus(t);
      const started = Date.now();
      const posted = await start(bus);
      assert.ok(Date.now() - started < 500);
      assert.equal(posted.res.headers['content-type'], 'text/event-stream');
      await until(() => bus.release.length === 1, 'the call waits');
      assert.deepEqual(bus.delivered, []);
      bus.release[0]!('at last');
      assert.match(await textIn(posted), /at last/);
      await until(() => bus.delivered.length === 1, 'delivered after it arrived');
      assert.deepEqual(bus.delivered, ['at last']);
    });

    test(`${era}: a vanished client is noticed, and nothing is left of a hundred of them`, async (t) => {
      const bus = await openMcpBus(t);
      const posted = await Promise.all(Array.from({ length: 100 }, () => start(bus)));
      await until(() => bus.release.length === 100, 'all wait');
      for (const { req } of posted) req.destroy();
      await until(() => bus.aborted === 100, 'all are freed');
      await sleep(50);
      assert.deepEqual(bus.delivered, []);
      await until(() => connectionsOf(bus) === 0, 'no connection is left');
    });

    test(`${era}: an answer that races with the client's leaving is delivered or not, never both`, async (t) => {
      const bus = await openMcpBus(t);
      for (let round = 0; round < 40; round++) {
        const posted = await start(bus);
        await until(() => bus.release.length === round + 1, 'the call waits');
        posted.req.destroy();
        if (round % 2) await sleep(1);
        await sleep(0);
        if (round % 4 > 1) await until(() => bus.aborted > 0, 'noticed');
        const gone = bus.calls.at(-1)!.call.signal.aborted;
        bus.release[round]!(`late ${round}`);
        await sleep(5);
        if (gone) assert.ok(!bus.delivered.includes(`late ${round}`));
      }
    });
  }

  let last = 0;
  function connectionsOf(bus: McpBus): number {
    void bus.door.connections().then((count) => (last = count));
    return last;
  }
});

describe('sessions', () => {
  test('belong to one agent: for another they do not exist', async (t) => {
    const bus = await openMcpBus(t);
    const id = await openSession(bus.url);
    const foreign = await post(bus.url, call('whoami'), { 'mcp-session-id': id }, 'token-bob');
    assert.equal(foreign.res.statusCode, 404);
    assert.match(await textIn(foreign), /Session not found/);
    const own = await post(bus.url, call('whoami'), { 'mcp-session-id': id });
    assert.match(await textIn(own), /agent 1/);
  });

  test('an unknown id with a good token is taken on, once, even by many requests at the same time', async (t) => {
    const bus = await openMcpBus(t);
    const headers = { 'mcp-session-id': 'from-an-earlier-hub', 'mcp-protocol-version': '2025-06-18' };
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, at) =>
        textIn(await post(bus.url, call('echo', { text: `n${at}` }, at), headers)),
      ),
    );
    texts.forEach((text, at) => assert.match(text, new RegExp(`"n${at}"`)));
    assert.equal(bus.route.sessions(), 1);
    const foreign = await post(bus.url, call('whoami'), headers, 'token-bob');
    assert.equal(foreign.res.statusCode, 404);
    await textIn(foreign);
  });

  test('ids of no sane shape, and ids that their client has ended, stay unknown', async (t) => {
    const bus = await openMcpBus(t);
    for (const id of ['a b', 'x'.repeat(129), 'tab\there']) {
      const posted = await post(bus.url, call('whoami'), { 'mcp-session-id': id });
      assert.equal(posted.res.statusCode, 404, id);
      await textIn(posted);
    }
    const id = await openSession(bus.url);
    const end = (): Promise<number> =>
      fetch(bus.url, { method: 'DELETE', headers: { authorization: 'Bearer token-ann', 'mcp-session-id': id } }).then(
        (response) => response.status,
      );
    assert.equal(await end(), 200);
    assert.equal(await end(), 404);
    assert.equal((await post(bus.url, call('whoami'), { 'mcp-session-id': id })).res.statusCode, 404);
    assert.equal(bus.route.sessions(), 0);
  });

  test('a request without a session is told so', async (t) => {
    const bus = await openMcpBus(t);
    const posted = await post(bus.url, call('whoami'));
    assert.equal(posted.res.statusCode, 400);
    assert.match(await textIn(posted), /Mcp-Session-Id/);
  });

  test('the oldest idle one makes room, one in use is kept, and when all are in use the next is refused', async (t) => {
    const bus = await openMcpBus(t, 0, { perAgent: 2 });
    const first = await openSession(bus.url);
    const waiting = await post(bus.url, call('wait'), { 'mcp-session-id': first });
    const second = await openSession(bus.url);
    const third = await openSession(bus.url);
    assert.equal(bus.route.sessions(), 2);
    assert.notEqual(second, third);
    const also = await post(bus.url, call('wait'), { 'mcp-session-id': third });
    assert.equal(await openSession(bus.url), undefined);
    assert.ok(await openSession(bus.url, 'token-bob'), 'another agent has its own room');
    await until(() => bus.release.length === 2, 'both wait');
    bus.release.forEach((release) => release('kept'));
    assert.match(await textIn(waiting), /kept/);
    assert.match(await textIn(also), /kept/);
  });

  test('the standing stream of a session is open at once and ends when the door closes', async (t) => {
    const bus = await openMcpBus(t);
    const id = await openSession(bus.url);
    const stream = await fetch(bus.url, {
      headers: { authorization: 'Bearer token-ann', accept: 'text/event-stream', 'mcp-session-id': id },
    });
    assert.equal(stream.status, 200);
    const started = Date.now();
    await bus.door.close(5_000);
    assert.ok(Date.now() - started < 2_000, 'it does not use up the grace of running calls');
    await stream.text().catch(() => {});
  });

  test('closing the door lets a waiting call answer', async (t) => {
    const bus = await openMcpBus(t);
    const posted = await post(bus.url, call('wait'), { 'mcp-session-id': await openSession(bus.url) });
    await until(() => bus.release.length === 1, 'the call waits');
    const closed = bus.door.close(5_000);
    await sleep(50);
    bus.release[0]!('just in time');
    assert.match(await textIn(posted), /just in time/);
    await closed;
    assert.deepEqual(bus.delivered, ['just in time']);
  });

  test("JSON that is no message is the sender's fault, with and without a session", async (t) => {
    const bus = await openMcpBus(t);
    const id = await openSession(bus.url);
    const odd = [
      null,
      1,
      'x',
      [],
      [1],
      {},
      { jsonrpc: '2.0' },
      { jsonrpc: '2.0', id: {}, method: 'ping' },
      { method: 'initialize' },
    ];
    for (const body of odd) {
      for (const headers of [{}, { 'mcp-session-id': id }, modernHeaders]) {
        const posted = await post(bus.url, body, headers as Record<string, string>);
        const status = posted.res.statusCode!;
        assert.ok(status >= 400 && status < 500, `${JSON.stringify(body)} ${JSON.stringify(headers)}: ${status}`);
        await textIn(posted);
      }
    }
    assert.match(await textIn(await post(bus.url, call('whoami'), { 'mcp-session-id': id })), /agent 1/);
  });

  test('batches of 2025-03-26 are answered as one', async (t) => {
    const bus = await openMcpBus(t);
    const headers = { 'mcp-session-id': await openSession(bus.url), 'mcp-protocol-version': '2025-03-26' };
    const text = await textIn(
      await post(bus.url, [call('echo', { text: 'x' }, 1), call('echo', { text: 'y' }, 2)], headers),
    );
    assert.match(text, /"x"/);
    assert.match(text, /"y"/);
  });
});

test('an idle session is swept after its time, one in use is not', () => {
  let now = 0;
  const closed: string[] = [];
  const sessions = new Sessions({ idleMs: 100, perAgent: 10, inAll: 10 }, () => now, assert.ifError);
  const session = (id: string): Session => {
    const server = { close: () => Promise.resolve(void closed.push(id)) };
    return { id, agent: 1, server, ready: Promise.resolve(), active: 0, lastUsed: now } as unknown as Session;
  };
  const [idle, busy, fresh] = [session('idle'), session('busy'), session('fresh')];
  for (const one of [idle, busy, fresh]) sessions.add(one);
  const done = sessions.use(busy);
  now = 90;
  sessions.use(fresh)();
  now = 150;
  sessions.sweep();
  assert.deepEqual(closed, ['idle']);
  done();
  now = 260;
  sessions.sweep();
  assert.deepEqual(closed, ['idle', 'fresh', 'busy']);
  assert.equal(sessions.size, 0);
});
