/** The form of hooks that Claude Code began with and that Codex and Gemini CLI have taken over. */
import type { HookResult } from '../../protocol/reachMessages.ts';
import type { Json, Part } from './product.ts';

/** What a hook says of itself on stdin. VS Code's hooks say it by the same names. */
export const claudeFields = {
  chat: 'session_id',
  folder: 'cwd',
  tool: 'tool_name',
  toolUse: 'tool_use_id',
  prompt: 'prompt',
  again: 'stop_hook_active',
} as const;

/** A list of groups for each event, with the commands inside of the groups. */
export function groupedHooks(events: readonly string[], hook: (event: string) => Json): Part[] {
  return events.map((event) => ({ kind: 'hook', at: ['hooks', event], value: { hooks: [hook(event)] } }));
}

export function nestedAnswers(event: string, { context, block }: Pick<HookResult, 'context' | 'block'>) {
  if (block !== undefined) return { decision: 'block', reason: block };
  if (context === undefined) return undefined;
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}
