/** What the hooks of agents' products say on stdin and want on stdout, in the words of the bus. */
import type { HookForm } from '../connect/products/product.ts';
import type { HookParams, HookResult } from '../protocol/reachMessages.ts';

export interface HookCall {
  params: HookParams;
  /** Where the chat works, as far as the product says so. */
  folder: string | undefined;
  /** The tool is to be given an address: what it says would leave the bus for a place that nobody has agreed to. */
  leaves: boolean;
}

/** So much of a prompt is handed on. What the bus looks for in it is the last line of a wake. */
const promptLength = 1_000_000;

/** @returns nothing, if that is no event of that product */
export function readHook(form: HookForm, name: string, input: string): HookCall | undefined {
  const event = Object.hasOwn(form.events, name) ? form.events[name] : undefined;
  const said = parse(input);
  const { fields } = form;
  const text = (field: string | undefined, most: number): string | undefined => {
    const found = field === undefined ? undefined : said?.[field];
    const value: unknown = Array.isArray(found) ? found[0] : found;
    return typeof value === 'string' && value !== '' ? value.slice(-most) : undefined;
  };
  const isSet = (field: string | undefined): boolean => field !== undefined && said?.[field] !== undefined;
  const chat = text(fields.chat, 200);
  if (event === undefined || chat === undefined || isSet(fields.foreign)) return undefined;
  const tool = text(fields.tool, 200);
  const toolUse = text(fields.toolUse, 200);
  const prompt = event === 'prompt' ? text(fields.prompt, promptLength) : undefined;
  const takes = form.heard.includes(event) && !isSet(fields.helper);
  return {
    folder: text(fields.folder, 4_096),
    leaves: namesAddress(said?.['tool_input']),
    params: {
      event,
      chat,
      ...(tool !== undefined && { tool }),
      ...(toolUse !== undefined && { toolUse }),
      ...(prompt !== undefined && { prompt }),
      ...(fields.again !== undefined && said?.[fields.again] === true && { again: true }),
      ...(event === 'prompt' && !takes && { takes }),
      ...(event === 'after-tool' && takes && { takes }),
    },
  };
}

/** The product's JSON, in ASCII: on Windows it passes through a shell with an encoding of its own. */
export function writeHook(
  form: HookForm,
  name: string,
  result: Pick<HookResult, 'context' | 'block'>,
  permission?: Permission,
): string {
  const answer = form.answer(name, result);
  if (!permission) return answer === undefined ? '' : ascii(answer);
  // Where VS Code looks for it; no other product is given one.
  const { hookSpecificOutput: said } = (answer ?? {}) as { hookSpecificOutput?: object };
  const decision = { permissionDecision: permission, permissionDecisionReason: permissionReasons[permission] };
  return ascii({ hookSpecificOutput: { hookEventName: name, ...said, ...decision } });
}

function ascii(answer: object): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(answer).replace(/[\x7F-\uFFFF]/g, escaped);
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
