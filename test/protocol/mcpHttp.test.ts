/** MCP over HTTP with the clients that are out there: the v1 SDK, and the v2 SDK in both eras of the protocol. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { openMcpBus, until } from '../support/mcpBus.ts';

/** What the tests need of either client. */
type AnyClient = Pick<Client, 'listTools' | 'callTool' | 'close' | 'getInstructions' | 'getServerCapabilities'>;
type Connect = (t: TestContext, url: URL, token?: string) => Promise<AnyClient>;

const init = (token: string): { requestInit: { headers: Record<string, string> } } => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

const clients: Record<string, Connect> = {
  'v1 SDK': async (t, url, token = 'token-ann') => {
    const client = new ClientV1({ name: 'one', version: '1' });
    await client.connect(new TransportV1(url, init(token)));
    t.after(() => client.close());
    // The v1 client takes a result schema before the options.
    const callTool = (params: Parameters<typeof client.callTool>[0], options?: Parameters<typeof client.callTool>[2]) =>
      client.callTool(params, undefined, options);
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

const textOf = (result: Awaited<ReturnType<AnyClient['callTool']>>): string =>
  (result.content[0] as { text: string }).text;

for (const [kind, connect] of Object.entries(clients)) {
  describe(kind, () => {
    test('lists, calls, and gets errors as results', async (t) => {
      const bus = await openMcpBus(t);
      const client = await connect(t, bus.url);
      assert.equal(client.getInstructions(), 'Be kind.');
      assert.deepEqual(client.getServerCapabilities(), { tools: {} });
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name, inputSchema, _meta }) => ({ name, inputSchema, _meta })),
        ['echo', 'whoami', 'fail', 'refuse', 'crash', 'wait'].map((name) => ({
          name,
          inputSchema: { type: 'object' },
          _meta: { 'anthropic/alwaysLoad': true },
        })),
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
      await assert.rejects(
        client.callTool({ name: 'nonsense', arguments: {} }),
        (error: { code?: number }) => error.code === -32_602,
      );
      assert.match(bus.calls[0]!.call.client!.name, /one|two|three/);
      await until(() => bus.delivered.length === 2, 'the two answers are reported as delivered');
    });

    test('1 MiB of control characters both ways', async (t) => {
      const bus = await openMcpBus(t);
      const client = await connect(t, bus.url);
      const text = '\u0001'.repeat(1_048_576);
      assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text } })), text);
    });

    test('progress comes while a call waits, grows, and stops with it', async (t) => {
      const bus = await openMcpBus(t);
      const client = await connect(t, bus.url);
      const seen: number[] = [];
      const call = client.callTool(
        { name: 'wait', arguments: {} },
        {
          onprogress: ({ progress }: { progress: number }) => void seen.push(progress),
        },
      );
      await until(() => seen.length >= 3, 'three signs of life');
      bus.release[0]!('done');
      assert.equal(textOf(await call), 'done');
      assert.deepEqual(
        seen,
        [...seen].sort((a, b) => a - b),
      );
      assert.equal(new Set(seen).size, seen.length);
      const count = seen.length;
      await sleep(150);
      assert.equal(seen.length, count);
    });

    test('cancelling frees the call and closes its connection; the answer counts as never delivered', async (t) => {
      const bus = await openMcpBus(t);
      const client = await connect(t, bus.url);
      const stop = new AbortController();
      const call = client.callTool({ name: 'wait', arguments: {} }, { signal: stop.signal });
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
      const bus = await openMcpBus(t);
      const client = await connect(t, bus.url);
      const call = client.callTool({ name: 'wait', arguments: {} }).catch(() => {});
      await until(() => bus.release.length === 1, 'the call waits');
      await client.close();
      await call;
      await until(() => bus.aborted === 1, 'the signal fires');
      assert.deepEqual(bus.delivered, []);
    });

    test('a hundred clients with equal ids get their own replies', async (t) => {
      const bus = await openMcpBus(t);
      const all = await Promise.all(
        Array.from({ length: 100 }, (_, at) => connect(t, bus.url, at % 2 ? 'token-ann' : 'token-bob')),
      );
      for (let round = 0; round < 3; round++) {
        const texts = await Promise.all(
          all.map(async (client, at) => [
            textOf(await client.callTool({ name: 'echo', arguments: { text: `${at}.${round}` } })),
            textOf(await client.callTool({ name: 'whoami', arguments: {} })),
          ]),
        );
        texts.forEach((text, at) => assert.deepEqual(text, [`${at}.${round}`, `agent ${at % 2 ? 1 : 2}`]));
      }
    });

    test('after a restart the same client goes on without noticing', async (t) => {
      const before = await openMcpBus(t);
      const client = await connect(t, before.url);
      assert.equal(textOf(await client.callTool({ name: 'whoami', arguments: {} })), 'agent 1');
      const { port } = before.door;
      await before.door.close(0);
      const after = await openMcpBus(t, port);
      assert.equal(after.door.port, port);
      const texts = await Promise.all(
        ['a', 'b', 'c'].map(async (text) =>
          textOf(await retried(() => client.callTool({ name: 'echo', arguments: { text } }))),
        ),
      );
      assert.deepEqual(texts, ['a', 'b', 'c']);
    });
  });
}

/** A kept-alive connection to the old process may break once; that is the network, not the protocol. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  return attempt().catch(() => attempt());
}
