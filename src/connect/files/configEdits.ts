/** The formats of configuration files behind one face, and files that are ours as a whole. */
import type { ConfigFile } from '../products/product.ts';
import { hasJsonParts, ownedBy, withJsonParts, withoutJsonParts } from './jsonParts.ts';
import { ownText, textWithout } from './ownText.ts';
import { hasTomlTable, withoutTomlTable, withTomlTable, type TomlValue } from './tomlTable.ts';

/** @param all the file with everything that may be of ours in it, wanted or not */
export interface Edit {
  product: string;
  wanted: ConfigFile;
  all: ConfigFile;
  /** The file as it was before us, if that is known. */
  original: string | undefined;
}

/** @returns the text with ours in it; undefined for a file that there is no need of */
export function connected(text: string | undefined, { product, wanted, all, original }: Edit): string | undefined {
  if (wanted.parts.length === 0) {
    return text === undefined ? undefined : disconnected(text, { product, wanted, all, original });
  }
  if (wanted.format === 'text') return ownText(text, wanted);
  if (wanted.format === 'json') return withJsonParts(text ?? '', wanted.parts, ownedBy(product, all.parts), original);
  return wanted.parts.reduce((result, { at, value }) => {
    return withTomlTable(result, at, value as Record<string, TomlValue>);
  }, text ?? '');
}

/** @returns the text without ours; undefined if nothing is left of it */
export function disconnected(text: string, { product, all, original }: Edit): string | undefined {
  if (text.trim() === '') return text;
  if (all.format === 'text') return textWithout(text);
  if (all.format === 'json') return withoutJsonParts(text, ownedBy(product, all.parts), original);
  return all.parts.reduce<string | undefined>((result, { at }) => {
    return result === undefined ? undefined : withoutTomlTable(result, at);
  }, text);
}

export function hasOurs(text: string, product: string, all: ConfigFile): boolean {
  if (text.trim() === '') return false;
  if (all.format === 'text') return textWithout(text) === undefined;
  if (all.format === 'json') return hasJsonParts(text, ownedBy(product, all.parts));
  return all.parts.some(({ at }) => hasTomlTable(text, at));
}
