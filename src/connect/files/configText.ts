/** The bytes of a configuration file as text, and back: a mark at the beginning stays where it is. */
import { Unreadable } from './unreadable.ts';

const mark = '\uFEFF';
const bytesAtMost = 64 * 1_048_576;

export interface ConfigText {
  text: string;
  marked: boolean;
}

/** @throws Unreadable */
export function decoded(bytes: Uint8Array): ConfigText {
  if (bytes.length > bytesAtMost) throw new Unreadable('it is too large to be a configuration');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unreadable('it is not written in UTF-8');
  }
  return text.startsWith(mark) ? { text: text.slice(1), marked: true } : { text, marked: false };
}

export function encoded({ text, marked }: ConfigText): Buffer {
  return Buffer.from(marked ? mark + text : text, 'utf8');
}
