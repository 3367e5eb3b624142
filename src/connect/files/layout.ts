/** How a text is laid out, so that what is added to it looks like the rest. */
export interface Layout {
  eol: string;
  /** One step of indentation. */
  unit: string;
}

export function layoutOf(text: string): Layout {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const unit = /^[ \t]+(?=[^\s/*])/m.exec(text)?.[0] ?? '  ';
  return { eol, unit: unit.startsWith('\t') ? '\t' : unit };
}

/** The white space at the beginning of the line with that place in it. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** The place before the white space that precedes `offset`, and before one end of a line if that comes first. */
export function lineStartBefore(text: string, offset: number): { start: number; atLineStart: boolean } {
  let start = offset;
  while (start > 0 && (text[start - 1] === ' ' || text[start - 1] === '\t')) start--;
  if (text[start - 1] !== '\n') return { start, atLineStart: false };
  start -= text[start - 2] === '\r' ? 2 : 1;
  return { start, atLineStart: true };
}
