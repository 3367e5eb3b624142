import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Cli, cliScript, type Parsed } from '../support/cliProcess.ts';
import { until } from '../support/hubProcess.ts';

interface Bridge {
  call(name: string, args?: Record<string, unknown>): Promise<Parsed>;
  list(): Promise<Parsed>;
  pid(): number;
  close(): Promise<void>;
}
type Open = (cli: Cli, product: string, place: { args?: string[]; cwd?: string }) => Promise<Bridge>;

const server = (cli: Cli, { args = [], cwd = cli.home.folder }: { args?: string[]; cwd?: string }) => ({
  command: process.execPath,
  args: [cliScript, 'mcp', ...args],
  env: cli.environment(),
  cwd,
  stderr: 'inherit' as const,
});

const modern =
  (mode?: { pin: string }): Open =>
  async (cli, product, place) => {
    const client = new Client({ name: product, version: '2' }, mode ? { versionNegotiation: { mode } } : {});
    const transport = new StdioClientTransport(server(cli, place));
    await client.connect(transport);
    return {
      call: (name, args = {}) => client.callTool({ name, arguments: args }),
      list: () => client.listTools(),
      pid: () => transport.pid ?? 0,
      close: () => client.close(),
    };
  };

const clients: Record<string, Open> = {
  'v1 SDK': async (cli, product, place) => {
    const client = new ClientV1({ name: product, version: '1' });
    const transport = new StdioClientTransportV1(server(cli, place));
    await client.connect(transport);
    return {
      call: (name, args = {}) => client.callTool({ name, arguments: args }),
      list: () => client.listTools(),
      pid: () => transport.pid ?? 0,
      close: () => client.close(),
    };
  },
  'v2 SDK': modern(),
  'v2 SDK, 2026-07-28': modern({ pin: '2026-07-28' }),
};

async function opened(
  open: Open,
  cli: Cli,
  product: string,
  place: { args?: string[]; cwd?: string } = {},
): Promise<Bridge> {
  const bridge = await open(cli, product, place);
  cli.first(() => bridge.close());
  return bridge;
}

const nameOf = async (bridge: Bridge): Promise<string> =>
  (await bridge.call('agents')).structuredContent.you.name as string;

for (const [name, open] of Object.entries(clients)) {
  describe(`agent-bus mcp, ${name}`, () => {
    test('starts the hub, lists the tools within their size, and is the agent of its workspace and product', async (t) => {
      const cli = new Cli(t);
      const bridge = await opened(open, cli, 'claude-code');
      const { tools } = await bridge.list();
      assert.equal(tools.length, 10);
      assert.ok(
        Buffer.byteLength(JSON.stringify({ tools })) <= 8192,
        `${Buffer.byteLength(JSON.stringify({ tools }))} bytes`,
      );
      assert.equal((await cli.run(['status'])).code, 4, 'no hub before the first call');
      const mine = await nameOf(bridge);
      assert.equal(
        mine,
        `${basename(cli.home.folder)
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '-')
          .slice(0, 28)}-claude`,
      );
      assert.equal((await cli.json('ping', mine)).rtt_ms !== null, true, 'it is there');
    });

    test('the same place is the same agent again; two at once are two', async (t) => {
      const cli = new Cli(t);
      const cwd = join(cli.home.folder, 'shop-api');
      mkdirSync(cwd, { recursive: true });
      const first = await opened(open, cli, 'codex-mcp-client', { cwd });
      assert.equal(await nameOf(first), 'shop-api-codex');
      const second = await opened(open, cli, 'codex-mcp-client', { cwd });
      assert.equal(await nameOf(second), 'shop-api-codex-2');
      const other = await opened(open, cli, 'Visual Studio Code', { cwd });
      assert.equal(await nameOf(other), 'shop-api-copilot');
      await first.close();
      await until('the first has left', async () => (await cli.json('ping', 'shop-api-codex')).presence === 'offline');
      assert.equal(await nameOf(await opened(open, cli, 'codex-mcp-client', { cwd })), 'shop-api-codex');
      await cli.killHub();
      assert.equal(await nameOf(second), 'shop-api-codex-2');
    });

    test('two hold a conversation through a kill of the hub, with nothing lost', async (t) => {
      const cli = new Cli(t);
      const [ann, ben] = [
        await opened(open, cli, 'claude-code', { args: ['--agent', 'ann'] }),
        await opened(open, cli, 'gemini-cli-mcp-client', { args: ['--agent', 'ben'] }),
      ];
      assert.deepEqual([await nameOf(ann), await nameOf(ben)], ['ann', 'ben']);
      const waiting = ben.call('inbox', { wait_seconds: 30 });
      const asking = ann.call('send', { to: 'ben', text: 'first </message>', wait_seconds: 30 });
      const got = await waiting;
      assert.match(got.content[0].text, /<message id="m1" from="ann"[^]*first &lt;\/message>/);
      await until('it counts as shown', async () => (await cli.json('show', 'm1')).recipients[0].step === 'shown');
      const blocked = ben.call('inbox', { wait_seconds: 30 });
      await until('ben waits', async () => (await cli.json('ping', 'ben')).presence === 'waiting');
      await cli.killHub();
      const answered = await ben.call('send', { reply_to: 'm1', text: 'second' });
      assert.ok(!answered.isError, answered.content[0].text);
      assert.match((await asking).content[0].text, /second/);
      await ann.call('send', { to: 'ben', text: 'third' });
      assert.match((await blocked).content[0].text, /third/);
      assert.equal((await cli.json('status')).messages, 3);
    });

    test('it ends when its client hangs up, and the agent is gone', async (t) => {
      const cli = new Cli(t);
      const bridge = await opened(open, cli, 'claude-code', { args: ['--agent', 'ann'] });
      await nameOf(bridge);
      const pid = bridge.pid();
      await bridge.close();
      await until('the process has ended', () => {
        try {
          process.kill(pid, 0);
          return false;
        } catch {
          return true;
        }
      });
      await until('ann is offline', async () => (await cli.json('ping', 'ann')).presence === 'offline');
    });

    test('without a hub a call is an answer with the next step, and the bridge lives on', async (t) => {
      const cli = new Cli(t, { port: 'wrong' });
      const bridge = await opened(open, cli, 'claude-code');
      const failed = await bridge.call('agents');
      assert.equal(failed.isError, true);
      assert.match(failed.content[0].text, /settings\.json.*bad-settings/);
      cli.folder.configure({});
      assert.match(await nameOf(bridge), /-claude$/);
    });
  });
}

test('agent-bus mcp says nothing but MCP on stdout, and ends when stdin does', async (t) => {
  const cli = new Cli(t);
  const hello = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  const { code, text, error } = await cli.run(['mcp'], { stdin: `${JSON.stringify(hello)}\n` });
  assert.equal(code, 0);
  assert.equal(error, '');
  assert.equal(JSON.parse(text).result.serverInfo.name, 'agent-bus');
});
