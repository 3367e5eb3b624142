/** `npm start` as the real program, in a temporary folder of its own; only the editor is played by a script. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { busHome } from '../../src/hub/home.ts';
import { readRecord } from '../../src/hub/discovery.ts';
import { hubsOf, until } from '../support/hubProcess.ts';
import { tempFolder } from '../support/tempFolder.ts';

const root = join(import.meta.dirname, '..', '..');
const posix = process.platform !== 'win32';

class StartTask {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  output = '';

  constructor(t: TestContext, args: readonly string[], env: Record<string, string | undefined>) {
    const { NODE_TEST_CONTEXT: _, AGENT_BUS_HOME: __, DISPLAY: ___, WAYLAND_DISPLAY: ____, ...others } = process.env;
    this.child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs'), ...args], {
      cwd: root,
      env: { ...others, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = once(this.child, 'close');
    t.after(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
      await this.ended;
    });
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    return until(`${pattern} is in: ${this.output}`, () => {
      const found = pattern.exec(this.output);
      if (!found && this.child.exitCode !== null)
        throw new Error(`it ended with ${this.child.exitCode}: ${this.output}`);
      return found;
    });
  }

  async end(signal: NodeJS.Signals): Promise<unknown> {
    this.child.kill(signal);
    return (await this.ended)[0];
  }
}

/** A `code` that writes down how it was called; the last window shows where its profile was. */
function fakeCode(folder: string, exitCode = 0): { path: string; calls: () => { args: string[]; home: string }[] } {
  const bin = join(folder, 'bin');
  const log = join(folder, 'calls');
  mkdirSync(bin);
  writeFileSync(log, '');
  const program = `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const args = process.argv.slice(2);
const profile = args[args.indexOf('--user-data-dir') + 1];
const settings = JSON.parse(readFileSync(profile + '/User/settings.json', 'utf8'));
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, settings, home: process.env.AGENT_BUS_HOME }) + '\\n');
process.exit(${exitCode});
`;
  writeFileSync(join(bin, 'code'), program);
  chmodSync(join(bin, 'code'), 0o755);
  const lines = (): string[] => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean);
  return {
    path: [bin, process.env['PATH']].join(delimiter),
    calls: () => lines().map((line) => JSON.parse(line) as { args: string[]; home: string }),
  };
}

/** Folders of a try-out that were not removed. */
const leftIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('agent-bus-'));

test('--help says what there is and starts nothing', async (t) => {
  const task = new StartTask(t, ['--help'], {});
  assert.equal((await task.ended)[0], 0);
  for (const option of ['--demo', '--no-editor', '--home', '--port']) assert.ok(task.output.includes(option), option);
});

test('an option that does not exist is refused, with the list of those that do', async (t) => {
  const task = new StartTask(t, ['--no-edtior'], {});
  assert.equal((await task.ended)[0], 2);
  assert.match(task.output, /--no-edtior[^]*--no-editor/);
  const port = new StartTask(t, ['--port', 'x'], {});
  assert.equal((await port.ended)[0], 2);
});

test('--no-editor: the hub in the foreground, lines to copy, and an end in order', async (t) => {
  const folder = tempFolder(t);
  const task = new StartTask(t, ['--no-editor'], { AGENT_BUS_HOME: folder, TMPDIR: folder });
  await task.says(/The hub is running: http/);
  await task.says(/Traffic, as it happens/);
  assert.ok(task.output.includes(`AGENT_BUS_HOME=${folder}`));
  assert.equal(await task.end('SIGTERM'), 0);
  assert.match(task.output, /The hub has stopped/);
  assert.deepEqual(hubsOf(folder), []);
  assert.deepEqual(leftIn(folder), []);
});

test('--demo: on a bus of its own, of which nothing is left', { skip: !posix && 'needs signals' }, async (t) => {
  const folder = tempFolder(t);
  const data = join(folder, 'data');
  const task = new StartTask(t, ['--no-editor', '--demo'], { TMPDIR: folder, HOME: folder, XDG_DATA_HOME: data });
  await task.says(/release-bot has a question for you/);
  assert.match(task.output, /release-bot → person {2}request/);
  assert.equal(await task.end('SIGINT'), 0);
  assert.deepEqual(leftIn(folder), []);
  assert.equal(existsSync(data), false);
});

test(
  'a desktop VS Code gets the extension and two windows, in a profile of their own',
  { skip: !posix && 'the fake is a script' },
  async (t) => {
    const folder = tempFolder(t);
    const code = fakeCode(folder);
    const task = new StartTask(t, [], { TMPDIR: folder, PATH: code.path, DISPLAY: ':99' });
    await task.says(/VS Code opens two windows/);
    const [install, ...windows] = code.calls();
    const profile = install?.args[install.args.indexOf('--user-data-dir') + 1] ?? '';
    assert.ok(profile.startsWith(folder));
    assert.match(install?.args.join(' ') ?? '', /--extensions-dir \S+ .*--install-extension \S+\.vsix/);
    const tryout = dirname(profile);
    assert.deepEqual(
      windows.map(({ args }) => args.at(-1)),
      [join(tryout, 'shop-api'), join(tryout, 'shop-web')],
    );
    for (const { args, home } of windows) {
      assert.ok(args.includes(profile) && args.includes('--new-window'));
      const { record } = readRecord(busHome({ AGENT_BUS_HOME: home }).record);
      assert.ok(record && task.output.includes(record.mcpUrl), 'the windows meet the hub of this terminal');
    }
    assert.equal(await task.end('SIGTERM'), 0);
    assert.deepEqual(leftIn(folder), []);
  },
);

test(
  'an editor that takes no extension: one sentence, and the hub runs',
  { skip: !posix && 'the fake is a script' },
  async (t) => {
    const folder = tempFolder(t);
    const code = fakeCode(folder, 7);
    const task = new StartTask(t, [], { TMPDIR: folder, PATH: code.path, DISPLAY: ':99' });
    await task.says(/No editor this time: .*7/);
    await task.says(/The hub is running: http/);
    assert.equal(await task.end('SIGTERM'), 0);
  },
);

test('a crash of the editor leaves the hub, and says so', { skip: !posix && 'needs signals' }, async (t) => {
  const { ServerEditor } = await import(join(root, 'scripts', 'start', 'serverEditor.mjs'));
  const folder = tempFolder(t);
  const entry = join(folder, 'entry.mjs');
  // Answers as code-server does, until it is asked to crash.
  const program = `import { createServer } from 'node:http';
    const address = process.argv[process.argv.indexOf('--bind-addr') + 1].split(':');
    createServer((req, res) => { res.end('ok'); if (req.url === '/crash') process.exit(3); }).listen(+address[1], address[0]);`;
  writeFileSync(entry, program);
  const said: string[] = [];
  const tryout = { folder, profile: folder, extensions: folder, projects: [join(folder, 'shop api')] };
  const editor = new ServerEditor(
    { node: process.execPath, entry },
    { tryout, env: process.env, port: 0, say: (text: string) => said.push(text) },
  );
  t.after(() => editor.close());
  await editor.open();
  const [, url = ''] = /(http\S+)\/\?folder=\S+shop%20api/.exec(said.join('\n')) ?? [];
  assert.match(said.join('\n'), /sign-in/);
  await fetch(`${url}/crash`).catch(() => undefined);
  await until('it is said', () => said.some((text) => /ended unexpectedly \(3\)/.test(text)));
});
