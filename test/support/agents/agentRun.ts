/** One run of an agent product without a terminal, from its start to its end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How a product is started; the environment is all it gets. */
export interface Launch {
  program: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
}

export interface RunResult {
  code: number | null;
  output: string;
}

export class AgentRun {
  readonly child: ChildProcess;
  readonly result: Promise<RunResult>;
  output = '';

  constructor({ program, args, env, cwd }: Launch) {
    // A group of its own, so that what the product has started goes with it.
    this.child = spawn(program, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.result = once(this.child, 'close').then(([code]) => ({ code: code as number | null, output: this.output }));
  }

  /** Has to end well. */
  async done(): Promise<string> {
    const { code, output } = await this.result;
    if (code !== 0) throw new Error(`the product ended with ${code}: ${output}`);
    return output;
  }

  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
    if (exitCode === null && signalCode === null) await this.result;
  }
}
