import { BusClient } from '../../client/busClient.ts';
import type { BusHome } from '../../hub/home.ts';
import { version } from '../../hub/version.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { isProductEvent, permissionFor, readHook, writeHook, type HookCall, type ProductEvent } from '../hookEvent.ts';
import { print } from '../print.ts';

/** A turn waits for us, so a hub that does not answer by then is not waited for. */
const patienceMs = 2_000;
const inputBytes = 16 * 1024 * 1024;

export const hook = defineCommand({
  name: 'hook',
  group: 'hub',
  about: 'for the hooks of agents’ products: tells what a chat is doing, and the chat what has arrived',
  synopsis: 'EVENT',
  needs: ['EVENT'],
  most: 1,
  options: {
    product: { type: 'string', value: 'NAME', about: 'whose hook it is (without it: copilot)' },
  },
  details:
    'Reads the hook’s JSON from stdin and prints the product’s JSON, or nothing. It starts no hub, and it never fails:\n' +
    'whatever happens, it ends with 0 within seconds, so that no turn of an agent is held up by the bus.\n' +
    'AGENT_BUS_WINDOW and AGENT_BUS_WORKSPACE say which window the chat is in, where the editor set them;\n' +
    'with AGENT_BUS_CONFIRM_TOOLS=1 the editor goes on asking before it runs a tool of the bus. Where a tool is given an\n' +
    'address outside of the bus, it asks anyway.',
  examples: [['agent-bus hook Stop < event.json', 'what the editor runs at the end of a turn']],
  async run({ args, home, values }) {
    const input = await readInput();
    const event = args[0] ?? '';
    if (!isProductEvent(event)) return ExitCode.ok;
    const call = readHook(event, input);
    if (!call) return ExitCode.ok;
    await Promise.race([answer(event, call, home, values.product ?? 'copilot'), timeout()]).catch(() => undefined);
    return ExitCode.ok;
  },
});

async function answer(event: ProductEvent, call: HookCall, home: BusHome, product: string): Promise<void> {
  const permission = permissionFor(call, process.env['AGENT_BUS_CONFIRM_TOOLS'] === '1');
  let told = false;
  const tell = async (result: { context?: string; block?: string }): Promise<void> => {
    if (told) return;
    told = true;
    const output = writeHook(event, result, permission);
    if (output !== '') await print(`${output}\n`);
  };
  try {
    const client = await connect(call, home, product);
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

function connect({ params, folder }: HookCall, home: BusHome, product: string): Promise<BusClient> {
  const window = process.env['AGENT_BUS_WINDOW'];
  const workspace = process.env['AGENT_BUS_WORKSPACE'] || folder || process.cwd();
  return BusClient.connect({
    home,
    version,
    via: 'cli',
    passing: true,
    start: false,
    attach: { workspace, product, chat: params.chat, ...(window && { window }) },
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
