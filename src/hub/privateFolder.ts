/**
 * The bus's folder belongs to one OS user; nobody else can read it, write it, or have put it there beforehand. Its files
 * are never reached through a link and never seen half written. Checks are made on an open descriptor wherever the
 * platform allows, so that nothing can be swapped in between.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, win32 } from 'node:path';
import { assertOurs, assertPlainFile, hasCode, noFollow, unsafe } from './privateFile.ts';

const isWindows = process.platform === 'win32';

export interface FolderReport {
  created: boolean;
  /** It was ours but open to others, and has been closed. */
  tightened: boolean;
  /** Something the person should know: it goes to the log. */
  note?: string;
}

export interface FolderOptions {
  platform?: NodeJS.Platform;
  env?: Record<string, string | undefined>;
  /** Runs a program; true if it succeeded. */
  run?: (program: string, args: string[]) => boolean;
}

/** Creates the folder, or makes sure that the one that is there is ours alone; BusError `unsafe-folder` if it is not. */
export function ensurePrivateFolder(path: string, options: FolderOptions = {}): FolderReport {
  const created = createFolder(path);
  const found = fs.lstatSync(path);
  if (found.isSymbolicLink()) {
    throw unsafe(`${path} is a symbolic link.`, `Remove the link, or set AGENT_BUS_HOME to the real folder.`);
  }
  if (!found.isDirectory()) throw unsafe(`${path} is not a folder.`, 'Move it away, or set AGENT_BUS_HOME.');
  if ((options.platform ?? process.platform) === 'win32') return restrictOnWindows(path, created, options);
  return { created, tightened: tighten(path) };
}

function createFolder(path: string): boolean {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    fs.mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function tighten(path: string): boolean {
  const fix = `Run: chmod 700 "${path}", or set AGENT_BUS_HOME to a folder of your own.`;
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | noFollow);
  } catch (error) {
    // Even our own folder can be closed to us; whose it is, the descriptor-less check still tells.
    if (hasCode(error, 'EACCES', 'EPERM')) assertOurs(path, fs.lstatSync(path));
    throw unsafe(`${path} cannot be opened.`, fix, error);
  }
  try {
    const stat = fs.fstatSync(descriptor);
    assertOurs(path, stat);
    if ((stat.mode & 0o777) === 0o700) return false;
    fs.fchmodSync(descriptor, 0o700);
    // Some file systems (FAT, mounted Windows drives) accept the call and change nothing.
    if ((fs.fstatSync(descriptor).mode & 0o077) !== 0) {
      throw unsafe(`${path} is open to other users, and its file system cannot change that.`, fix);
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EPERM', 'EROFS', 'ENOTSUP')) throw unsafe(`${path} is open to other users.`, fix, error);
    throw error;
  } finally {
    fs.closeSync(descriptor);
  }
}

/**
 * Windows has neither owner ids nor modes here. A folder inside the user's profile inherits a private access list;
 * one that lies elsewhere gets its own, once: when it is new or still empty.
 */
function restrictOnWindows(path: string, created: boolean, options: FolderOptions): FolderReport {
  const env = options.env ?? process.env;
  const profile = env['USERPROFILE'];
  if (profile && isInside(path, profile)) return { created, tightened: false };
  if (!created && fs.readdirSync(path).length > 0) return { created, tightened: false };
  const name = env['USERNAME'] ?? userInfo().username;
  const account = env['USERDOMAIN'] ? `${env['USERDOMAIN']}\\${name}` : name;
  // By its full path, so that no other icacls on the PATH is run.
  const icacls = win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'icacls.exe');
  const done = (options.run ?? run)(icacls, [path, '/inheritance:r', '/grant:r', `${account}:(OI)(CI)F`]);
  if (done) return { created, tightened: true };
  return {
    created,
    tightened: false,
    note: `${path} lies outside your profile and could not be closed to other users; check its permissions.`,
  };
}

function isInside(path: string, folder: string): boolean {
  const between = win32.relative(folder, path);
  return between !== '' && !between.startsWith('..') && !win32.isAbsolute(between);
}

function run(program: string, args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore', windowsHide: true, timeout: 10_000 }).status === 0;
}

/**
 * Makes sure that a file which others will open by its path (SQLite) is ours and 0600; with `create`, that it is there.
 * Works on the path alone where the file exists: opening and closing it would drop SQLite's locks in this process.
 */
export function assertPrivateFile(path: string, options: { create?: boolean } = {}): void {
  if (options.create) {
    try {
      fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o600));
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  assertPlainFile(path, stat);
  if (!isWindows && (stat.mode & 0o077) !== 0) fs.chmodSync(path, 0o600);
}

/** Readers see the old text or the new one, also after a power loss; a link in the file's place is replaced, not followed. */
export function writePrivateFileAtomic(path: string, text: string | Uint8Array): void {
  const temporary = `${path}.${randomBytes(9).toString('hex')}.tmp`;
  const flags = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | noFollow;
  const descriptor = fs.openSync(temporary, flags, 0o600);
  try {
    try {
      fs.writeFileSync(descriptor, text);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    renameStubbornly(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** A virus scanner or a reader may hold the target for a moment; Windows then refuses what POSIX allows. */
function renameStubbornly(from: string, to: string): void {
  for (let attempt = 0; ; attempt++) {
    try {
      return fs.renameSync(from, to);
    } catch (error) {
      if (!isWindows || attempt >= 9 || !hasCode(error, 'EPERM', 'EBUSY', 'EACCES')) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10 + attempt * 15);
    }
  }
}

function syncFolder(folder: string): void {
  if (isWindows) return;
  try {
    const descriptor = fs.openSync(folder, fs.constants.O_RDONLY);
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    // Not every file system can sync a folder; those keep their own order.
    if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EPERM', 'EACCES', 'EISDIR')) throw error;
  }
}

/** A process killed between writing and renaming leaves its temporary file; the next hub clears it away. */
export function removeStaleTemporaries(folder: string, olderThanMs = 60_000): void {
  for (const name of fs.readdirSync(folder)) {
    if (!/\.[0-9a-f]{18}\.tmp$/.test(name)) continue;
    const path = join(folder, name);
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs >= olderThanMs) fs.rmSync(path, { force: true });
  }
}
