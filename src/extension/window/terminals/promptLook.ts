import { textOf, type Row, type Screen } from './screen.ts';

/** What can be said of a product's prompt on a screen where it was recognised. */
export interface PromptLook {
  /** What the person, or we, have typed; spaces as far as the cursor, too. Never what the product suggests. */
  typed: string;
  /** The cursor is behind all of it. */
  atEnd: boolean;
  /** The product itself shows that it waits for a prompt. Some show so only while nothing is typed. */
  idle: boolean;
  /** It shows that a turn runs, or that it is not the place for a prompt. */
  busy: boolean;
}

/** How the prompt of one product looks. Whatever is not recognised with certainty is none. */
export type ReadPrompt = (screen: Screen) => PromptLook | undefined;

/** The rows of an input, its marker cut off, and where in them the cursor is. */
export interface Input {
  /** The row on the screen of the first of them. */
  top: number;
  rows: readonly Row[];
  cursor: { x: number; y: number };
  marker: Row;
}

/** An input that a full line above and one below enclose, with the cursor in it. */
export function findBoxed(screen: Screen, above: string, below: string, marker: RegExp): Input | undefined {
  const isLine = (character: string) => (row: Row) => isRule(row, character);
  const { cursor, rows } = screen;
  const top = rows.slice(0, cursor.y).findLastIndex(isLine(above));
  const bottom = rows.findIndex((row, y) => y > cursor.y && isLine(below)(row));
  if (top < 0 || bottom < 0) return undefined;
  return cutMarker(screen, top + 1, bottom, marker);
}

/** The rows from `top` up to `end`, if the first of them begins with the marker. */
export function cutMarker({ rows, cursor }: Screen, top: number, end: number, marker: RegExp): Input | undefined {
  const first = textOf(rows[top]);
  const width = marker.exec(first)?.[0].length;
  if (width === undefined || cursor.x < width) return undefined;
  return {
    top,
    rows: rows.slice(top, end).map((row) => row.slice(width)),
    cursor: { x: cursor.x - width, y: cursor.y - top },
    marker: rows[top]?.slice(0, width) ?? [],
  };
}

/** What stands in it. Spaces are told from nothing by the cursor alone. */
export function typedIn({ rows, cursor }: Input): Pick<PromptLook, 'typed' | 'atEnd'> {
  const lines = rows.map((row) => textOf(row).trimEnd());
  const last = lines.findLastIndex((line) => line !== '');
  const typed = lines
    .map((line, y) => (y === cursor.y ? line.padEnd(cursor.x) : line))
    .slice(0, Math.max(last, cursor.y) + 1)
    .join('\n');
  return { typed, atEnd: cursor.y >= last && cursor.x >= (lines[cursor.y]?.length ?? 0) };
}

/** The cursor is on its first place, and all that stands there is of this kind: a suggestion of the product's. */
export function isUntouched({ rows, cursor }: Input, isSuggestion: (row: Row) => boolean): boolean {
  if (cursor.x !== 0 || cursor.y !== 0 || rows.length === 0) return false;
  return rows.every((row, y) => textOf(row).trim() === '' || (y === 0 && isSuggestion(row)));
}

/** All of its text is dim. What is typed is not, not even under the cursor. */
export function isDim(row: Row): boolean {
  return row.every(({ text, dim }) => text.trim() === '' || dim);
}

export function anyRow(screen: Screen, from: number, to: number, pattern: RegExp): boolean {
  return screen.rows.slice(Math.max(0, from), Math.max(0, to)).some((row) => pattern.test(textOf(row)));
}

function isRule(row: Row, character: string): boolean {
  return row.length > 0 && row.every(({ text }) => text === character);
}
