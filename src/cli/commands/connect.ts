import { productNames } from '../../connect/products/product.ts';
import { defineCommand } from '../command.ts';

const list = productNames.join(', ');

export const connect = defineCommand({
  name: 'connect',
  group: 'hub',
  about: 'put an agent’s product on the bus, by its own configuration; without a name: what is connected',
  synopsis: '[PRODUCT]',
  needs: [],
  most: 1,
  options: {
    user: { type: 'boolean', about: 'in your own settings, for all projects (that is so unless told)' },
    project: { type: 'boolean', about: 'in the settings of the project in the current folder' },
    'no-hooks': { type: 'boolean', about: 'the tools only: the agent hears of messages when it calls one' },
    experimental: {
      type: 'boolean',
      about: 'copilot, gemini: also switch on what they need to be woken while idle (asked at a terminal)',
    },
    'dry-run': { type: 'boolean', about: 'show what would be changed, and change nothing' },
  },
  details:
    `PRODUCT is one of ${list}.\n` +
    'Writes the MCP server, the hooks and what is needed to be woken into the product’s own files and leaves everything\n' +
    'else in them as it is, with a copy of each file beside it (*.agent-bus-backup). No token is written anywhere. Then it starts the server as the\n' +
    'product would and asks it for its tools. Run again it changes nothing; `agent-bus disconnect` takes it back.',
  examples: [
    ['agent-bus connect', 'what is installed, and what is connected'],
    ['agent-bus connect claude', 'Claude Code, in all projects'],
    ['agent-bus connect codex --dry-run', 'see what it would write'],
    ['agent-bus connect gemini --project', 'Gemini CLI, in this project'],
  ],
  async run({ args: [product], values, json, home }) {
    const { runConnect } = await import('../connectRun.ts');
    const dryRun = values['dry-run'] ?? false;
    return runConnect({ product, ...values, hooks: !values['no-hooks'], dryRun, json, home });
  },
});
