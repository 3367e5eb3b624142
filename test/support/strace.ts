/** strace, where there is one: what a program asks of the disk, and what the disk is made to answer. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Why it can't be used here, or false: fit for the `skip` of a test. */
export function withoutStrace(): string | false {
  const tried = spawnSync('strace', ['-f', '-e', 'trace=none', 'true'], { stdio: 'ignore' });
  if (tried.error) return 'strace missing';
  return tried.status === 0 ? false : 'strace may not trace here';
}

/** Makes calls of a running process fail or wait, as `inject` says, until it is stopped. */
export class Injection {
  private readonly process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.process = process;
  }

  static async into(pid: number, calls: string, inject: string): Promise<Injection> {
    const args = ['-f', '-p', String(pid), '-e', `trace=${calls}`, '-e', `inject=${calls}:${inject}`];
    const child = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    const attached = new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (/attached/.test(said)) resolve();
      });
      child.once('exit', (code) => reject(new Error(`strace ended with ${code}: ${said}`)));
      child.once('error', reject);
    });
    await attached;
    return new Injection(child);
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGINT');
    await exited;
  }
}

export type DiskCall =
  | { kind: 'write'; path: string; at: number; offset: number; bytes: Buffer }
  | { kind: 'truncate'; path: string; at: number; size: number }
  /** `began`: what was written before that is on the disk at `at`. */
  | { kind: 'sync'; path: string; began: number; at: number };

/** The program and arguments that record what is written to these files; see `recorded`. */
export function recording(output: string, paths: readonly string[]): string[] {
  const calls = 'pwrite64,write,ftruncate,fdatasync,fsync';
  const flags = ['-ff', '-y', '-xx', '-ttt', '-T', '-s', '1000000', '-e', `trace=${calls}`, '-e', 'signal=none'];
  return ['strace', ...flags, '-o', output, ...paths.flatMap((path) => ['-P', path])];
}

/** All that was recorded, by the time at which each call had returned (seconds, as the wall clock says). */
export function recorded(output: string): DiskCall[] {
  const files = readdirSync(dirname(output)).filter((name) => name.startsWith(`${basename(output)}.`));
  const calls = files.flatMap((name) =>
    readFileSync(join(dirname(output), name), 'latin1')
      .split('\n')
      .flatMap(parse),
  );
  return calls.sort((a, b) => a.at - b.at);
}

function parse(line: string): DiskCall[] {
  const match = /^(\d+\.\d+) (\w+)\(\d+<([^>]*)>(?:, (.*))?\) = (-?\d+).*<(\d+\.\d+)>$/.exec(line);
  if (!match) return [];
  const [, time = '', call = '', hexPath = '', rest = '', result = '', took = ''] = match;
  const path = unhex(hexPath).toString('utf8');
  const began = Number(time);
  const at = began + Number(took);
  if (Number(result) < 0) return [];
  if (call === 'fdatasync' || call === 'fsync') return [{ kind: 'sync', path, began, at }];
  if (call === 'ftruncate') return [{ kind: 'truncate', path, at, size: Number(rest) }];
  const data = /^"([^"]*)"(\.\.\.)?, \d+(?:, (\d+))?$/.exec(rest);
  if (!data || data[2] || data[3] === undefined) throw new Error(`not understood: ${line.slice(0, 200)}`);
  return [
    { kind: 'write', path, at, offset: Number(data[3]), bytes: unhex(data[1] ?? '').subarray(0, Number(result)) },
  ];
}

function unhex(text: string): Buffer {
  return text.includes('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text, 'latin1');
}
