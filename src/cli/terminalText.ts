/**
 * What others wrote, for a person's terminal: escape sequences, other control characters and marks that turn the
 * direction of text are shown instead of obeyed. Programs get the text as it is, with --json or --raw.
 */
const obeyed = /[\0-\x08\x0B-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFFF9-\uFFFB]|\p{Cs}/gu;

/** Line ends and tabs stay. */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(obeyed, shown);
}

/** One line of at most `most` characters. */
export function visibleLine(text: string, most = 200): string {
  const line = visibleText(text.slice(0, most * 4))
    .replace(/\s+/g, ' ')
    .trim();
  const letters = [...line];
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join('')}…`;
}

export function firstLine(text: string, most: number): string {
  const [first = '', ...rest] = text.trim().split(/\r?\n/, 2);
  return visibleLine(first, most) + (rest.length > 0 ? ' …' : '');
}

/** A peer's text can't look like a line of ours: all of it is set in. */
export function indented(text: string, by = '    '): string {
  return visibleText(text).replace(/^/gm, by);
}

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  if (code >= 0xd800 && code <= 0xdfff) return '\uFFFD';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
