// VS Code as it is installed on this machine, with a profile of its own.
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The program, where it can be used for windows of our own. */
export function findDesktopCode(env = process.env, platform = process.platform) {
  const screen = platform !== 'linux' || env.DISPLAY || env.WAYLAND_DISPLAY;
  // Inside a remote window and under WSL `code` belongs to the other side, and knows no profile of ours.
  const foreign = env.VSCODE_IPC_HOOK_CLI || env.WSL_DISTRO_NAME;
  if (!screen || foreign) return undefined;
  const names = platform === 'win32' ? ['code.cmd', 'code.exe'] : ['code'];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    for (const name of names) {
      const path = folder && join(folder, name);
      if (path && isExecutable(path)) return path;
    }
  }
  return undefined;
}

export class DesktopEditor {
  name = 'VS Code';

  /** @param {{ tryout: import('./tryout.mjs').Tryout, env: NodeJS.ProcessEnv, say(text: string): void }} around */
  constructor(program, { tryout, env, say }) {
    this.program = program;
    this.tryout = tryout;
    this.env = env;
    this.say = say;
    this.common = ['--user-data-dir', tryout.profile, '--extensions-dir', tryout.extensions];
    if (process.platform === 'linux' && process.getuid?.() === 0) this.common.push('--no-sandbox');
  }

  async install(vsix) {
    await this.run([...this.common, '--install-extension', vsix, '--force']);
  }

  async open() {
    for (const project of this.tryout.projects) {
      await this.run([...this.common, '--new-window', '--disable-workspace-trust', '--skip-release-notes', project]);
    }
    this.say('VS Code opens two windows, shop-api and shop-web. Click the bus in the activity bar.');
  }

  /** Its windows are not our children: the profile says whose they are. */
  async close() {
    const pid = Number(readIfThere(join(this.tryout.profile, 'code.lock')));
    if (!(pid > 1)) return;
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      return;
    }
    for (let i = 0; i < 60 && isAlive(pid); i++) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  closeNow() {}

  /** Its output goes nowhere: the windows would hold on to a pipe. */
  run(args) {
    const windows = process.platform === 'win32';
    // A batch file needs the shell there.
    const [program, ...words] = windows ? [this.program, ...args].map((word) => `"${word}"`) : [this.program, ...args];
    const child = spawn(program, words, { env: this.env, stdio: 'ignore', shell: windows });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`\`code\` ended with ${code}`))));
    });
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
