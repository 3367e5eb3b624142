/** MCP over HTTP with the clients that are out there: the v1 SDK, and the v2 SDK in both eras of the protocol. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Caller } from '../../src/core/model.ts';
import { BusError } from '../../src/core/errors.ts';
import type { ModelAnswer, ToolListing } from '../../src/tools/answer.ts';
import { bearer, loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor, type HttpDoor } from '../../src/transports/httpDoor.ts';
import { Beat } from '../../src/transports/mcp/beat.ts';
import { mcpHttp, type McpHttpRoute } from '../../src/transports/mcp/mcpHttp.ts';
import { createBusServer, type McpCall, type McpFace } from '../../src/transports/mcp/mcpServer.ts';
import type { SessionLimits } from '../../src/transports/mcp/sessions.ts';

const listing = (name: string): ToolListing => ({
  name,
  title: name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
});

const answer = (text: string, structured: Record<string, unknown> = {}, isError = false): ModelAnswer => ({ text, structured, isError, shown: [text] });

class Bus {
  readonly delivered: string[] = [];
  readonly calls: { name: string; caller: Caller; call: McpCall }[] = [];
  aborted = 0;
  /** Ends the waits that are running. */
  release: ((text: string) => void)[] = [];
  door!: HttpDoor;
  route!: McpHttpRoute;
  private readonly beat = new Beat(60);
  now = Date.now();

  async open(port = 0, sessionLimits: Partial<SessionLimits> = {}): Promise<this> {
    this.route = mcpHttp({ serverFor: (caller) => createBusServer(this.face(caller), { beat: this.beat }), sessionLimits, now: () => this.now });
    const agents: Record<string, number> = { 'token-ann': 1, 'token-bob': 2 };
    const authenticate = (token: string): Caller | undefined => (agents[token] ? { agent: agents[token], via: 'mcp' } : undefined);
    this.door = await openHttpDoor({ port, guard: loopbackGuard(bearer(authenticate)), routes: new Map([['/mcp', this.route]]) });
    return this;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.door.port}/mcp`);
  }

  private face(caller: Caller): McpFace {
    return {
      info: { name: 'bus', version: '1.2.3' },
      instructions: 'Be kind.',
      tools: ['echo', 'whoami', 'fail', 'refuse', 'crash', 'wait'].map(listing),
      delivered: (given) => void this.delivered.push(given.text),
      call: async (name, args, call) => {
        this.calls.push({ name, caller, call });
        if (name === 'echo') return answer(String(args['text']), { text: args['text'] });
        if (name === 'whoami') return answer(`agent ${caller.agent}`, { agent: caller.agent });
        if (name === 'fail') return answer('It failed.', { error: { code: 'unknown-agent' } }, true);
        if (name === 'refuse') throw new BusError('rate-limited', 'Too fast.', { next: 'Wait.' });
        if (name === 'crash') throw new Error('secret detail');
        return new Promise((resolve) => {
          this.release.push((text) => resolve(answer(text)));
          call.signal.addEventListener('abort', () => {
            this.aborted++;
            resolve(answer('nobody hears this'));
          });
        });
      },
    };
  }
}

async function openBus(t: TestContext, port?: number, limits?: Partial<SessionLimits>): Promise<Bus> {
  const bus = await new Bus().open(port, limits);
  t.after(() => bus.door.close(0));
  return bus;
}

/** What the tests need of either client. */
type AnyClient = Pick<Client, 'listTools' | 'callTool' | 'close' | 'getInstructions' | 'getServerCapabilities'>;
type Connect = (t: TestContext, url: URL, token?: string) => Promise<AnyClient>;

const init = (token: string): { requestInit: { headers: Record<string, string> } } => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

const clients: Record<string, Connect> = {
  'v1 SDK': async (t, url, token = 'token-ann') => {
    const client = new ClientV1({ name: 'one', version: '1' });
    await client.connect(new TransportV1(url, init(token)) as Parameters<typeof client.connect>[0]);
    t.after(() => client.close());
    // The v1 client takes a result schema before the options.
    const callTool = (params: Parameters<typeof client.callTool>[0], options?: Parameters<typeof client.callTool>[2]) => client.callTool(params, undefined, options);
    return { ...asIs(client), callTool } as unknown as AnyClient;
  },
  'v2 SDK, older revisions': async (t, url, token = 'token-ann') => {
    const client = new Client({ name: 'two', version: '2' });
    await client.connect(new StreamableHTTPClientTransport(url, init(token)));
    t.after(() => client.close());
    return client;
  },
  'v2 SDK, 2026-07-28': async (t, url, token = 'token-ann') => {
    const client = new Client({ name: 'three', version: '3' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StreamableHTTPClientTransport(url, init(token)));
    t.after(() => client.close());
    return client;
  },
};

function asIs(client: ClientV1): Omit<AnyClient, 'callTool'> {
  return {
    listTools: () => client.listTools() as never,
    close: () => client.close(),
    getInstructions: () => client.getInstructions(),
    getServerCapabilities: () => client.getServerCapabilities() as never,
  };
}

const textOf = (result: Awaited<ReturnType<AnyClient['callTool']>>): string => (result.content[0] as { text: string }).text;

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let at = 0; at < 200; at++) {
    if (condition()) return;
    await sleep(10);
  }
  assert.fail(`never happened: ${what}`);
}

for (const [kind, connect] of Object.entries(clients)) {
  describe(kind, () => {
    test('lists, calls, and gets errors as results', async (t) => {
      const bus = await openBus(t);
      const client = await connect(t, bus.url);
      assert.equal(client.getInstructions(), 'Be kind.');
      assert.deepEqual(client.getServerCapabilities(), { tools: {} });
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name, inputSchema, _meta }) => ({ name, inputSchema, _meta })),
        ['echo', 'whoami', 'fail', 'refuse', 'crash', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' }, _meta: { 'anthropic/alwaysLoad': true } })),
      );
      const echoed = await client.callTool({ name: 'echo', arguments: { text: 'héllo \u0000 \u2028 🚌' } });
      assert.equal(textOf(echoed), 'héllo \u0000 \u2028 🚌');
      assert.deepEqual(echoed.structuredContent, { text: 'héllo \u0000 \u2028 🚌' });
      assert.notEqual(echoed.isError, true);
      const failed = await client.callTool({ name: 'fail', arguments: {} });
      assert.equal(failed.isError, true);
      assert.deepEqual(failed.structuredContent, { error: { code: 'unknown-agent' } });
      const refused = await client.callTool({ name: 'refuse', arguments: {} });
      assert.equal(refused.isError, true);
      assert.match(textOf(refused), /Too fast\. Wait\. \(rate-limited\)/);
      const crashed = await client.callTool({ name: 'crash', arguments: {} });
      assert.equal(crashed.isError, true);
      assert.doesNotMatch(JSON.stringify(crashed), /secret/);
      await assert.rejects(client.callTool({ name: 'nonsense', arguments: {} }), (error: { code?: number }) => error.code === -32_602);
      assert.match(bus.calls[0]!.call.client!.name, /one|two|three/);
      await until(() => bus.delivered.length === 2, 'the two answers are reported as delivered');
    });

    test('1 MiB of control characters both ways', async (t) => {
      const bus = await openBus(t);
      const client = await connect(t, bus.url);
      const text = '\u0001'.repeat(1_048_576);
      assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text } })), text);
    });

    test('progress comes while a call waits, grows, and stops with it', async (t) => {
      const bus = await openBus(t);
      const client = await connect(t, bus.url);
      const seen: number[] = [];
      const call = client.callTool({ name: 'wait', arguments: {} }, { onprogress: ({ progress }: { progress: number }) => void seen.push(progress) } as never);
      await until(() => seen.length >= 3, 'three signs of life');
      bus.release[0]!('done');
      assert.equal(textOf(await call), 'done');
      assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
      assert.equal(new Set(seen).size, seen.length);
      const count = seen.length;
      await sleep(150);
      assert.equal(seen.length, count);
    });

    test('cancelling frees the call and closes its connection; the answer counts as never delivered', async (t) => {
      const bus = await openBus(t);
      const client = await connect(t, bus.url);
      const stop = new AbortController();
      const call = client.callTool({ name: 'wait', arguments: {} }, { signal: stop.signal } as never);
      const failed = assert.rejects(call);
      await until(() => bus.release.length === 1, 'the call waits');
      stop.abort('enough');
      await failed;
      await until(() => bus.aborted === 1, 'the signal fires');
      assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text: 'still fine' } })), 'still fine');
      await until(() => bus.delivered.length > 0, 'the echo is delivered');
      assert.deepEqual(bus.delivered, ['still fine']);
    });

    test('a client that goes away frees its calls', async (t) => {
      const bus = await openBus(t);
      const client = await connect(t, bus.url);
      const call = client.callTool({ name: 'wait', arguments: {} }).catch(() => {});
      await until(() => bus.release.length === 1, 'the call waits');
      await client.close();
      await call;
      await until(() => bus.aborted === 1, 'the signal fires');
      assert.deepEqual(bus.delivered, []);
    });

    test('a hundred clients with equal ids get their own replies', async (t) => {
      const bus = await openBus(t);
      const all = await Promise.all(Array.from({ length: 100 }, (_, at) => connect(t, bus.url, at % 2 ? 'token-ann' : 'token-bob')));
      for (let round = 0; round < 3; round++) {
        const texts = await Promise.all(
          all.map(async (client, at) => [textOf(await client.callTool({ name: 'echo', arguments: { text: `${at}.${round}` } })), textOf(await client.callTool({ name: 'whoami', arguments: {} }))]),
        );
        texts.forEach((text, at) => assert.deepEqual(text, [`${at}.${round}`, `agent ${at % 2 ? 1 : 2}`]));
      }
    });

    test('after a restart the same client goes on without noticing', async (t) => {
      const before = await openBus(t);
      const client = await connect(t, before.url);
      assert.equal(textOf(await client.callTool({ name: 'whoami', arguments: {} })), 'agent 1');
      const { port } = before.door;
      await before.door.close(0);
      const after = await openBus(t, port);
      assert.equal(after.door.port, port);
      const texts = await Promise.all(['a', 'b', 'c'].map(async (text) => textOf(await retried(() => client.callTool({ name: 'echo', arguments: { text } })))));
      assert.deepEqual(texts, ['a', 'b', 'c']);
    });
  });
}

/** A kept-alive connection to the old process may break once; that is the network, not the protocol. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  return attempt().catch(() => attempt());
}

interface Posted {
  req: ClientRequest;
  res: IncomingMessage;
}

/** One POST whose connection the test holds in its hand. Resolves with the head of the answer. */
async function post(url: URL, body: unknown, headers: Record<string, string> = {}, token = 'token-ann'): Promise<Posted> {
  const req = httpRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${token}`, ...headers },
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

const call = (name: string, args: Record<string, unknown> = {}, id: number | string = 1): Record<string, unknown> => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });

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
  const eras: Record<string, (bus: Bus) => Promise<Posted>> = {
    'older revisions': async (bus) => post(bus.url, call('wait'), { 'mcp-session-id': await openSession(bus.url) }),
    '2026-07-28': (bus) => post(bus.url, modernCall('wait'), modernHeaders),
  };
  for (const [era, start] of Object.entries(eras)) {
    test(`${era}: the head of the answer comes at once`, async (t) => {
      const bus = await openBus(t);
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
      const bus = await openBus(t);
      const posted = await Promise.all(Array.from({ length: 100 }, () => start(bus)));
      await until(() => bus.release.length === 100, 'all wait');
      for (const { req } of posted) req.destroy();
      await until(() => bus.aborted === 100, 'all are freed');
      await sleep(50);
      assert.deepEqual(bus.delivered, []);
      await until(() => connectionsOf(bus) === 0, 'no connection is left');
    });

    test(`${era}: an answer that races with the client's leaving is delivered or not, never both`, async (t) => {
      const bus = await openBus(t);
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
  function connectionsOf(bus: Bus): number {
    void bus.door.connections().then((count) => (last = count));
    return last;
  }
});

describe('sessions', () => {
  test('belong to one agent: for another they do not exist', async (t) => {
    const bus = await openBus(t);
    const id = await openSession(bus.url);
    const foreign = await post(bus.url, call('whoami'), { 'mcp-session-id': id }, 'token-bob');
    assert.equal(foreign.res.statusCode, 404);
    assert.match(await textIn(foreign), /Session not found/);
    const own = await post(bus.url, call('whoami'), { 'mcp-session-id': id });
    assert.match(await textIn(own), /agent 1/);
  });

  test('an unknown id with a good token is taken on, once, even by many requests at the same time', async (t) => {
    const bus = await openBus(t);
    const headers = { 'mcp-session-id': 'from-an-earlier-hub', 'mcp-protocol-version': '2025-06-18' };
    const texts = await Promise.all(Array.from({ length: 20 }, async (_, at) => textIn(await post(bus.url, call('echo', { text: `n${at}` }, at), headers))));
    texts.forEach((text, at) => assert.match(text, new RegExp(`"n${at}"`)));
    assert.equal(bus.route.sessions(), 1);
    const foreign = await post(bus.url, call('whoami'), headers, 'token-bob');
    assert.equal(foreign.res.statusCode, 404);
    await textIn(foreign);
  });

  test('ids of no sane shape, and ids that their client has ended, stay unknown', async (t) => {
    const bus = await openBus(t);
    for (const id of ['a b', 'x'.repeat(129), 'tab\there']) {
      const posted = await post(bus.url, call('whoami'), { 'mcp-session-id': id });
      assert.equal(posted.res.statusCode, 404, id);
      await textIn(posted);
    }
    const id = await openSession(bus.url);
    const end = (): Promise<number> => fetch(bus.url, { method: 'DELETE', headers: { authorization: 'Bearer token-ann', 'mcp-session-id': id } }).then((response) => response.status);
    assert.equal(await end(), 200);
    assert.equal(await end(), 404);
    assert.equal((await post(bus.url, call('whoami'), { 'mcp-session-id': id })).res.statusCode, 404);
    assert.equal(bus.route.sessions(), 0);
  });

  test('a request without a session is told so', async (t) => {
    const bus = await openBus(t);
    const posted = await post(bus.url, call('whoami'));
    assert.equal(posted.res.statusCode, 400);
    assert.match(await textIn(posted), /Mcp-Session-Id/);
  });

  test('the oldest idle one makes room, one in use is kept, and when all are in use the next is refused', async (t) => {
    const bus = await openBus(t, 0, { perAgent: 2 });
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
    const bus = await openBus(t);
    const id = await openSession(bus.url);
    const stream = await fetch(bus.url, { headers: { authorization: 'Bearer token-ann', accept: 'text/event-stream', 'mcp-session-id': id } });
    assert.equal(stream.status, 200);
    const started = Date.now();
    await bus.door.close(5_000);
    assert.ok(Date.now() - started < 2_000, 'it does not use up the grace of running calls');
    await stream.text().catch(() => {});
  });

  test('closing the door lets a waiting call answer', async (t) => {
    const bus = await openBus(t);
    const posted = await post(bus.url, call('wait'), { 'mcp-session-id': await openSession(bus.url) });
    await until(() => bus.release.length === 1, 'the call waits');
    const closed = bus.door.close(5_000);
    await sleep(50);
    bus.release[0]!('just in time');
    assert.match(await textIn(posted), /just in time/);
    await closed;
    assert.deepEqual(bus.delivered, ['just in time']);
  });

  test('batches of 2025-03-26 are answered as one', async (t) => {
    const bus = await openBus(t);
    const headers = { 'mcp-session-id': await openSession(bus.url), 'mcp-protocol-version': '2025-03-26' };
    const text = await textIn(await post(bus.url, [call('echo', { text: 'x' }, 1), call('echo', { text: 'y' }, 2)], headers));
    assert.match(text, /"x"/);
    assert.match(text, /"y"/);
  });
});
