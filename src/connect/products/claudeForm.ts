/** The form of hooks that Claude Code began with and that Codex and Gemini CLI have taken over. */
import type { HookResult } from '../../protocol/reachMessages.ts';
import type { Json, Part } from './product.ts';

/** A list of groups for each event, with the commands inside of the groups. */
export function groupedHooks(events: readonly string[], hook: (event: string) => Json): Part[] {
  return events.map((event) => ({ kind: 'hook', at: ['hooks', event], value: { hooks: [hook(event)] } }));
}

export function nestedAnswers(event: string, { context, block }: Pick<HookResult, 'context' | 'block'>) {
  if (block !== undefined) return { decision: 'block', reason: block };
  if (context === undefined) return undefined;
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}
