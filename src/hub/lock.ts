/**
 * One hub per user: whoever holds this lock is it. The lock is SQLite's own on a file that stays empty, so it works the
 * same on every platform, and the operating system frees it however the process ends.
 *
 * The file is never deleted and never replaced: a lock on a deleted file excludes nobody. Nothing is ever written to it,
 * so there is no journal and nothing that a kill could leave behind. And nothing else in this process may open it:
 * on POSIX, closing any descriptor of a file drops all of the process's locks on it.
 */
import * as fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BusError } from '../core/errors.ts';
import { assertPrivateFile } from './privateFolder.ts';

export interface HubLock {
  release(): void;
  /** False once somebody has removed or replaced the file: another hub could then start, and this one must end. */
  intact(): boolean;
}

// A handle that is garbage collected would let go of the lock.
const held = new Set<DatabaseSync>();

/**
 * SQLite locks in several steps, and two processes in the middle of them turn each other away: without any patience a
 * crowd of starting hubs could end with none. Only those who lose wait this long.
 */
const raceMs = 200;

/** Takes the lock, or returns undefined if another hub has it. */
export function acquireHubLock(path: string): HubLock | undefined {
  for (let attempt = 0; attempt < 3; attempt++) {
    assertPrivateFile(path, { create: true });
    const before = identity(path);
    const outcome = tryLock(path);
    if (outcome === 'busy') return undefined;
    if (outcome === 'damaged') {
      empty(path);
      continue;
    }
    const lock = hold(outcome, path, before);
    // Somebody removed the file between looking and locking: ours may be a lock on a file nobody else will ever see.
    if (before !== undefined && lock.intact()) return lock;
    lock.release();
  }
  throw new BusError('bad-data', `The lock file ${path} is damaged or keeps being replaced.`, {
    next: 'Make sure that no hub runs (`agent-bus stop`), remove the file, and start again.',
  });
}

function tryLock(path: string): DatabaseSync | 'busy' | 'damaged' {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: raceMs });
    // Without this, an empty journal file would be created and, by a kill, left behind.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
    if (code === sqliteBusy || code === sqliteLocked) return 'busy';
    if (code === sqliteNotADatabase || code === sqliteCorrupt) return 'damaged';
    throw new BusError('disk-failed', `The lock file ${path} cannot be locked.`, {
      next: 'Check that the folder is on a local disk with free space and can be written; AGENT_BUS_HOME moves it.',
      cause: error,
    });
  }
}

const sqliteBusy = 5;
const sqliteLocked = 6;
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;

/**
 * Somebody wrote into the file. Emptying keeps it the same file, so that of many hubs doing this at once still only one
 * gets the lock; deleting it would give each its own. While another process holds the lock this changes nothing for it.
 */
function empty(path: string): void {
  try {
    fs.truncateSync(path, 0);
  } catch {
    // Windows refuses while the file is locked; then the next attempt finds it busy.
  }
}

function hold(database: DatabaseSync, path: string, file: string | undefined): HubLock {
  held.add(database);
  return {
    intact: () => held.has(database) && identity(path) === file,
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

function identity(path: string): string | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.dev}:${stat.ino}`;
}
