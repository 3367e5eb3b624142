import { join } from 'node:path';
import type { BusServer, Product } from '../agentProduct.ts';
import type { AgentRoom } from '../agentRoom.ts';
import type { Launch } from '../agentRun.ts';

export const claude: Product = {
  name: 'claude',
  agent: 'claude',
  ready: /❯/,
  commands: { clear: '/clear', compact: '/compact' },

  configure(room, { mcp, hooks = {}, settings = {} }) {
    room.write('.claude.json', {
      // Theme, key and folder have been confirmed: what a person does once.
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['dummy'], rejected: [] },
      projects: { [room.workspace]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      ...(mcp && { mcpServers: { 'agent-bus': server(mcp) } }),
    });
    const command = (line: string) => [{ hooks: [{ type: 'command', command: line, timeout: 10 }] }];
    const entries = Object.entries(hooks).map(([event, line]) => [event, command(line)]);
    room.write('.claude/settings.json', { hooks: Object.fromEntries(entries) as object, ...settings });
  },

  headless: (room, prompt) => launch(room, ['-p', prompt]),
  interactive: (room, prompt) => launch(room, prompt === undefined ? [] : [prompt]),
  shell: (command) => ({ call: 'Bash', with: { command, description: 'a command of the test' } }),
};

function launch(room: AgentRoom, args: string[]): Launch {
  const env = {
    ANTHROPIC_BASE_URL: room.model.url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  return {
    program: join(room.bin, 'claude'),
    // Its automatic mode asks something of its own service first.
    args: [...args, '--permission-mode', 'default', '--allowedTools', 'mcp__agent-bus', 'Bash'],
    env: room.environment(env),
    cwd: room.workspace,
  };
}

function server(mcp: BusServer): object {
  if ('command' in mcp) return { type: 'stdio', ...mcp };
  return { type: 'http', url: mcp.url, headers: { Authorization: `Bearer ${mcp.token}` } };
}
