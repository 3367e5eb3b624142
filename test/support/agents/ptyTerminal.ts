/** An agent product in a terminal of which every cell is known: `script` makes the pseudo-terminal, xterm is the screen. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import xterm from '@xterm/headless';
import { Emulator, type Size } from '../../../src/extension/window/terminals/emulator.ts';
import { textOf, type Screen } from '../../../src/extension/window/terminals/screen.ts';
import { until } from '../hubProcess.ts';
import type { Launch } from './agentRun.ts';

export class PtyTerminal {
  readonly size: Size;
  /** What the product wrote so far. */
  output = '';
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly emulator: Emulator;

  private constructor(child: ChildProcessWithoutNullStreams, size: Size) {
    this.child = child;
    this.size = size;
    this.emulator = new Emulator(size);
    // A terminal answers when it is asked where its cursor is and what it can do. The one under test only listens.
    const answering = new xterm.Terminal({ ...size, allowProposedApi: true });
    answering.onData((text) => child.stdin.write(text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
      this.emulator.write(text);
      answering.write(text);
    });
    child.stdin.on('error', () => undefined);
  }

  static open({ program, args, env, cwd }: Launch, size: Size = { cols: 100, rows: 30 }): PtyTerminal {
    const words = [program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const line = `stty cols ${size.cols} rows ${size.rows}; exec ${words.join(' ')}`;
    const asInEditor = { ...env, TERM: 'xterm-256color', COLORTERM: 'truecolor', SHELL: '/bin/sh' };
    const child = spawn('script', ['-qfec', line, '/dev/null'], { env: asInEditor, cwd, detached: true });
    return new PtyTerminal(child, size);
  }

  send(text: string): void {
    this.child.stdin.write(text);
  }

  screen(): Promise<Screen> {
    return this.emulator.screen();
  }

  async text(): Promise<string> {
    const { rows } = await this.screen();
    return rows.map((row) => textOf(row).trimEnd()).join('\n');
  }

  async shows(wanted: RegExp | string, patienceMs?: number): Promise<void> {
    let last = '';
    const isThere = async () => {
      last = await this.text();
      return typeof wanted === 'string' ? last.includes(wanted) : wanted.test(last);
    };
    await until(`${wanted} is on the screen`, isThere, patienceMs).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}; it shows\n${last}`);
    });
  }

  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const gone = once(this.child, 'exit');
    process.kill(-pid, 'SIGKILL');
    await gone;
    this.emulator.dispose();
  }
}
