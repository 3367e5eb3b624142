/**
 * What we have switched on in settings that are the person's to decide, with what had been there. The files themselves
 * can't tell: the person may have wanted the same before us.
 */
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFile, Json, Part, Place } from '../products/product.ts';
import { JsonText } from './jsonText.ts';
import { replaceFile } from './writeFile.ts';

export interface Switched {
  path: string;
  at: string[];
  value: Json;
  /** Absent where there had been nothing. */
  before?: Json;
}

function memoryOf({ launch }: Place): string {
  return join(launch.data, 'switched.json');
}

export function readSwitched(place: Place): Switched[] {
  try {
    const list: unknown = JSON.parse(fs.readFileSync(memoryOf(place), 'utf8'));
    return Array.isArray(list) ? (list as Switched[]) : [];
  } catch {
    return [];
  }
}

/** From now on this is what is switched in the file. */
export function rememberSwitched(place: Place, path: string, list: readonly Switched[]): void {
  const others = readSwitched(place).filter((one) => one.path !== path);
  const all = [...others, ...list];
  const memory = memoryOf(place);
  if (all.length === 0) return fs.rmSync(memory, { force: true });
  fs.mkdirSync(dirname(memory), { recursive: true, mode: 0o700 });
  replaceFile(memory, Buffer.from(`${JSON.stringify(all, null, 2)}\n`), 0o600);
}

/** The file with those switches only that we have switched, and with what they were. */
export function withOwnSwitches(file: ConfigFile, switched: readonly Switched[]): ConfigFile {
  const parts = file.parts.flatMap((part): Part[] => {
    if (part.kind !== 'switch') return [part];
    const own = find(switched, file.path, part);
    return own ? [{ ...part, ...(own.before !== undefined && { before: own.before }) }] : [];
  });
  return { ...file, parts };
}

/** What is switched in a file once these parts are in it. */
export function switchedBy(file: ConfigFile, text: string | undefined, switched: readonly Switched[]): Switched[] {
  if (!file.parts.some(({ kind }) => kind === 'switch')) return [];
  const json = text === undefined || text.trim() === '' ? undefined : new JsonText(text);
  return file.parts.flatMap(({ kind, at, value }) => {
    if (kind !== 'switch') return [];
    const own = find(switched, file.path, { at });
    if (own) return [own];
    const before = json?.value(at) as Json | undefined;
    if (isDeepStrictEqual(before, value)) return [];
    return [{ path: file.path, at: [...at], value, ...(before !== undefined && { before }) }];
  });
}

function find(switched: readonly Switched[], path: string, { at }: Pick<Part, 'at'>): Switched | undefined {
  return switched.find((one) => one.path === path && isDeepStrictEqual(one.at, [...at]));
}
