import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { install } from '../../src/connect/installation.ts';
import { Launch } from '../../src/connect/launch.ts';
import { Cli, cliScript, type Parsed } from '../support/cliProcess.ts';
import { tempFolder } from '../support/tempFolder.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');
const event = (more: object = {}): string => JSON.stringify({ session_id: 's1', cwd: '/projects/shop', ...more });

interface Said {
  code: number | null;
  text: string;
  error: string;
}

/** The line that `connect` writes into a product's settings, run as products do: by a shell. */
async function run(line: string, stdin: string, env: Record<string, string> = {}): Promise<Said> {
  const clean = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', ...env };
  const child = spawn('sh', ['-c', line], { env: clean, stdio: 'pipe' });
  const said = { text: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.error += chunk.toString()));
  child.stdin.on('error', () => undefined).end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

class Place {
  readonly cli: Cli;
  readonly launch: Launch;

  constructor(cli: Cli, bin: string) {
    this.cli = cli;
    this.launch = new Launch(bin);
  }

  static async make(t: TestContext): Promise<Place> {
    const cli = new Cli(t);
    const { bin } = await install({ from: dist, version: '0.0.1', home: cli.home, runtime: process.execPath });
    return new Place(cli, bin);
  }

  hook(name: string, more: object = {}): Promise<Said> {
    return run(this.launch.shell('hook', 'claude', name), event(more));
  }

  /** Who a session is told that it is, if anybody. */
  async name(): Promise<string | undefined> {
    const { code, text, error } = await this.hook('SessionStart');
    assert.deepEqual([code, error], [0, '']);
    return /You are \\"([a-z0-9-]+)\\"/.exec(text)?.[1];
  }
}

async function listening(t: TestContext, server: Server, at: string | number): Promise<void> {
  await new Promise<void>((resolve) => {
    if (typeof at === 'number') server.listen(at, '127.0.0.1', resolve);
    else server.listen(at, resolve);
  });
  t.after(() => server.close());
}

describe('the line in a product’s settings', { skip: process.platform === 'win32' }, () => {
  test('hears and tells, by the entry for hooks', async (t) => {
    const place = await Place.make(t);
    await place.cli.folder.start();
    const name = await place.name();
    assert.equal(name, 'shop-claude');
    const { id } = await place.cli.json('send', name, 'Größe: 3 👋', '--kind', 'inform');
    const { text } = await place.hook('UserPromptSubmit', { prompt: 'go' });
    const said: Parsed = JSON.parse(text);
    assert.match(said.hookSpecificOutput.additionalContext, /Größe: 3 👋/);
    // What it has handed over is told before it ends: no waiting here.
    const [{ steps }] = (await place.cli.json('show', id)).recipients;
    assert.ok(steps.some((step: Parsed) => step.step === 'shown' && step.route === 'hook'));
  });

  test('whatever is not a plain hook is for the whole command line', async (t) => {
    const place = await Place.make(t);
    const help = await run(place.launch.shell('hook', '--help'), '');
    assert.equal(help.code, 0);
    assert.match(help.text, /agent-bus hook \[PRODUCT\] EVENT/);
    const none = await run(place.launch.shell('hook'), '');
    assert.notEqual(none.code, 0);
    assert.match(none.error, /EVENT/);
    await place.cli.folder.start();
    const other = await run(place.launch.shell('hook', 'SessionStart', '--product', 'pilot'), event());
    assert.match(other.text, /shop-pilot/);
  });

  test('typed as a command it is the same', async (t) => {
    const place = await Place.make(t);
    await place.cli.folder.start();
    const line = `'${process.execPath}' '${cliScript}' hook claude SessionStart`;
    const { text } = await run(line, event(), { AGENT_BUS_HOME: place.cli.home.folder });
    assert.match(text, /shop-claude/);
  });

  test('without a hub, and with what a killed one left behind: exit 0, no word', async (t) => {
    const place = await Place.make(t);
    const silent = { code: 0, text: '', error: '' };
    assert.deepEqual(await place.hook('Stop'), silent);
    await place.cli.folder.start();
    await place.cli.killHub();
    assert.ok(fs.existsSync(place.cli.home.record));
    assert.deepEqual(await place.hook('Stop'), silent);
    // The next hub takes the place of what was left.
    await place.cli.folder.start();
    assert.equal(await place.name(), 'shop-claude');
  });

  test('a hub that stops takes its socket with it', async (t) => {
    const place = await Place.make(t);
    await place.cli.folder.start();
    const { mode } = fs.statSync(place.cli.home.socket);
    assert.equal(mode & 0o777, 0o600);
    await place.cli.ok('stop');
    assert.ok(!fs.existsSync(place.cli.home.socket));
  });

  test('where there is no socket, it comes by the port', async (t) => {
    const place = await Place.make(t);
    await place.cli.folder.start();
    fs.rmSync(place.cli.home.socket);
    assert.equal(await place.name(), 'shop-claude');
  });

  test('a link in the socket’s place is not followed', async (t) => {
    const place = await Place.make(t);
    await place.cli.folder.start();
    let heard = 0;
    const elsewhere = join(tempFolder(t), 'other.sock');
    await listening(
      t,
      createServer((socket) => {
        heard++;
        socket.destroy();
      }),
      elsewhere,
    );
    fs.rmSync(place.cli.home.socket);
    fs.symlinkSync(elsewhere, place.cli.home.socket);
    assert.equal(await place.name(), 'shop-claude', 'by the port');
    assert.equal(heard, 0);
  });

  test('somebody else at the hub’s port is told nothing but hello', async (t) => {
    const place = await Place.make(t);
    const record = await place.cli.folder.start();
    await place.cli.killHub();
    let heard = '';
    const stranger = createServer((socket) => {
      socket.on('data', (chunk) => {
        heard += chunk.toString();
        const body = JSON.stringify({
          jsonrpc: '2.0',
          id: 0,
          result: { protocol: 1, version: '1', nonce: 'n', proof: 'p' },
        });
        socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
      });
      socket.on('error', () => undefined);
    });
    await listening(t, stranger, 0);
    const { port } = stranger.address() as { port: number };
    fs.writeFileSync(place.cli.home.record, JSON.stringify({ ...record, rpcPort: port }), { mode: 0o600 });
    const said = await place.hook('UserPromptSubmit', { prompt: 'a secret plan' });
    assert.deepEqual(said, { code: 0, text: '', error: '' });
    assert.match(heard, /"hello"/);
    assert.doesNotMatch(heard, /login|secret plan|shop/);
  });
});
