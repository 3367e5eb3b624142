/** What `connect` and `disconnect` would change, worked out and checked in full before the first byte is written. */
import * as fs from 'node:fs';
import { backupsOf, nextBackup } from './files/backup.ts';
import { connected, disconnected, hasOurs } from './files/configEdits.ts';
import { decoded, encoded } from './files/configText.ts';
import { readSwitched, switchedBy, withOwnSwitches, type Switched } from './files/switched.ts';
import { Unreadable } from './files/unreadable.ts';
import type { ConfigFile, Place, Product, Scope } from './products/product.ts';

/** One file as it is and as it will be. */
export interface Change {
  path: string;
  /** Undefined: it is not there. */
  before: Buffer | undefined;
  after: Buffer | undefined;
  /** Where a copy of it is put first. */
  backup: string | undefined;
  /** Copies that say nothing any more: the file is as it was. */
  spent: string[];
  scope: Scope;
  /** The folder that the person's files are in, whatever becomes of those below it. */
  base: string;
  /** What is to be remembered of settings that were switched in it. */
  switched?: { place: Place; list: Switched[] };
}

/** A file that is not touched. */
export interface Problem {
  path: string;
  line: number | undefined;
  why: string;
}

export interface Plan {
  changes: Change[];
  unchanged: string[];
  problems: Problem[];
}

export interface PlanRequest {
  product: Product;
  place: Place;
  scope: Scope;
  hooks: boolean;
  /** The person lets us switch on what the product calls experimental. Unless told, what is switched stays so. */
  experimental?: boolean;
}

export function planConnect(request: PlanRequest): Plan {
  return plan(request, (text, edit) => connected(text, edit));
}

export function planDisconnect(request: Omit<PlanRequest, 'experimental'>): Plan {
  const result = plan(request, (text, edit) => (text === undefined ? undefined : disconnected(text, edit)), true);
  // Only what is of ours goes: there is nothing to keep a copy of.
  return { ...result, changes: result.changes.map((change) => ({ ...change, backup: undefined })) };
}

function plan(request: PlanRequest, edit: typeof connected, isLeaving = false): Plan {
  const { product, place, scope, hooks, experimental = false } = request;
  const result: Plan = { changes: [], unchanged: [], problems: [] };
  const switched = readSwitched(place);
  const all = product.files(place, scope, true).map((file) => withOwnSwitches(file, switched));
  for (const [i, full] of product.files(place, scope, hooks).entries()) {
    const { path } = full;
    const wanted = experimental ? full : withOwnSwitches(full, switched);
    try {
      const base = scope === 'user' ? place.home : place.project;
      const change = changeOf(wanted, all[i] ?? wanted, product.name, edit);
      const list =
        isLeaving || !change ? [] : switchedBy(wanted, change.before && decoded(change.before).text, switched);
      const isRemembered = list.length > 0 || switched.some((one) => one.path === path);
      if (change) result.changes.push({ ...change, scope, base, ...(isRemembered && { switched: { place, list } }) });
      else result.unchanged.push(path);
    } catch (error) {
      result.problems.push({ path, ...problemOf(error) });
    }
  }
  return result;
}

function changeOf(
  wanted: ConfigFile,
  all: ConfigFile,
  product: string,
  edit: typeof connected,
): Omit<Change, 'scope' | 'base'> | undefined {
  const { path } = wanted;
  const before = readIfThere(path);
  const { text, marked } = before ? decoded(before) : { text: undefined, marked: false };
  const stripped = (full: string): string | undefined =>
    disconnected(full, { product, wanted, all, original: undefined });
  const backups = backupsOf(path);
  const isOurs = text !== undefined && hasOurs(text, product, all);
  // Of a file that we are not in, the copies are of former times.
  const original = isOurs ? originalOf(backups.at(-1), stripped) : text;
  // A file that was there and empty is so again: some products make theirs like this.
  const blank = isOurs && original?.trim() === '' ? original : undefined;
  const result = edit(text, { product, wanted, all, original }) ?? blank;
  if (result === text) return undefined;
  const after = result === undefined ? undefined : encoded({ text: result, marked });
  const isLeft = isOurs && (result === undefined || !hasOurs(result, product, all));
  const spent = isLeft ? backups.filter((copy) => isSame(copy, after)) : [];
  const isFirst = !isOurs || (backups.length === 0 && stripped(text) !== undefined);
  return { path, before, after, backup: before && isFirst ? nextBackup(path) : undefined, spent };
}

/** What the person had in the file before us. */
function originalOf(backup: string | undefined, stripped: (text: string) => string | undefined): string | undefined {
  if (backup === undefined) return undefined;
  try {
    return stripped(decoded(fs.readFileSync(backup)).text);
  } catch {
    return undefined;
  }
}

function isSame(copy: string, bytes: Buffer | undefined): boolean {
  try {
    const kept = fs.readFileSync(copy);
    return bytes ? kept.equals(bytes) : kept.toString().trim() === '';
  } catch {
    return false;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function problemOf(error: unknown): { line: number | undefined; why: string } {
  if (error instanceof Unreadable) return { line: error.line, why: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    EACCES: 'you may not read it',
    EPERM: 'you may not read it',
    EISDIR: 'it is a folder',
    ENOTDIR: 'a part of its path is a file',
    ELOOP: 'its links lead in a circle',
  };
  return { line: undefined, why: known[code ?? ''] ?? message };
}
