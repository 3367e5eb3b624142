import { join } from 'node:path';
import type { BusServer, Product } from '../agentProduct.ts';
import type { AgentRoom } from '../agentRoom.ts';
import type { Launch } from '../agentRun.ts';

export const gemini: Product = {
  name: 'gemini',
  agent: 'gemini',
  ready: /Type your message/,
  commands: { clear: '/clear', compact: '/compress' },

  configure(room, { mcp, hooks = {}, settings = {} }) {
    const command = (line: string) => [{ hooks: [{ type: 'command', command: line, timeout: 10_000 }] }];
    const entries = Object.entries(hooks).map(([event, line]) => [event, command(line)]);
    room.write('.gemini/settings.json', {
      // With only a base address it takes itself for a gateway's, and fails.
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      hooks: Object.fromEntries(entries) as object,
      ...(mcp && { mcpServers: { 'agent-bus': server(mcp) } }),
      ...settings,
    });
  },

  headless: (room, prompt) => launch(room, ['-p', prompt]),
  interactive: (room, prompt) => launch(room, prompt === undefined ? [] : ['-i', prompt]),
  shell: (command) => ({ call: 'run_shell_command', with: { command, description: 'a command of the test' } }),
};

function launch(room: AgentRoom, args: string[]): Launch {
  const env = {
    GEMINI_API_KEY: 'dummy',
    GOOGLE_GEMINI_BASE_URL: room.model.url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  };
  return {
    program: join(room.bin, 'gemini'),
    args: ['-y', '-m', 'gemini-2.5-flash', ...args],
    env: room.environment(env),
    cwd: room.workspace,
  };
}

function server(mcp: BusServer): object {
  if ('command' in mcp) return mcp;
  return { type: 'http', url: mcp.url, headers: { Authorization: `Bearer ${mcp.token}` } };
}
