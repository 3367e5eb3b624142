import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Cli, cliScript, type Parsed } from '../support/cliProcess.ts';
import { spokenHooks, type SpokenHooks } from '../support/connectProducts.ts';
import { until } from '../support/hubProcess.ts';
import { tempFolder } from '../support/tempFolder.ts';

const noProduct = {
  CLAUDE_PROJECT_DIR: '',
  GEMINI_PROJECT_DIR: '',
  COPILOT_PROJECT_DIR: '',
  CURSOR_PROJECT_DIR: '',
  CLAUDE_CODE_SESSION_ID: '',
};

class Shop {
  readonly cli: Cli;
  readonly folder: string;

  constructor(t: TestContext) {
    this.cli = new Cli(t);
    this.folder = join(tempFolder(t), 'shop');
    fs.mkdirSync(this.folder);
  }

  static async open(t: TestContext): Promise<Shop> {
    const shop = new Shop(t);
    await shop.cli.folder.start();
    return shop;
  }

  /** One hook as a process of its own; it never fails and never says anything but JSON. */
  async hook(product: SpokenHooks, event: string, session: string, more: object = {}): Promise<Parsed> {
    const stdin = product.said(session, this.folder, more);
    const { code, text, error } = await this.cli.run(['hook', product.name, event], { stdin, env: noProduct });
    assert.deepEqual([code, error], [0, '']);
    assert.match(text, /^[\x20-\x7e\n]*$/);
    return text === '' ? undefined : JSON.parse(text);
  }

  async startedAs(product: SpokenHooks, session: string): Promise<string> {
    const output = await this.hook(product, product.events.start, session);
    return /You are "([a-z0-9-]+)"/.exec(product.context(output) ?? '')?.[1] ?? '';
  }

  /** The product's MCP server, as the product starts it. */
  async bridge(
    product: SpokenHooks,
    client: string,
    env: Record<string, string> = {},
    above: readonly string[] = [],
  ): Promise<Bridge> {
    const mcp = new Client({ name: client, version: '1' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...above, cliScript, 'mcp', '--product', product.agent],
      env: this.cli.environment({ ...noProduct, ...env }),
      cwd: this.folder,
      stderr: 'inherit',
    });
    await mcp.connect(transport);
    this.cli.first(() => mcp.close());
    const name = async (meta?: Record<string, unknown>): Promise<string> => {
      const answer: Parsed = await mcp.callTool({ name: 'agents', arguments: {}, ...(meta && { _meta: meta }) });
      return answer.structuredContent.you.name as string;
    };
    return { name, pid: () => transport.pid ?? 0, close: () => mcp.close() };
  }
}

/** A process of its own above the bridge, as the product's is. */
const asProduct = [
  '-e',
  "require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' }).on('exit', process.exit)",
];

interface Bridge {
  name(meta?: Record<string, unknown>): Promise<string>;
  pid(): number;
  close(): Promise<void>;
}

const named = (name: string): SpokenHooks => spokenHooks.find((one) => one.name === name) as SpokenHooks;

describe('agent-bus hook PRODUCT EVENT', () => {
  for (const product of spokenHooks) {
    const { events } = product;

    test(`${product.name}: who it is, its mail once, a question held up once`, async (t) => {
      const shop = await Shop.open(t);
      const { cli } = shop;
      const name = await shop.startedAs(product, 's1');
      assert.equal(name, `shop-${product.agent}`);

      const first = await cli.json('send', name, 'Main is frozen.', '--kind', 'inform');
      const prompt = await shop.hook(product, events.prompt, 's1', product.prompt('go on'));
      if (product.hearsAtPrompt) assert.match(product.context(prompt) ?? '', /Main is frozen/);
      else assert.equal(prompt, undefined);
      const tool = await shop.hook(product, events.tool, 's1', product.tool('Bash'));
      if (product.hearsAtPrompt) assert.equal(tool, undefined, 'once');
      else assert.match(product.context(tool) ?? '', /Main is frozen/);
      await until('it counts as shown, by a hook', async () => {
        const [{ steps }] = (await cli.json('show', first.id)).recipients;
        return steps.some(({ step, route }: { step: string; route: string }) => step === 'shown' && route === 'hook');
      });

      await cli.ok('send', name, 'It is thawed.', '--kind', 'inform');
      const second = await shop.hook(product, events.tool, 's1', product.tool('Bash'));
      assert.match(product.context(second) ?? '', /thawed/, 'in the middle of a turn');

      await cli.ok('send', name, 'Which port?', '--kind', 'request');
      const stop = await shop.hook(product, events.stop, 's1');
      assert.match(product.block(stop) ?? '', /Which port\?/);
      assert.equal(await shop.hook(product, events.stop, 's1', product.again ?? {}), undefined, 'never twice');
      assert.equal(await shop.hook(product, events.stop, 's1'), undefined, 'without the product’s help, too');
    });

    test(`${product.name}: whatever it hears that is not its own, it is silent`, async (t) => {
      const shop = new Shop(t);
      const inputs = ['', 'x', '[]', '{}', 'null', product.said('', shop.folder), product.said('s', shop.folder)];
      for (const stdin of inputs) {
        const { code, text, error } = await shop.cli.run(['hook', product.name, events.stop], { stdin });
        assert.deepEqual([code, text, error], [0, '', ''], stdin);
      }
      const odd = await shop.cli.run(['hook', product.name, 'constructor'], { stdin: product.said('s', '/') });
      assert.deepEqual([odd.code, odd.text, odd.error], [0, '', '']);
      assert.ok(!fs.existsSync(shop.cli.home.record), 'no hub was started');
    });
  }

  test('a product that nobody knows is no trouble', async (t) => {
    const shop = await Shop.open(t);
    const { code, text, error } = await shop.cli.run(['hook', 'emacs', 'Stop'], { stdin: '{"session_id":"s"}' });
    assert.deepEqual([code, text, error], [0, '', '']);
  });

  test('VS Code runs Claude’s and Copilot CLI’s hooks as well: its own extension answers, these do not', async (t) => {
    const shop = await Shop.open(t);
    const stdin = JSON.stringify({ session_id: 's', timestamp: '2026-01-01', cwd: shop.folder });
    for (const line of [
      ['claude', 'SessionStart'],
      ['copilot', 'sessionStart'],
    ]) {
      const { text } = await shop.cli.run(['hook', ...line], { stdin, env: noProduct });
      assert.equal(text, '', line.join(' '));
    }
  });

  test('what a helper of Claude does brings no mail: the session’s own model would not see it', async (t) => {
    const shop = await Shop.open(t);
    const claude = named('claude');
    const name = await shop.startedAs(claude, 's1');
    await shop.cli.ok('send', name, 'For you alone.', '--kind', 'inform');
    const helper = { ...claude.tool('Bash'), agent_id: 'a1', agent_type: 'Explore' };
    assert.equal(await shop.hook(claude, 'PostToolUse', 's1', helper), undefined);
    const own = await shop.hook(claude, 'PostToolUse', 's1', claude.tool('Bash'));
    assert.match(claude.context(own) ?? '', /For you alone/);
  });
});

describe('one session, whether its hooks speak or its MCP server', () => {
  const variables: [product: string, client: string, variable: string][] = [
    ['claude', 'claude-code', 'CLAUDE_CODE_SESSION_ID'],
    ['copilot', 'copilot-cli', 'COPILOT_AGENT_SESSION_ID'],
  ];
  for (const [product, client, variable] of variables) {
    test(`${product}: by ${variable}; two at once are two, in whatever order they speak`, async (t) => {
      const shop = await Shop.open(t);
      const spoken = named(product);
      const one = await shop.bridge(spoken, client, { [variable]: 'one' }, asProduct);
      const two = await shop.bridge(spoken, client, { [variable]: 'two' }, asProduct);
      const names = { one: await shop.startedAs(spoken, 'one'), two: await shop.startedAs(spoken, 'two') };
      assert.deepEqual([await two.name(), await one.name()], [names.two, names.one]);
      assert.deepEqual(Object.values(names).sort(), [`shop-${spoken.agent}`, `shop-${spoken.agent}-2`]);
    });
  }

  test('copilot: another session in the same process is the same agent, though the old one ends after it', async (t) => {
    const shop = await Shop.open(t);
    const copilot = named('copilot');
    const old = await shop.bridge(copilot, 'copilot-cli', { COPILOT_AGENT_SESSION_ID: 'old' });
    const name = await shop.startedAs(copilot, 'old');
    assert.equal(await old.name(), name);
    const next = await shop.bridge(copilot, 'copilot-cli', { COPILOT_AGENT_SESSION_ID: 'new' });
    assert.equal(await next.name(), name);
    await old.close();
    await shop.hook(copilot, 'sessionEnd', 'old', { reason: 'user_exit' });
    assert.equal(await shop.startedAs(copilot, 'new'), name);
    assert.equal(await next.name(), name);
    const { agents } = await shop.cli.json('agents');
    assert.ok(!agents.some((agent: { name: string }) => agent.name === `${name}-2`), 'there never was another one');
  });

  test('codex: by the thread that each call names', async (t) => {
    const shop = await Shop.open(t);
    const codex = named('codex');
    const bridge = await shop.bridge(codex, 'codex-mcp-client');
    const first = await shop.startedAs(codex, 'thread-1');
    const second = await shop.startedAs(codex, 'thread-2');
    assert.equal(await bridge.name({ threadId: 'thread-2' }), second);
    assert.equal(await bridge.name({ threadId: 'thread-1' }), first);
    assert.notEqual(first, second);
  });

  test('killed without a word, the next session is the same agent', async (t) => {
    const shop = await Shop.open(t);
    for (const [product, client, env, meta] of [
      ['claude', 'claude-code', (id: string) => ({ CLAUDE_CODE_SESSION_ID: id }), () => undefined],
      ['codex', 'codex-mcp-client', () => ({}), (id: string) => ({ threadId: id })],
      ['gemini', 'gemini-cli-mcp-client', () => ({}), () => undefined],
    ] as const) {
      const spoken = named(product);
      for (const id of ['first', 'second']) {
        assert.equal(await shop.startedAs(spoken, `${product} ${id}`), `shop-${product}`);
        const bridge = await shop.bridge(spoken, client, env(`${product} ${id}`));
        assert.equal(await bridge.name(meta(`${product} ${id}`)), `shop-${product}`);
        process.kill(bridge.pid(), 'SIGKILL');
        await until('it is gone', async () => (await shop.cli.json('ping', `shop-${product}`)).presence === 'offline');
      }
    }
  });

  test('after /clear, and a crash of the hub, the session is still the same agent', async (t) => {
    const shop = await Shop.open(t);
    const claude = named('claude');
    const bridge = await shop.bridge(claude, 'claude-code', { CLAUDE_CODE_SESSION_ID: 'before' });
    const name = await shop.startedAs(claude, 'before');
    await shop.hook(claude, 'SessionEnd', 'before', { reason: 'clear' });
    assert.equal(await shop.startedAs(claude, 'after'), name);
    await shop.cli.killHub();
    assert.equal(await bridge.name(), name);
    assert.equal(await shop.startedAs(claude, 'after'), name);
  });
});
