import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { WriteStream } from 'node:tty';
import { promisify } from 'node:util';
import type { Size } from './emulator.ts';

const run = promisify(execFile);

/**
 * The device of the terminal that a process is in. Extensions are not told how big a terminal is, but its device knows.
 * Windows has none, so nothing is typed there.
 */
export async function terminalDevice(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') return deviceNamed(await fs.promises.readlink(`/proc/${pid}/fd/0`));
    if (process.platform === 'win32') return undefined;
    const { stdout } = await run('ps', ['-o', 'tty=', '-p', String(pid)]);
    return deviceNamed(join('/dev', stdout.trim()));
  } catch {
    return undefined;
  }
}

/** Asked in the middle of reading, since a product that redraws itself has just heard of a new size. */
export function sizeOf(device: string): Size | undefined {
  let fd: number | undefined;
  try {
    fd = fs.openSync(device, fs.constants.O_RDWR | fs.constants.O_NOCTTY | fs.constants.O_NONBLOCK);
    const stream = new WriteStream(fd);
    const [cols, rows] = stream.getWindowSize();
    // The stream closes what it was opened on.
    fd = undefined;
    stream.destroy();
    return cols > 0 && rows > 0 ? { cols, rows } : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

function deviceNamed(path: string): string | undefined {
  return /^\/dev\/(pts\/\d+|tty[a-z]?\w+)$/.test(path) ? path : undefined;
}
