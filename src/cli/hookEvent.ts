/** What the hooks of agents' products say on stdin and want on stdout, in the words of the bus. */
import type { HookForm } from '../connect/products/product.ts';
import type { HookParams, HookResult } from '../protocol/reachMessages.ts';

export interface HookCall {
  params: HookParams;
  /** Where the chat works, as far as the product says so. */
  folder: string | undefined;
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
export function writeHook(form: HookForm, name: string, result: Pick<HookResult, 'context' | 'block'>): string {
  const answer = form.answer(name, result);
  return answer === undefined ? '' : ascii(answer);
}

/** The answer with the permission to run the tool in it, as VS Code wants it. */
export function writePermission(form: HookForm, name: string, result: Pick<HookResult, 'context' | 'block'>): string {
  const { hookSpecificOutput: said } = (form.answer(name, result) ?? {}) as { hookSpecificOutput?: object };
  const permission = { permissionDecision: 'allow', permissionDecisionReason: allowed };
  return ascii({ hookSpecificOutput: { hookEventName: name, ...said, ...permission } });
}

function ascii(answer: object): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(answer).replace(/[\x7F-\uFFFF]/g, escaped);
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
