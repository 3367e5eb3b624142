import { BusClient } from '../../client/busClient.ts';
import type { HookForm } from '../../connect/products/product.ts';
import { productNamed, products } from '../../connect/products/table.ts';
import type { BusHome } from '../../hub/home.ts';
import { version } from '../../hub/version.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { permissionFor, readHook, writeHook, type HookCall } from '../hookEvent.ts';
import { print } from '../print.ts';

/** A turn waits for us, so a hub that does not answer by then is not waited for. */
const patienceMs = 2_000;
const inputBytes = 16 * 1024 * 1024;

/** Whose hook it is, and what happened. */
interface HookOrigin {
  form: HookForm;
  event: string;
  /** What the product's agents are on the bus. */
  agent: string;
  inEditor: boolean;
}

export const hook = defineCommand({
  name: 'hook',
  group: 'hub',
  about: 'for the hooks of agents’ products: tells what a chat is doing, and the chat what has arrived',
  synopsis: '[PRODUCT] EVENT',
  needs: ['EVENT'],
  most: 2,
  options: {
    product: {
      type: 'string',
      value: 'NAME',
      about: 'without PRODUCT, in VS Code: whose chat it is (copilot unless told)',
    },
  },
  details:
    'Reads the hook’s JSON from stdin and prints the product’s JSON, or nothing. It starts no hub, and it never fails:\n' +
    'whatever happens, it ends with 0 within seconds, so that no turn of an agent is held up by the bus.\n' +
    'PRODUCT is claude, codex, gemini, copilot or cursor, as `agent-bus connect` writes it into their settings.\n' +
    'Without it the hook is one of VS Code, where AGENT_BUS_WINDOW and AGENT_BUS_WORKSPACE say which window the chat\n' +
    'is in; with AGENT_BUS_CONFIRM_TOOLS=1 the editor goes on asking before it runs a tool of the bus. Where a tool is\n' +
    'given an address outside of the bus, it asks anyway.',
  examples: [
    ['agent-bus hook claude Stop < event.json', 'what Claude Code runs at the end of a turn'],
    ['agent-bus hook Stop < event.json', 'what VS Code runs there'],
  ],
  async run({ args, home, values }) {
    const input = await readInput();
    const [first = '', second] = args;
    const product = second === undefined ? products.vscode : productNamed(first);
    const form = product?.hooks;
    const event = second ?? first;
    const call = form && readHook(form, event, input);
    if (!product || !form || !call) return ExitCode.ok;
    const inEditor = product === products.vscode;
    const agent = (inEditor ? values.product : undefined) ?? product.agent;
    const answered = answer({ form, event, agent, inEditor }, call, home).catch(() => undefined);
    await Promise.race([answered, timeout()]);
    return ExitCode.ok;
  },
});

async function answer(origin: HookOrigin, call: HookCall, home: BusHome): Promise<void> {
  const { form, event, inEditor } = origin;
  const permission = inEditor ? permissionFor(call, process.env['AGENT_BUS_CONFIRM_TOOLS'] === '1') : undefined;
  let told = false;
  const tell = async (result: { context?: string; block?: string }): Promise<void> => {
    if (told) return;
    told = true;
    const output = writeHook(form, event, result, permission);
    if (output !== '') await print(`${output}\n`);
  };
  try {
    const client = await connect(origin, call, home);
    const result = await client.request('hook', call.params);
    await tell(result);
    if (result.shown.length > 0) {
      client.shown(result.shown, 'hook');
      // When a request after it is answered, the notification is there.
      await client.request('presence', { state: 'working' });
    }
  } finally {
    // The permission does not depend on the hub.
    await tell({});
  }
}

function connect(
  { agent, form, inEditor }: HookOrigin,
  { params, folder }: HookCall,
  home: BusHome,
): Promise<BusClient> {
  // Of a product in a terminal the variables of a window say nothing, though it may have inherited them.
  const window = inEditor ? process.env['AGENT_BUS_WINDOW'] : undefined;
  const variable = inEditor ? 'AGENT_BUS_WORKSPACE' : form.folderVariable;
  const workspace = (variable && process.env[variable]) || folder || process.cwd();
  return BusClient.connect({
    home,
    version,
    via: 'cli',
    passing: true,
    start: false,
    attach: { workspace, product: agent, chat: params.chat, ...(window && { window }) },
  });
}

/** All of it is taken off the pipe, since whoever writes may not bear a closed one; too much of it counts as nothing. */
async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= inputBytes) chunks.push(chunk);
    }
  } catch {
    return '';
  }
  return bytes <= inputBytes ? Buffer.concat(chunks).toString('utf8') : '';
}

function timeout(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, patienceMs));
}
