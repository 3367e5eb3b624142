/** `agent-bus wait` for a session: it is the hub that ends it, and its own life hangs on the product's. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { Cli, cliScript, type RunningCli } from '../support/cliProcess.ts';
import { FakeSession } from '../support/fakeSession.ts';
import { until } from '../support/hubProcess.ts';

/** What Claude Code hands to the hooks of a session that a person attends. */
const attended = { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: '' };
const workspace = '/w/waited-for';

class Terminal {
  readonly cli: Cli;

  constructor(t: TestContext) {
    this.cli = new Cli(t);
  }

  static async open(t: TestContext): Promise<Terminal> {
    const terminal = new Terminal(t);
    await terminal.cli.folder.start();
    return terminal;
  }

  session(product: string): Promise<FakeSession & { agent: string }> {
    return FakeSession.start(this.cli.folder, { workspace, product });
  }

  neighbour(): Promise<BusClient> {
    return this.cli.folder.client({ attach: { workspace, product: 'tester' }, reconnect: true });
  }

  hook(chat: string, env: Record<string, string> = attended): RunningCli {
    const stdin = JSON.stringify({ session_id: chat, cwd: workspace, hook_event_name: 'UserPromptSubmit' });
    return this.cli.start(['wait', '--hook', 'claude'], { stdin, env });
  }

  async carried(ann: BusClient, name: string, route: string): Promise<void> {
    await until(`${name} can be woken`, async () => {
      const { data } = await ann.call('agents', { query: name, limit: 10 });
      return data.agents.find((agent) => agent.name === name)?.reach.includes(route);
    });
  }
}

async function ask(from: BusClient, to: string, text: string): Promise<void> {
  await from.call('send', { to, text, kind: 'request' });
}

describe('agent-bus wait --hook', () => {
  test('ends with 2 and the message when its session is to be woken, not before, over a crash of the hub', async (t) => {
    const terminal = await Terminal.open(t);
    const session = await terminal.session('claude');
    const ann = await terminal.neighbour();
    const waiter = terminal.hook(session.chat);
    await terminal.carried(ann, session.agent, 'rewake hook');
    await terminal.cli.folder.kill();
    await terminal.cli.folder.start();
    await terminal.carried(ann, session.agent, 'rewake hook');
    await session.hook('prompt', { prompt: 'work' });
    await ask(ann, session.agent, 'Which port?');
    assert.equal(waiter.child.exitCode, null, 'it works: nobody is woken');
    await session.hook('stop', { again: true });
    const { code, text, error } = await waiter.result;
    assert.deepEqual([code, text], [2, '']);
    assert.match(error, /Which port\?[\s\S]*\(wake-[\w-]{22}\)\n$/);
    assert.deepEqual(fs.readdirSync(join(terminal.cli.home.folder, 'waiting')), []);
  });

  test('one that comes later takes over, and the end of the session ends it: silently, with 0', async (t) => {
    const terminal = await Terminal.open(t);
    const session = await terminal.session('claude');
    const ann = await terminal.neighbour();
    const first = terminal.hook(session.chat);
    await terminal.carried(ann, session.agent, 'rewake hook');
    const second = terminal.hook(session.chat);
    const replaced = await first.result;
    assert.deepEqual([replaced.code, replaced.text, replaced.error], [0, '', '']);
    await terminal.carried(ann, session.agent, 'rewake hook');
    await session.hook('session-end');
    const over = await second.result;
    assert.deepEqual([over.code, over.text, over.error], [0, '', '']);
  });

  test('without a hub there is one, too, and none is started', async (t) => {
    const terminal = new Terminal(t);
    const first = terminal.hook('s1');
    const folder = join(terminal.cli.home.folder, 'waiting');
    await until('it waits', () => fs.existsSync(folder) && fs.readdirSync(folder).length === 1);
    const other = terminal.hook('s2');
    const second = terminal.hook('s1');
    assert.equal((await first.result).code, 0);
    assert.deepEqual([second.child.exitCode, other.child.exitCode], [null, null]);
    assert.ok(!fs.existsSync(terminal.cli.home.record));
  });

  test('where nobody attends, and where it is not Claude’s, it ends at once', async (t) => {
    const terminal = await Terminal.open(t);
    const ways: Record<string, string>[] = [
      { ...attended, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' },
      { ...attended, CLAUDE_CODE_SESSION_ATTENDED: '0' },
      { ...attended, CLAUDE_CODE_SESSION_ATTENDED: '' },
    ];
    for (const env of ways) {
      const { code, text, error } = await terminal.hook('s1', env).result;
      assert.deepEqual([code, text, error], [0, '', '']);
    }
    for (const stdin of ['', 'x', '{}', '{"session_id":"s","timestamp":"2026"}']) {
      const { code, text, error } = await terminal.cli.run(['wait', '--hook', 'claude'], { stdin, env: attended });
      assert.deepEqual([code, text, error], [0, '', ''], stdin);
    }
  });

  test('it does not outlive its product, however that ends', { skip: process.platform === 'win32' }, async (t) => {
    const terminal = await Terminal.open(t);
    const session = await terminal.session('claude');
    const ann = await terminal.neighbour();
    const input = JSON.stringify({ session_id: session.chat, cwd: workspace });
    // A shell that stays in between, as a product's own may.
    const line = `printf '%s' '${input}' | '${process.execPath}' '${cliScript}' wait --hook claude; exit 0`;
    const env = terminal.cli.environment(attended);
    const product = spawn('sh', ['-c', `(${line}) & wait`], { env: { ...env, CLAUDE_PID: '' }, stdio: 'ignore' });
    await terminal.carried(ann, session.agent, 'rewake hook');
    const folder = join(terminal.cli.home.folder, 'waiting');
    const pid = Number(fs.readFileSync(join(folder, fs.readdirSync(folder)[0] ?? ''), 'utf8'));
    const parent = Number(/^PPid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    product.kill('SIGKILL');
    if (parent !== product.pid) process.kill(parent, 'SIGKILL');
    await until('it is gone', () => !fs.existsSync(`/proc/${pid}`));
  });
});

describe('agent-bus wait --session', () => {
  test('in a shell it says where the mail is, and how to be set again', async (t) => {
    const terminal = await Terminal.open(t);
    const session = await terminal.session('gemini');
    const ann = await terminal.neighbour();
    const waiter = terminal.cli.start(['wait', '--session', session.chat, '--product', 'gemini']);
    await terminal.carried(ann, session.agent, 'background command');
    await ask(ann, session.agent, 'A secret of mine?');
    const { code, text, error } = await waiter.result;
    assert.deepEqual([code, error], [0, '']);
    assert.match(text, /^\[Agent Bus\] 1 message waits for you/);
    assert.match(text, new RegExp(`in the background: .* wait --session ${session.chat} --product gemini\n$`));
    assert.ok(!text.includes('secret'), 'it may look like the person’s own words: no text of others is in it');
  });

  test('by lines it wakes again and again, and ends when its stdin does', async (t) => {
    const terminal = await Terminal.open(t);
    const session = await terminal.session('copilot-cli');
    const ann = await terminal.neighbour();
    const args = [cliScript, 'wait', '--lines', '--session', session.chat, '--product', 'copilot-cli'];
    const child = spawn(process.execPath, args, {
      env: terminal.cli.environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const lines = () =>
      said
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { id: number; prompt: string });
    await terminal.carried(ann, session.agent, 'Copilot CLI’s extension');
    for (const round of [1, 2]) {
      await ask(ann, session.agent, `Question ${round}?`);
      const { id, prompt } = await until('it wants something sent', () => lines()[round - 1]);
      assert.ok(prompt.includes(`Question ${round}?`));
      await session.hook('prompt', { prompt });
      child.stdin.write(`${JSON.stringify({ id, sent: true })}\n`);
      await session.hook('stop', { again: true });
    }
    child.stdin.end();
    await until('it is gone', () => child.exitCode !== null);
    assert.equal(child.exitCode, 0);
  });

  test('needs to know whose session it is', async (t) => {
    const { cli } = new Terminal(t);
    assert.equal((await cli.fails('wait', '--session', 's')).code, 'usage');
    assert.equal((await cli.fails('wait', '--session', '', '--product', 'gemini')).code, 'usage');
  });
});
