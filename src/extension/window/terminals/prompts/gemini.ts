import { anyRow, findBoxed, isUntouched, typedIn, type ReadPrompt } from '../promptLook.ts';
import { textOf, type Row } from '../screen.ts';

const suggestion = /^ {2}(Type your message or @path\/to\/file|Press 'Esc' for NORMAL mode\.) *$/;
const hint = /\? for shortcuts *$/;
const rowsAbove = 6;

/**
 * Gemini CLI: in a bar of blocks, `>`, or `*` where it never asks; `!` in shell mode. While nothing is typed, a suggestion
 * stands there, in the colour of the hint `? for shortcuts` above. In vim's normal mode it suggests something else.
 */
export const readGemini: ReadPrompt = (screen) => {
  const input = findBoxed(screen, '▄', '▀', /^ [>*] /);
  if (!input) return undefined;
  const from = Math.max(0, input.top - rowsAbove);
  const hinting = screen.rows.slice(from, input.top).find((row) => hint.test(textOf(row)));
  const busy = anyRow(screen, from, input.top, /\besc to cancel\b/);
  const idle = !busy && hinting !== undefined;
  const isSuggestion = (row: Row) => suggestion.test(textOf(row)) && isColored(row, hinting?.findLast(isInk)?.color);
  if (hinting && isUntouched(input, isSuggestion)) return { typed: '', atEnd: true, idle, busy };
  return { ...typedIn(input), idle, busy };
};

function isColored(row: Row, color: string | undefined): boolean {
  return row.filter(isInk).every((cell) => cell.color === color);
}

function isInk({ text }: { text: string }): boolean {
  return text.trim() !== '';
}
