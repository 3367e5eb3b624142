import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { install } from '../../src/connect/installation.ts';
import { Cli } from '../support/cliProcess.ts';
import { tempFolder } from '../support/tempFolder.ts';

const plugin = join(import.meta.dirname, '..', '..', 'plugin');
const dist = join(import.meta.dirname, '..', '..', 'dist');

function event(more: object): string {
  return JSON.stringify({
    timestamp: 'now',
    session_id: 'chat-1',
    transcript_path: '/t',
    cwd: '/projects/shop',
    ...more,
  });
}

const output = (text: string): Record<string, unknown> =>
  text === '' ? {} : (JSON.parse(text) as { hookSpecificOutput: Record<string, unknown> }).hookSpecificOutput;

async function hub(t: TestContext): Promise<Cli> {
  const cli = new Cli(t);
  await cli.folder.start();
  return cli;
}

describe('agent-bus hook', () => {
  test('a chat learns who it is, hears its mail before a tool or a prompt, and is held up for a question', async (t) => {
    const cli = await hub(t);
    const hook = async (name: string, more: object = {}) => {
      const { code, text, error } = await cli.run(['hook', name], { stdin: event(more), cwd: tempFolder(t) });
      assert.deepEqual([code, error], [0, ''], name);
      return output(text);
    };
    const start = await hook('SessionStart');
    const name = /You are "([a-z0-9-]+)"/.exec(String(start['additionalContext']))?.[1] ?? '';
    assert.equal(name, 'shop-copilot');
    await hook('UserPromptSubmit', { prompt: 'do it' });
    await cli.ok('send', name, 'Main is frozen.', '--kind', 'inform');
    const prompt = await hook('UserPromptSubmit', { prompt: 'next' });
    assert.match(String(prompt['additionalContext']), /Main is frozen/);
    const again = await hook('UserPromptSubmit', { prompt: 'once more' });
    assert.equal(again['additionalContext'], undefined, 'shown once');

    await cli.ok('send', name, 'Which port?', '--kind', 'request');
    const stop = await hook('Stop', { stop_hook_active: false });
    assert.equal(stop['decision'], 'block');
    assert.match(String(stop['reason']), /Which port\?/);
    assert.deepEqual(await hook('Stop', { stop_hook_active: true }), {}, 'not a second time');
  });

  test('its own tools are allowed, others are not its business, and the setting turns that off', async (t) => {
    const cli = await hub(t);
    const decision = async (tool: string, env: Record<string, string> = {}, tool_input = {}) => {
      const stdin = event({ tool_name: tool, tool_use_id: 'u', tool_input });
      const { text } = await cli.run(['hook', 'PreToolUse'], { stdin, env });
      return output(text)['permissionDecision'];
    };
    assert.equal(await decision('mcp_agent-bus_send'), 'allow');
    assert.equal(await decision('run_in_terminal'), undefined);
    assert.equal(await decision('mcp_agent-bus_send', { AGENT_BUS_CONFIRM_TOOLS: '1' }), undefined);
    assert.equal(await decision('mcp_agent-bus_register', {}, { url: 'https://agents.example' }), 'ask');
  });

  test('without a hub it says nothing and starts none', async (t) => {
    const cli = new Cli(t);
    const { code, text, error } = await cli.run(['hook', 'Stop'], { stdin: event({}) });
    assert.deepEqual([code, text, error], [0, '', '']);
    assert.ok(!fs.existsSync(cli.home.record));
  });

  test('garbage, unknown events and much too much of it are no trouble', async (t) => {
    const cli = await hub(t);
    for (const [name, stdin] of [
      ['Stop', ''],
      ['Stop', 'nonsense'],
      ['Stop', '{"session_id":7}'],
      ['Bogus', event({})],
      ['PostToolUse', event({ tool_response: 'x'.repeat(20_000_000) })],
    ] as const) {
      const { code, text, error } = await cli.run(['hook', name], { stdin });
      assert.deepEqual([code, text, error], [0, '', ''], `${name} ${stdin.slice(0, 40)}`);
    }
  });

  test('a hub that does not answer is not waited for', async (t) => {
    const cli = await hub(t);
    const { record } = cli.folder;
    await cli.killHub();
    const deaf = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    t.after(() => deaf.close());
    const { port } = deaf.address() as { port: number };
    fs.writeFileSync(cli.home.record, JSON.stringify({ ...record, rpcPort: port }), { mode: 0o600 });
    const began = performance.now();
    const { code, text } = await cli.run(['hook', 'Stop'], { stdin: event({}) });
    assert.deepEqual([code, text], [0, '']);
    assert.ok(performance.now() - began < 20_000);
  });
});

describe('the plugin’s hook.sh', { skip: process.platform === 'win32' }, () => {
  const run = async (env: Record<string, string>, stdin: string) => {
    const child = spawn('sh', [join(plugin, 'hook.sh'), 'PreToolUse'], { env: { PATH: '/usr/bin:/bin', ...env } });
    let broken: unknown;
    child.stdin.on('error', (error) => (broken = error));
    child.stdin.end(stdin);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, said, broken };
  };
  const tool = event({ tool_name: 'mcp_agent-bus_send', tool_use_id: 'u' });

  test('finds the bus by itself', async (t) => {
    const cli = await hub(t);
    await install({ from: dist, version: '0.0.1', home: cli.home });
    const { code, said } = await run({ AGENT_BUS_HOME: cli.home.folder }, tool);
    assert.equal(code, 0);
    assert.equal(output(said)['permissionDecision'], 'allow');
    // At its usual place, too.
    const user = tempFolder(t);
    fs.symlinkSync(cli.home.folder, join(user, 'agent-bus'));
    const usual = await run({ XDG_DATA_HOME: user, HOME: user }, tool);
    assert.equal(usual.code, 0);
  });

  test('nothing installed, a broken launcher, a large event: exit 0, no word, no closed pipe', async (t) => {
    const home = tempFolder(t);
    const large = event({ tool_response: 'x'.repeat(5_000_000) });
    assert.deepEqual(await run({ AGENT_BUS_HOME: home }, large), { code: 0, said: '', broken: undefined });
    assert.deepEqual(await run({ HOME: home }, large), { code: 0, said: '', broken: undefined });
    fs.mkdirSync(join(home, 'bin'));
    fs.writeFileSync(join(home, 'hub.json'), '{}');
    const launcher = '#!/bin/sh\ncat >/dev/null\necho trouble >&2\nexit 2\n';
    fs.writeFileSync(join(home, 'bin', 'agent-bus'), launcher, { mode: 0o700 });
    assert.deepEqual(await run({ AGENT_BUS_HOME: home }, tool), { code: 0, said: '', broken: undefined });
  });
});
