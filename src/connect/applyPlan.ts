/** Writes what was planned: all of it, or nothing. */
import * as fs from 'node:fs';
import { dirname, sep } from 'node:path';
import { BusError } from '../core/errors.ts';
import { rememberSwitched } from './files/switched.ts';
import { createFile, endOfLinks, replaceFile } from './files/writeFile.ts';
import type { Change } from './plan.ts';

/** @throws BusError, after everything is as it was */
export function applyChanges(changes: readonly Change[]): void {
  const undo: (() => void)[] = [];
  try {
    // First of all: what is remembered and was not done after all does no harm.
    for (const { switched, path, after } of changes) {
      if (switched && after !== undefined && switched.list.length > 0)
        rememberSwitched(switched.place, path, switched.list);
    }
    for (const change of changes) apply(change, undo);
  } catch (error) {
    const left = undo.reverse().flatMap((step) => attempt(step));
    throw failure(error, left);
  }
  for (const { spent, after, path, base, switched } of changes) {
    if (switched?.list.length === 0) rememberSwitched(switched.place, path, []);
    for (const copy of spent) fs.rmSync(copy, { force: true });
    if (after === undefined) removeEmptyFolders(dirname(path), base);
  }
}

/** Those that were made for the file alone. */
function removeEmptyFolders(folder: string, base: string): void {
  if (!folder.startsWith(base + sep)) return;
  try {
    fs.rmdirSync(folder);
  } catch {
    return;
  }
  removeEmptyFolders(dirname(folder), base);
}

function apply(change: Change, undo: (() => void)[]): void {
  const { path, before, after, backup } = change;
  const isUser = change.scope === 'user';
  const current = fs.existsSync(path) ? fs.readFileSync(path) : undefined;
  if (!(current && before ? current.equals(before) : current === before)) {
    throw new BusError('bad-settings', `${path} was changed by somebody else in this very moment.`, {
      next: 'Nothing was written. Run the command again.',
    });
  }
  if (after === undefined) return remove(change, undo);
  if (before === undefined) makeFolders(dirname(endOfLinks(path)), isUser ? 0o700 : 0o777, undo);
  if (backup !== undefined && before !== undefined) {
    createFile(backup, before, fs.statSync(path).mode & 0o777);
    undo.push(() => fs.rmSync(backup, { force: true }));
  }
  const mode = isUser ? 0o600 : 0o666 & ~process.umask();
  undo.push(() => (before ? replaceFile(path, before, mode) : fs.rmSync(endOfLinks(path), { force: true })));
  replaceFile(path, after, mode);
}

/** Of a link its end is emptied, since the link is the person's. */
function remove({ path, before }: Change, undo: (() => void)[]): void {
  if (before === undefined) return;
  const { mode } = fs.statSync(path);
  undo.push(() => {
    fs.mkdirSync(dirname(path), { recursive: true });
    replaceFile(path, before, mode & 0o777);
  });
  if (fs.lstatSync(path).isSymbolicLink()) return replaceFile(path, Buffer.alloc(0), mode);
  fs.rmSync(path);
}

function makeFolders(folder: string, mode: number, undo: (() => void)[]): void {
  if (fs.existsSync(folder)) return;
  makeFolders(dirname(folder), mode, undo);
  fs.mkdirSync(folder, { mode });
  undo.push(() => fs.rmdirSync(folder));
}

function attempt(step: () => void): string[] {
  try {
    step();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function failure(error: unknown, left: readonly string[]): BusError {
  const isOurs = error instanceof BusError;
  const why = error instanceof Error ? error.message : String(error);
  const next =
    left.length > 0
      ? `Not everything could be put back: ${left.join('; ')}. The copies beside the files (*.agent-bus-backup) hold what they were.`
      : isOurs
        ? error.next
        : 'Everything is as it was. Make the file and its folder writable and run the command again.';
  return new BusError('bad-settings', isOurs ? why : `The configuration could not be written: ${why}.`, {
    next,
    cause: error,
  });
}
