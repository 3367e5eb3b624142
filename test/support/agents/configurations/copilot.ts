import { copilot } from '../products/copilot.ts';
import { text, type Configuration } from './configuration.ts';

/** Servers in JSON with comments, commas too many and a byte order mark; hooks in strict JSON, in as many files as one likes. */
export const copilotConfiguration: Configuration = {
  product: copilot,

  full: (room, { server, hook }) => ({
    '.copilot/config.json': JSON.stringify({ trustedFolders: [room.workspace], banner: 'never' }),
    '.copilot/mcp-config.json': `\uFEFF${text(
      '/* servers */ {',
      '"mcpServers": {   // of mine',
      `     "docs": ${JSON.stringify({ type: 'local', ...server, tools: ['*'] })}, // "agent-bus": {}`,
      '   },',
      '',
      '}',
      '',
      '',
    )}`,
    '.copilot/hooks/mine.json': JSON.stringify({
      version: 1,
      hooks: { agentStop: [{ type: 'command', bash: hook, timeoutSec: 5 }] },
    }),
  }),

  broken: [
    {
      path: '.copilot/mcp-config.json',
      text: text('{ "mcpServers": {', '  "docs": { "type": local }', '} }'),
      line: 2,
    },
    { path: '.copilot/hooks/agent-bus.json', text: text('{', '  "version": 1,', '  "hooks" {}', '}'), line: 3 },
  ],

  bare: (room, prompt) => copilot.headless(room, prompt),
  list: (room) => ({ ...copilot.headless(room, ''), args: ['mcp', 'list'] }),
  listed: (name) => new RegExp(`^ *${name} \\(local\\)`, 'm'),
};
