import { join } from 'node:path';
import type { BusServer, Product } from '../agentProduct.ts';
import type { AgentRoom } from '../agentRoom.ts';
import type { Launch } from '../agentRun.ts';

/** Copilot CLI; the one in VS Code has tests of its own. */
export const copilot: Product = {
  name: 'copilot',
  agent: 'copilot-cli',
  ready: /❯/,
  commands: { clear: '/clear', compact: '/compact' },

  configure(room, { mcp, hooks = {}, settings = {} }) {
    room.write('.copilot/config.json', { trustedFolders: [room.workspace], banner: 'never', ...settings });
    if (mcp) room.write('.copilot/mcp-config.json', { mcpServers: { 'agent-bus': { tools: ['*'], ...server(mcp) } } });
    const command = (line: string) => [{ type: 'command', bash: line, timeoutSec: 10 }];
    const entries = Object.entries(hooks).map(([event, line]) => [event, command(line)]);
    if (entries.length > 0) {
      room.write('.copilot/hooks/agent-bus.json', { version: 1, hooks: Object.fromEntries(entries) as object });
    }
  },

  headless: (room, prompt) => launch(room, ['-p', prompt]),
  interactive: (room, prompt) => launch(room, prompt === undefined ? [] : ['-i', prompt]),
  shell: (command) => ({ call: 'bash', with: { command, description: 'a command of the test' } }),
};

function launch(room: AgentRoom, args: string[]): Launch {
  const env = {
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: `${room.model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'scripted',
  };
  return {
    program: join(room.bin, 'copilot'),
    args: ['--allow-all-tools', '--allow-all-paths', ...args],
    env: room.environment(env),
    cwd: room.workspace,
  };
}

function server(mcp: BusServer): object {
  if ('command' in mcp) return { type: 'local', ...mcp };
  return { type: 'http', url: mcp.url, headers: { Authorization: `Bearer ${mcp.token}` } };
}
