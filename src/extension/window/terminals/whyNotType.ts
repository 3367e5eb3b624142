import type { PromptLook } from './promptLook.ts';

/** Why nothing may be typed here; nothing, if it may. */
export function whyNotType(look: PromptLook | undefined): string | undefined {
  if (!look) return 'no prompt of its product is on its screen';
  if (look.busy) return 'it is at work';
  if (look.typed !== '') return 'something is typed in its prompt';
  if (!look.idle) return 'its prompt is not known to be ready';
  return undefined;
}
