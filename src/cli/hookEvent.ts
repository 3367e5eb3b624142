/** What the hooks of VS Code's Copilot say on stdin and want on stdout, in the words of the bus. */
import type { HookParams, HookResult } from '../protocol/reachMessages.ts';

const events = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  Stop: 'stop',
  SessionEnd: 'session-end',
} as const satisfies Record<string, HookParams['event']>;

export type ProductEvent = keyof typeof events;

export function isProductEvent(name: string): name is ProductEvent {
  return Object.hasOwn(events, name);
}

export interface HookCall {
  params: HookParams;
  /** Where the chat works, as far as the product says so. */
  folder: string | undefined;
}

/** So much of a prompt is handed on. What the bus looks for in it is the last line of a wake. */
const promptLength = 1_000_000;

export function readHook(event: ProductEvent, input: string): HookCall | undefined {
  const said = parse(input);
  const text = (name: string, most: number): string | undefined => {
    const value = said?.[name];
    return typeof value === 'string' && value !== '' ? value.slice(-most) : undefined;
  };
  const chat = text('session_id', 200);
  if (chat === undefined) return undefined;
  const tool = text('tool_name', 200);
  const toolUse = text('tool_use_id', 200);
  const prompt = text('prompt', promptLength);
  return {
    folder: text('cwd', 4_096),
    params: {
      event: events[event],
      chat,
      ...(tool !== undefined && { tool }),
      ...(toolUse !== undefined && { toolUse }),
      ...(prompt !== undefined && { prompt }),
      ...(said?.['stop_hook_active'] === true && { again: true }),
    },
  };
}

/** The product's JSON, in ASCII: on Windows it passes through a shell with an encoding of its own. */
export function writeHook(event: ProductEvent, result: Pick<HookResult, 'context' | 'block'>, allow: boolean): string {
  const answer = {
    ...(result.context !== undefined && { additionalContext: result.context }),
    ...(allow && { permissionDecision: 'allow', permissionDecisionReason: allowed }),
    // Copilot looks for these in here; at the top level they mean nothing to it.
    ...(result.block !== undefined && { decision: 'block', reason: result.block }),
  };
  if (Object.keys(answer).length === 0) return '';
  const json = JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...answer } });
  return json.replace(/[\x7F-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const allowed = 'The bus itself asks the person where that is due.';
const busTool = /^mcp_agent-bus_(agents|register|send|inbox|ack|conversations|conversation|status|channel|ping)$/;

/**
 * A tool of the bus needs no dialog of its own: it changes nothing but the bus, and before a message wakes somebody in
 * another workspace the bus asks. Exact names, so that a second server with a similar name is not meant.
 */
export function isBusTool(tool: string | undefined): boolean {
  return tool !== undefined && busTool.test(tool);
}

function parse(input: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
