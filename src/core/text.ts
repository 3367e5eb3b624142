import { BusError } from './errors.ts';
import { limits } from './limits.ts';

const encoder = new TextEncoder();

/** Checks a text by its decoded size, as every door and every schema promises. */
export function assertText(text: string, what: string): void {
  if (!text.isWellFormed()) {
    throw new BusError('invalid-input', `The ${what} is not valid Unicode (it has half of a surrogate pair).`, {
      next: 'Send well-formed UTF-8.',
    });
  }
  // Three bytes a UTF-16 unit at most: short texts need no counting.
  if (text.length * 3 <= limits.textBytes) return;
  const bytes = text.length > limits.textBytes ? text.length : encoder.encode(text).length;
  if (bytes > limits.textBytes) {
    throw new BusError('too-large', `The ${what} is larger than ${limits.textBytes} bytes of UTF-8.`, {
      next: 'Nothing was sent. Put the content into a file and send its path, or split it.',
    });
  }
}

/** The first line, for lists. */
export function firstLine(text: string, max: number): string {
  const line =
    text
      .slice(0, max * 4)
      .trimStart()
      .split('\n', 1)[0] ?? '';
  return cut(line, max);
}

/** The index itself, or the one before it where it would split a surrogate pair. */
export function pairStart(text: string, index: number): number {
  if (index >= text.length) return text.length;
  return /[\uDC00-\uDFFF]/.test(text[index] ?? '') && index > 0 ? index - 1 : index;
}

/** Never cuts a surrogate pair in half. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, pairStart(text, max))}…`;
}

/** A piece of the text around the first of the words. */
export function snippet(text: string, words: string, max: number): string {
  const lower = text.toLowerCase();
  const hits = (words.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [])
    .map((word) => lower.indexOf(word))
    .filter((i) => i >= 0);
  const start = Math.max(0, Math.min(...(hits.length > 0 ? hits : [0])) - Math.floor(max / 4));
  const from = /[\uDC00-\uDFFF]/.test(text[start] ?? '') ? start + 1 : start;
  return (from > 0 ? '…' : '') + cut(text.slice(from), max).replace(/\s+/g, ' ');
}
