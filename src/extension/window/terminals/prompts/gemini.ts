import { anyRow, findBoxed, isUntouched, typedIn, type ReadPrompt } from '../promptLook.ts';
import { textOf, type Row } from '../screen.ts';

const suggestion = /^ {2}(Type your message or @path\/to\/file|Press 'Esc' for NORMAL mode\.) *$/;
const hint = /\? for shortcuts *$/;
const rowsAbove = 8;

/**
 * Gemini CLI: in a bar of blocks, `>`, or `*` where it never asks; `!` in shell mode. While nothing is typed, a suggestion
 * stands there, in the colour of what else it says by the way: the hint `? for shortcuts` above, which narrow terminals
 * don't have, or the names of the columns below. In vim's normal mode it suggests something else.
 */
export const readGemini: ReadPrompt = (screen) => {
  const input = findBoxed(screen, '▄', '▀', /^ [>*] /);
  if (!input) return undefined;
  const from = Math.max(0, input.top - rowsAbove);
  const hinting = screen.rows.slice(from, input.top).find((row) => hint.test(textOf(row)));
  const names = screen.rows[input.top + input.rows.length + 1];
  const busy = anyRow(screen, from, input.top, /\besc to cancel\b/);
  const isSuggestion = (row: Row): boolean => {
    if (!suggestion.test(textOf(row))) return false;
    if (hinting) return isColored(row, hinting.findLast(isInk)?.color);
    const color = names?.find(isInk)?.color;
    return color !== undefined && isColored(row, color);
  };
  const isEmpty = input.rows.some((row) => row.some(isInk)) && isUntouched(input, isSuggestion);
  if (isEmpty) return { typed: '', atEnd: true, idle: !busy, busy };
  return { ...typedIn(input), idle: false, busy };
};

function isColored(row: Row, color: string | undefined): boolean {
  return row.filter(isInk).every((cell) => cell.color === color);
}

function isInk({ text }: { text: string }): boolean {
  return text.trim() !== '';
}
