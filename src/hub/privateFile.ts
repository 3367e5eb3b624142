/** Reading a file of the bus's folder: only what we alone can have written, and never through a link. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { BusError } from '../core/errors.ts';

const isWindows = process.platform === 'win32';

/** Windows has no such flag; there the link is looked for before opening. */
export const noFollow: number = constants.O_NOFOLLOW ?? 0;
// A pipe put in a file's place must not hang the start.
const noBlock: number = constants.O_NONBLOCK ?? 0;

/** The text of a file that only we can have written; undefined if there is none. */
export function readPrivateFile(path: string, maxBytes: number): string | undefined {
  const descriptor = openPrivate(path);
  if (descriptor === undefined) return undefined;
  try {
    const stat = fstatSync(descriptor);
    assertPlainFile(path, stat);
    if (!isWindows && (stat.mode & 0o022) !== 0) {
      throw unsafe(`${path} can be changed by other users.`, `Run: chmod 600 "${path}"`);
    }
    // One byte more than allowed, so that a file that grows meanwhile is noticed, too.
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes) + 1);
    let length = 0;
    while (length < buffer.length) {
      const count = readSync(descriptor, buffer, length, buffer.length - length, length);
      if (count === 0) break;
      length += count;
    }
    if (length > maxBytes) {
      throw new BusError('bad-data', `${path} is larger than ${maxBytes} bytes.`, { next: 'Move it away and retry.' });
    }
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
}

function openPrivate(path: string): number | undefined {
  try {
    if (noFollow === 0 && lstatSync(path).isSymbolicLink()) throw linked(path);
    return openSync(path, constants.O_RDONLY | noFollow | noBlock);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ELOOP', 'EMLINK')) throw linked(path, error);
    // Closed to us: a foreign owner is the likely cause and the better message.
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat && hasCode(error, 'EACCES', 'EPERM')) assertOurs(path, stat);
    throw error;
  }
}

export function assertOurs(path: string, stat: Stats): void {
  const own = process.geteuid?.();
  if (own === undefined || stat.uid === own) return;
  throw unsafe(
    `${path} belongs to another user (uid ${stat.uid}, you are ${own}).`,
    'Run as its owner, have it removed, or set AGENT_BUS_HOME to a folder of your own.',
  );
}

export function assertPlainFile(path: string, stat: Stats): void {
  if (stat.isSymbolicLink()) throw linked(path);
  if (!stat.isFile()) throw unsafe(`${path} is not a regular file.`, 'Move it away and retry.');
  assertOurs(path, stat);
}

function linked(path: string, cause?: unknown): BusError {
  return unsafe(`${path} is a symbolic link.`, 'Remove the link and retry; the bus never follows one here.', cause);
}

export function unsafe(message: string, next: string, cause?: unknown): BusError {
  return new BusError('unsafe-folder', message, { next, cause });
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code !== undefined && codes.includes(code);
}
