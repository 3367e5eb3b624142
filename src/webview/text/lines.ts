/** The first line, for lists. Never cuts a surrogate pair in half. */
export function lineOf(text: string, max: number): string {
  const line =
    text
      .slice(0, max * 4)
      .trimStart()
      .split('\n', 1)[0] ?? '';
  return line.length <= max ? line : `${line.slice(0, whole(line, max))}…`;
}

/** The index itself, or the one before it where it would split a surrogate pair. */
export function whole(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return index > 0 && code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}

/** A piece of Markdown as the plain words that a list shows. */
export function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/, '')
    .replace(/`{3,}\w*/g, '')
    .replace(/`+([^`]*)`+/g, '$1')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/g, '$2')
    .trim();
}
