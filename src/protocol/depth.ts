/** JSON from outside, with a bound on its nesting: what parses here can be walked and written again without a stack overflow. */
import { BusError } from '../core/errors.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export function parseJson(text: string, maxDepth: number): unknown {
  if (mayNestDeeper(text, maxDepth) && nestsDeeper(text, maxDepth)) {
    throw new BusError('too-deep', `The JSON is nested more than ${maxDepth} levels deep.`, {
      next: `Flatten it to ${maxDepth} levels or fewer, or send it as text.`,
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BusError('invalid-input', 'This is not valid JSON.', { next: 'Send one JSON value in UTF-8.', cause });
  }
}

/** Counting openings by native search clears almost every message; brackets inside strings only cost the exact scan. */
function mayNestDeeper(text: string, maxDepth: number): boolean {
  if (text.length <= 2 * maxDepth) return false;
  let openings = 0;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) if (++openings > maxDepth) return true;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) if (++openings > maxDepth) return true;
  return false;
}

function nestsDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
      if (at < 0) return false;
    } else if (char === openBrace || char === openBracket) {
      if (++depth > maxDepth) return true;
    } else if (char === closeBrace || char === closeBracket) {
      depth--;
    }
  }
  return false;
}

/** Where the string that opens at `start` closes, or -1. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}
