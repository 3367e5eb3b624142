import { anyRow, cutMarker, isDim, isUntouched, typedIn, type ReadPrompt } from '../promptLook.ts';
import { textOf } from '../screen.ts';

/** Above the input it says that it works, under whatever else is there. */
const rowsAbove = 15;

/**
 * Codex: `›` and, while nothing is typed, a dim suggestion and `? for shortcuts` below; below that is also the model,
 * once it is ready to take a prompt. Lists to choose from mark their row with `›`, too, but hide the cursor elsewhere.
 */
export const readCodex: ReadPrompt = (screen) => {
  const { rows, cursor } = screen;
  const top = rows.slice(0, cursor.y + 1).findLastIndex((row) => textOf(row).startsWith('› '));
  const below = rows.findIndex((row, y) => y > cursor.y && textOf(row).trim() === '');
  if (top < 0 || below < 0 || rows[top]?.some(({ inverse }) => inverse)) return undefined;
  const input = cutMarker(screen, top, below, /^› /);
  if (!input || input.marker[0]?.dim) return undefined;
  const busy = anyRow(screen, top - rowsAbove, top, /\besc\b.* to interrupt/);
  const footer = rows.slice(below).filter((row) => textOf(row).trim() !== '');
  const idle = !busy && footer.length >= 2 && /\? for shortcuts/.test(textOf(footer.at(-1)));
  if (isUntouched(input, isDim)) return { typed: '', atEnd: true, idle, busy };
  return { ...typedIn(input), idle, busy };
};
