/** Every process that the bench starts, and its one temporary folder: nothing of them is left, however it ends. */
import { fork, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const alive = new Set<number>();
let root: string | undefined;
let folders = 0;

process.on('exit', () => {
  for (const pid of alive) end(pid, 'SIGKILL');
  if (root !== undefined) rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

export function temporaryFolder(name: string): string {
  root ??= mkdtempSync(join(tmpdir(), 'agent-bus-bench-'));
  const path = join(root, `${++folders}-${name}`);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

export function start(program: string, args: string[], options: SpawnOptions = {}): ChildProcess {
  return own(spawn(program, args, { stdio: 'ignore', ...options }));
}

/** One of our own files as a process, with a channel for messages. */
export function startScript(path: string, args: string[]): ChildProcess {
  return own(fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: ['--expose-gc'] }));
}

/** A process that somebody else has started for us. */
export function adopt(pid: number): { gone: () => void } {
  alive.add(pid);
  return { gone: () => void alive.delete(pid) };
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  child.kill(signal);
  await exited;
  clearTimeout(timer);
}

/** After garbage collection. The process has loaded memoryProbe.ts. */
export async function memoryOf(child: ChildProcess): Promise<NodeJS.MemoryUsage> {
  const answer = new Promise((resolve) => child.once('message', resolve));
  child.send('memory');
  return (await answer) as NodeJS.MemoryUsage;
}

export function onPath(program: string): string | undefined {
  // Debian keeps servers where only root looks for programs.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function own(child: ChildProcess): ChildProcess {
  const { pid } = child;
  if (pid !== undefined) {
    alive.add(pid);
    child.once('exit', () => alive.delete(pid));
  }
  return child;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
