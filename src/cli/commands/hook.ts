import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { runHook } from '../hookRun.ts';

/** Products are sent to an entry of their own (hook.ts) with the same code behind it; this one is for whoever types it. */
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
  async run({ args, values }) {
    await runHook(args, values.product);
    return ExitCode.ok;
  },
});
