/** A hook of an agent's product, from its event to its answer. Every import here is waited for at each step of an agent. */
import { HookLine } from '../client/hookLine.ts';
import type { HookForm, Product } from '../connect/products/product.ts';
import { productNamed, products } from '../connect/products/table.ts';
import { busHome } from '../hub/home.ts';
import type { HookResult } from '../protocol/reachMessages.ts';
import { permissionFor, readHook, writeHook, type HookCall } from './hookEvent.ts';
import { readInput, writeOutput } from './hookPipes.ts';

/** A turn waits for us, so a hub that does not answer by then is not waited for. */
const patienceMs = 2_000;

/** Whose hook it is, and what happened. */
interface HookOrigin {
  form: HookForm;
  event: string;
  /** What the product's agents are on the bus. */
  agent: string;
  inEditor: boolean;
}

/** @param words [PRODUCT] EVENT; without PRODUCT it is a hook of VS Code, and `whose` chat it is may be said. Never throws. */
export async function runHook(words: readonly string[], whose?: string): Promise<void> {
  try {
    const input = await readInput();
    const origin = originOf(words, whose);
    const call = origin && readHook(origin.form, origin.event, input);
    if (!call) return;
    await Promise.race([answer(origin, call), timeout()]);
  } catch {
    // No turn of an agent is held up by the bus.
  }
}

function originOf([first = '', second]: readonly string[], whose?: string): HookOrigin | undefined {
  const product: Product | undefined = second === undefined ? products.vscode : productNamed(first);
  if (!product?.hooks) return undefined;
  const inEditor = product === products.vscode;
  const agent = (inEditor ? whose : undefined) ?? product.agent;
  return { form: product.hooks, event: second ?? first, agent, inEditor };
}

async function answer(origin: HookOrigin, call: HookCall): Promise<void> {
  const { form, event, inEditor } = origin;
  const permission = inEditor ? permissionFor(call, process.env['AGENT_BUS_CONFIRM_TOOLS'] === '1') : undefined;
  let told = false;
  const tell = async (result: { context?: string; block?: string }): Promise<void> => {
    if (told) return;
    told = true;
    const output = writeHook(form, event, result, permission);
    if (output !== '') await writeOutput(`${output}\n`);
  };
  try {
    const line = await HookLine.open(busHome());
    if (!line) return;
    const place = placeOf(origin, call);
    const result = await line.tell(place, call.params);
    await tell(advised(origin, call, result, place));
    if (result.shown.length > 0) await line.shown(result.shown);
  } finally {
    // The permission does not depend on the hub.
    await tell({});
  }
}

/** With what the product's sessions have to know from their start. */
function advised({ form }: HookOrigin, { params }: HookCall, result: HookResult, { workspace }: Place): HookResult {
  if (params.event !== 'session-start' || result.context === undefined) return result;
  const advice = form.advice?.({ chat: params.chat, workspace, env: process.env });
  return advice === undefined ? result : { ...result, context: `${result.context} ${advice}` };
}

function placeOf({ agent, form, inEditor }: HookOrigin, { params, folder }: HookCall): Place {
  // Of a product in a terminal the variables of a window say nothing, though it may have inherited them.
  const window = inEditor ? process.env['AGENT_BUS_WINDOW'] : undefined;
  const variable = inEditor ? 'AGENT_BUS_WORKSPACE' : form.folderVariable;
  const workspace = (variable && process.env[variable]) || folder || process.cwd();
  return { workspace, product: agent, chat: params.chat, ...(window && { window }) };
}

type Place = Parameters<HookLine['tell']>[0];

function timeout(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, patienceMs));
}
