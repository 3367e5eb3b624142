/** The real `agent-bus` program, with a data folder of its own. Whatever it starts is ended by process id. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { BusHome } from '../../src/hub/home.ts';
import { HubProcess, until } from './hubProcess.ts';

/** AGENT_BUS_TEST_CLI is for trying a bundle that is not in dist yet. */
export const cliScript = process.env['AGENT_BUS_TEST_CLI'] ?? join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
/** Where the launcher sends the hooks of products. */
const hookScript = join(dirname(cliScript), 'hook.js');

export interface CliResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: Buffer;
  text: string;
  error: string;
}

/** What a test may look into without saying first what it is: an assertion follows. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Parsed = any;

export interface CliOptions {
  stdin?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
}

/** One that is still running. */
export class RunningCli {
  readonly child: ChildProcess;
  readonly result: Promise<CliResult>;
  output = '';
  private readonly chunks: Buffer[] = [];
  private error = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv, options: CliOptions) {
    const script = args[0] === 'hook' ? hookScript : cliScript;
    this.child = spawn(process.execPath, [script, ...args], { env, cwd: options.cwd, stdio: 'pipe' });
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.output += chunk.toString();
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.error += chunk.toString()));
    this.child.stdin?.on('error', () => undefined).end(options.stdin ?? '');
    this.result = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      out: Buffer.concat(this.chunks),
      text: Buffer.concat(this.chunks).toString(),
      error: this.error,
    }));
  }

  says(pattern: RegExp): Promise<RegExpExecArray> {
    return until(`${pattern} is in: ${this.output}${this.error}`, () => pattern.exec(this.output));
  }
}

export class Cli {
  readonly folder: HubProcess;
  private readonly running = new Set<RunningCli>();
  private readonly clients: (() => Promise<unknown>)[] = [];

  /** @param t ends everything when it is over */
  constructor(t: Pick<TestContext, 'after'>, settings?: Record<string, unknown>) {
    this.folder = new HubProcess(settings ? { settings } : {});
    t.after(() => this.dispose());
  }

  get home(): BusHome {
    return this.folder.home;
  }

  environment(extra: Record<string, string> = {}): Record<string, string> {
    const env: Record<string, string> = {
      ...(process.env as Record<string, string>),
      AGENT_BUS_HOME: this.home.folder,
      ...extra,
    };
    delete env['NODE_TEST_CONTEXT'];
    delete env['CLAUDE_PROJECT_DIR'];
    return env;
  }

  start(args: readonly string[], options: CliOptions = {}): RunningCli {
    const running = new RunningCli(args, this.environment(options.env), options);
    this.running.add(running);
    void running.result.then(() => this.running.delete(running));
    return running;
  }

  run(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
    return this.start(args, options).result;
  }

  /** Has to work, and gives what it printed. */
  async ok(...args: string[]): Promise<string> {
    const { code, text, error } = await this.run(args);
    if (code !== 0) throw new Error(`agent-bus ${args.join(' ')} ended with ${code}: ${text}${error}`);
    return text;
  }

  /** Has to work with --json, and gives exactly the one document that it printed. */
  async json(...args: string[]): Promise<Parsed> {
    const end = args.indexOf('--');
    return JSON.parse(await this.ok(...args.toSpliced(end < 0 ? args.length : end, 0, '--json')));
  }

  /** Has to fail; tells how, as a script learns it. */
  async fails(...args: string[]): Promise<{ exit: number | null; code: string; message: string; next: string }> {
    const { code, text, error } = await this.run(['--json', ...args]);
    if (code === 0 || text !== '') throw new Error(`agent-bus ${args.join(' ')} ended with ${code}: ${text}${error}`);
    return { exit: code, ...(JSON.parse(error) as { error: { code: string; message: string; next: string } }).error };
  }

  /** Ends the hub without a word, as a crash would. */
  async killHub(): Promise<void> {
    const { pid } = this.folder.record;
    process.kill(pid, 'SIGKILL');
    await until('the hub is gone', () => !isAlive(pid));
  }

  /** Ends this before the hub: what is still connected would start another. */
  first(end: () => Promise<unknown>): void {
    this.clients.push(end);
  }

  private async dispose(): Promise<void> {
    for (const end of this.clients) await end();
    for (const { child, result } of [...this.running]) {
      child.kill('SIGKILL');
      await result;
    }
    await this.folder.dispose();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
