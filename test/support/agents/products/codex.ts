import { join } from 'node:path';
import type { BusServer, Product } from '../agentProduct.ts';
import type { AgentRoom } from '../agentRoom.ts';
import type { Launch } from '../agentRun.ts';
import { reviewHooks } from './codexReview.ts';

export const codex: Product = {
  name: 'codex',
  agent: 'codex',
  ready: /›/,
  approve: (terminal) => reviewHooks(terminal, 2),
  commands: { clear: '/new', compact: '/compact' },

  configure(room, { mcp, hooks = {} }) {
    const lines = [
      'model = "scripted"',
      'model_provider = "scripted"',
      'check_for_update_on_startup = false',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = "${room.model.url}/v1"`,
      'env_key = "SCRIPTED_KEY"',
      'wire_api = "responses"',
      `[projects.${JSON.stringify(room.workspace)}]`,
      'trust_level = "trusted"',
      ...(mcp ? ['[mcp_servers.agent-bus]', ...server(mcp)] : []),
    ];
    room.write('.codex/config.toml', `${lines.join('\n')}\n`);
    const command = (line: string) => [{ hooks: [{ type: 'command', command: line, timeout: 10 }] }];
    const entries = Object.entries(hooks).map(([event, line]) => [event, command(line)]);
    if (entries.length > 0) room.write('.codex/hooks.json', { hooks: Object.fromEntries(entries) as object });
  },

  headless: (room, prompt) => launch(room, ['exec', '--skip-git-repo-check', unasked, reviewed, prompt]),
  interactive: (room, prompt) => launch(room, [unasked, ...(prompt === undefined ? [] : [prompt])]),
  shell: (command) => ({ call: 'exec_command', with: { cmd: command } }),
};

/** What `configure` writes, said in a call where there is no file. */
export function scripted(room: AgentRoom): string[] {
  const provider = `{ name = "scripted", base_url = "${room.model.url}/v1", env_key = "SCRIPTED_KEY", wire_api = "responses" }`;
  const settings = ['model="scripted"', 'model_provider="scripted"', `model_providers.scripted=${provider}`];
  return settings.flatMap((setting) => ['-c', setting]);
}

const unasked = '--dangerously-bypass-approvals-and-sandbox';
/** The person has reviewed the hooks. A session in a terminal with this would do without the server that others can reach. */
const reviewed = '--dangerously-bypass-hook-trust';

function launch(room: AgentRoom, args: string[]): Launch {
  return {
    program: join(room.bin, 'codex'),
    args,
    env: room.environment({ SCRIPTED_KEY: 'dummy' }),
    cwd: room.workspace,
  };
}

function server(mcp: BusServer): string[] {
  if ('command' in mcp) return [`command = ${JSON.stringify(mcp.command)}`, `args = ${JSON.stringify(mcp.args)}`];
  return [`url = "${mcp.url}"`, `http_headers = { Authorization = "Bearer ${mcp.token}" }`];
}
