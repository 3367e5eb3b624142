import { anyRow, findBoxed, isUntouched, typedIn, type ReadPrompt } from '../promptLook.ts';

/**
 * Copilot CLI: between two lines, `❯`; in shell mode `!`. Below it `/ commands` while it waits and nothing is typed, and
 * how to interrupt it while it works. Dialogs and menus have frames of another kind.
 */
export const readCopilot: ReadPrompt = (screen) => {
  const input = findBoxed(screen, '─', '─', /^❯ /);
  if (!input) return undefined;
  const below = input.top + input.rows.length;
  const footer = (pattern: RegExp) => anyRow(screen, below, screen.rows.length, pattern);
  const busy = footer(/\besc esc\b|\bWorking\b|close help|again to exit/);
  const idle = !busy && footer(/\/ commands/);
  if (isUntouched(input, () => false)) return { typed: '', atEnd: true, idle, busy };
  return { ...typedIn(input), idle, busy };
};
