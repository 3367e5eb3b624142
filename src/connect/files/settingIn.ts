/** One value of a settings file, for those who only look: comments and commas too many are passed over. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFile } from '../products/product.ts';

/** @returns undefined where there is no such file, no such value, or nothing that could be read */
export function settingIn(path: string, at: readonly string[]): unknown {
  try {
    let found = lenient(readFileSync(path, 'utf8'));
    for (const key of at) found = (found as Record<string, unknown> | undefined)?.[key];
    return found;
  } catch {
    return undefined;
  }
}

/** Whether all switches of these files are on, whoever has done that. */
export function areOn(files: readonly ConfigFile[]): boolean {
  return files.every(({ path, parts }) =>
    parts.every(({ kind, at, value }) => kind !== 'switch' || isDeepStrictEqual(settingIn(path, at), value)),
  );
}

function lenient(text: string): unknown {
  const bare = text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|^\uFEFF/g, (part) =>
    part.startsWith('"') ? part : '',
  );
  return JSON.parse(bare.replace(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g, (part) => (part === ',' ? '' : part)));
}
