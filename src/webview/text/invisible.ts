/**
 * Characters that a reader would not see, but that change what a text says or hides: controls, bidi controls, zero-width
 * characters, tags. They are shown by name. Joiners that a script or an emoji needs stay as they are.
 */

const hidden = '[\\0-\\x08\\x0B-\\x1F\\x7F-\\x9F\\p{Default_Ignorable_Code_Point}\\uFFF9-\\uFFFB\\u2028\\u2029]';
const joining =
  '[\\p{Script=Arabic}\\p{Script=Bengali}\\p{Script=Devanagari}\\p{Script=Gujarati}\\p{Script=Gurmukhi}' +
  '\\p{Script=Kannada}\\p{Script=Khmer}\\p{Script=Malayalam}\\p{Script=Mongolian}\\p{Script=Myanmar}\\p{Script=Oriya}' +
  '\\p{Script=Sinhala}\\p{Script=Syriac}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Tibetan}]';
const harmless = [
  `(?<=${joining})[\\u200C\\u200D]`,
  '(?<=[\\p{Extended_Pictographic}\\u{1F3FB}-\\u{1F3FF}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})',
  '(?<=[\\p{Emoji}\\p{Extended_Pictographic}])\\uFE0F',
  '(?<=\\u{1F3F4})[\\u{E0061}-\\u{E007A}]{5}\\u{E007F}',
  '\\r(?=\\n)',
].join('|');

const any = new RegExp(hidden, 'u');
const each = new RegExp(`(${harmless})|(${hidden}+)`, 'gu');

const names: Record<number, string> = {
  0x00: 'NUL',
  0x08: 'BS',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
  0xad: 'soft hyphen',
  0x061c: 'ALM',
  0x200b: 'zero-width space',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x2060: 'word joiner',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
  0xfeff: 'BOM',
};

/** A run of hidden characters, as a short label and in full. */
export interface Mark {
  label: string;
  title: string;
}

export type Piece = string | Mark;

export function hasInvisible(text: string): boolean {
  return any.test(text);
}

/** The text in pieces: what can be seen, and marks for what can't. */
export function pieces(text: string): Piece[] {
  if (!any.test(text)) return [text];
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(each)) {
    if (match[2] === undefined) continue;
    if (match.index > from) found.push(text.slice(from, match.index));
    found.push(markOf(match[2]));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/** For places that hold nothing but text: lists, titles, labels. */
export function visible(text: string): string {
  if (!any.test(text)) return text;
  return pieces(text)
    .map((piece) => (typeof piece === 'string' ? piece : `[${piece.label}]`))
    .join('');
}

function markOf(run: string): Mark {
  const points = [...run].map((character) => character.codePointAt(0) ?? 0);
  const first = points[0] ?? 0;
  const code = (point: number) => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = names[first] ?? code(first);
  const listed = points.slice(0, 8).map((point) => (names[point] ? `${code(point)} ${names[point]}` : code(point)));
  const more = points.length > 8 ? ` and ${points.length - 8} more` : '';
  const tags = points.every((point) => point >= 0xe0000 && point <= 0xe007f);
  if (tags) {
    const spelled = points.map((point) => String.fromCharCode(point - 0xe0000).replace(/[^ -~]/g, '')).join('');
    return { label: 'hidden text', title: `Invisible tag characters that spell: ${spelled.slice(0, 200)}` };
  }
  return {
    label: points.length === 1 ? name : `${name} +${points.length - 1}`,
    title: `Invisible: ${listed.join(', ')}${more}`,
  };
}
