// VS Code as a server for the browser (code-server), for machines without a screen or without VS Code.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { endGroup, killGroup } from './endGroup.mjs';

const windows = process.platform === 'win32';
const patienceMs = 60_000;

export class ServerEditor {
  name = 'VS Code';

  /** @param {{ tryout: import('./tryout.mjs').Tryout, env: NodeJS.ProcessEnv, port: number, say(text: string): void }} around */
  constructor(installed, { tryout, env, port, say }) {
    this.node = installed.node;
    this.entry = installed.entry;
    this.tryout = tryout;
    this.port = port;
    this.say = say;
    this.env = clean(env);
    this.env.PATH = [dirname(installed.node), this.env.PATH ?? ''].join(delimiter);
    this.common = ['--user-data-dir', tryout.profile, '--extensions-dir', tryout.extensions];
    this.common.push('--config', join(tryout.folder, 'code-server.yaml'));
  }

  async install(vsix) {
    const child = this.spawn([...this.common, '--install-extension', vsix]);
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    const code = await new Promise((resolve, reject) => child.on('error', reject).on('exit', resolve));
    if (code !== 0) throw new Error(`code-server did not take the extension (${code}): ${said.trim().slice(-300)}`);
  }

  async open() {
    const port = this.port || (await freePort());
    const flags = ['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'];
    const door = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`];
    this.server = this.spawn([...this.common, ...door, ...flags]);
    let said = '';
    this.server.stderr.on('data', (chunk) => (said = (said + chunk).slice(-2_000)));
    const ended = new Promise((resolve) => this.server.on('exit', (code, signal) => resolve(signal ?? code)));
    await this.answers(`http://127.0.0.1:${port}/healthz`, ended, () => said);
    void ended.then((how) => {
      if (!this.closing)
        this.say(`VS Code has ended unexpectedly (${how}). The hub goes on; npm start opens it again.`);
    });
    const urls = this.tryout.projects.map((folder) => `http://127.0.0.1:${port}/?folder=${encodeURI(folder)}`);
    this.say(
      [
        'VS Code is ready in your browser, one window each. Click the bus in the activity bar.',
        ...urls.map((url) => `  ${url}`),
      ]
        .concat(
          '  Views, terminals, the command line and agents over MCP work there; the chat of Copilot needs a sign-in.',
        )
        .join('\n'),
    );
  }

  async close() {
    this.closing = true;
    if (this.server) await endGroup(this.server);
  }

  closeNow() {
    this.closing = true;
    if (this.server) killGroup(this.server);
  }

  spawn(args) {
    // A group of its own, so that a Ctrl-C does not end half of it.
    return spawn(this.node, [this.entry, ...args], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: !windows,
      windowsHide: true,
    });
  }

  async answers(url, ended, said) {
    const deadline = Date.now() + patienceMs;
    let over = false;
    void ended.then(() => (over = true));
    for (;;) {
      if (over) throw new Error(`it ended right after its start: ${said().trim().slice(-300)}`);
      if (
        await fetch(url).then(
          (response) => response.ok,
          () => false,
        )
      )
        return;
      if (Date.now() > deadline) throw new Error('it did not answer within a minute');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** What npm, a terminal in VS Code or another code-server has put there is not meant for this one. */
function clean(env) {
  const foreign = /^(npm_|VSCODE_|ELECTRON_|CODE_SERVER|NODE_OPTIONS$|PORT$|PASSWORD$|HASHED_PASSWORD$)/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.test(name)));
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
