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
  /** The tool is to be given an address: what it says would leave the bus for a place that nobody has agreed to. */
  leaves: boolean;
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
    leaves: namesAddress(said?.['tool_input']),
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
export function writeHook(
  event: ProductEvent,
  result: Pick<HookResult, 'context' | 'block'>,
  permission: Permission | undefined,
): string {
  const answer = {
    ...(result.context !== undefined && { additionalContext: result.context }),
    ...(permission && { permissionDecision: permission, permissionDecisionReason: permissionReasons[permission] }),
    // Copilot looks for these in here; at the top level they mean nothing to it.
    ...(result.block !== undefined && { decision: 'block', reason: result.block }),
  };
  if (Object.keys(answer).length === 0) return '';
  const json = JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...answer } });
  return json.replace(/[\x7F-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What the editor is told about a tool of ours: run it, or ask the person even if it would not have. */
export type Permission = 'allow' | 'ask';

const permissionReasons: Record<Permission, string> = {
  allow: 'The bus itself asks the person where that is due.',
  ask: 'This goes to an address outside of the bus.',
};

const busTool = /^mcp_agent-bus_(agents|register|send|inbox|ack|conversations|conversation|status|channel|ping)$/;

/** Of the tools of the bus, these arguments may be addresses; texts that happen to hold one are not meant. */
function namesAddress(input: unknown): boolean {
  const { url, to } = (typeof input === 'string' ? parse(input) : (input as Record<string, unknown> | null)) ?? {};
  return [url, to].flat().some((value) => typeof value === 'string' && value.includes('://'));
}

/**
 * A tool of the bus needs no dialog of its own: it changes nothing but the bus, and before a message wakes somebody in
 * another workspace the bus asks. One that is given an address always gets one: text may leave the machine by it.
 */
export function permissionFor({ params, leaves }: HookCall, confirmAll: boolean): Permission | undefined {
  if (params.event !== 'before-tool' || !isBusTool(params.tool)) return undefined;
  if (leaves) return 'ask';
  return confirmAll ? undefined : 'allow';
}

/** Exact names, so that a second server with a similar name is not meant. */
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
