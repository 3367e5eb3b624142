import { anyRow, findBoxed, isDim, isUntouched, typedIn, type ReadPrompt } from '../promptLook.ts';

/**
 * Claude Code: between two lines, `❯` in the terminal's own colour; grey while a turn runs, `!` in shell mode. Dialogs
 * and menus have no such box. Vim's normal mode looks the same and takes letters for commands: only trying tells.
 */
export const readClaude: ReadPrompt = (screen) => {
  const input = findBoxed(screen, '─', '─', /^❯\s/);
  if (!input) return undefined;
  const isPlain = input.marker.every(({ color, dim }) => color === undefined && !dim);
  const busy = !isPlain || anyRow(screen, input.top, screen.rows.length, /\besc to interrupt\b|again to exit/);
  if (isUntouched(input, isDim)) return { typed: '', atEnd: true, idle: !busy, busy };
  return { ...typedIn(input), idle: !busy, busy };
};
