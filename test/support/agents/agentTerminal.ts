/** An agent product as a person has it before them: in a terminal, which a private tmux server plays. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pause, until } from '../hubProcess.ts';
import type { Launch } from './agentRun.ts';

const run = promisify(execFile);

export class AgentTerminal {
  private readonly socket: string;
  private readonly env: Record<string, string>;

  private constructor(socket: string, env: Record<string, string>) {
    this.socket = socket;
    this.env = env;
  }

  /** @param folder for the socket of the tmux server */
  static async open(launch: Launch, folder: string): Promise<AgentTerminal> {
    const terminal = new AgentTerminal(join(folder, `tmux-${++opened}`), launch.env);
    const env = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`);
    const words = ['env', '-i', ...env, launch.program, ...launch.args];
    const session = ['new-session', '-d', '-x', '160', '-y', '50', '-c', launch.cwd, ...words];
    // What the product said last stays on the screen after its end.
    await terminal.tmux('start-server', ';', ...'set-option -g remain-on-exit on ;'.split(' '), ...session);
    return terminal;
  }

  async screen(): Promise<string> {
    return this.tmux('capture-pane', '-p', '-J');
  }

  async shows(wanted: RegExp | string, patienceMs?: number): Promise<string> {
    let last = '';
    try {
      return await until(
        `${wanted} is on the screen`,
        async () => {
          last = await this.screen();
          return (typeof wanted === 'string' ? last.includes(wanted) : wanted.test(last)) ? last : undefined;
        },
        patienceMs,
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}; it shows\n${last}`);
    }
  }

  /** The product waits for the person: each of them says how to stop it for as long as it works. */
  async idle(): Promise<void> {
    const atWork = /^(?!.*Waiting for background shells).*esc( esc)? (to )?(interrupt|cancel)/im;
    await until('the product is idle', async () => !atWork.test(await this.screen()));
  }

  /** Idle, and nothing moves any more: the end of a turn is told before all products are through with it. */
  async quiet(): Promise<void> {
    let last = '';
    await until('nothing moves on the screen', async () => {
      await this.idle();
      const before = last;
      last = await this.screen();
      if (last === before) return true;
      await pause(1_000);
      return false;
    });
  }

  async type(text: string): Promise<void> {
    await this.tmux('send-keys', '-l', text);
  }

  /** Types a prompt and sends it off; an Enter right behind fast typing is taken for a part of the text by some. */
  async submit(prompt: string, isSent: () => boolean): Promise<void> {
    await this.type(prompt);
    await this.shows(prompt);
    await until(`"${prompt}" is sent`, async () => {
      await this.press('Enter');
      return until('it is sent', isSent, 2_000).catch(() => false);
    });
  }

  async press(...keys: string[]): Promise<void> {
    await this.tmux('send-keys', ...keys);
  }

  /** The processes of the terminal's own session get a hang-up, as from a closed window. */
  async end(): Promise<void> {
    const pid = Number(await this.tmux('display-message', '-p', '#{pane_pid}').catch(() => ''));
    await this.tmux('kill-server').catch(() => '');
    if (pid > 1)
      await until(`process ${pid} of the terminal is gone`, () => !isAlive(pid), 5_000).catch(() => kill(pid));
  }

  private async tmux(...args: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-f', '/dev/null', '-S', this.socket, ...args], { env: this.env });
    return stdout;
  }
}

let opened = 0;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}
