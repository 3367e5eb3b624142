import { resolve } from 'node:path';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { print } from '../print.ts';

export const mcp = defineCommand({
  name: 'mcp',
  group: 'hub',
  about: 'an MCP server on stdin and stdout, for products that start their servers themselves',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    agent: { type: 'string', value: 'NAME', about: 'be that agent (without it: workspace and product decide)' },
    product: { type: 'string', value: 'NAME', about: 'what starts it (without it: what the client calls itself)' },
    workspace: { type: 'string', value: 'PATH', about: 'the folder the agent works in (without it: the current one)' },
  },
  details:
    'Starts the hub if needed and outlives its restarts. The same product in the same folder is always the same agent;\n' +
    'a second one at the same time is another. Nothing but MCP goes to stdout; it ends when stdin is closed.',
  examples: [
    ['claude mcp add agent-bus -- agent-bus mcp', 'Claude Code'],
    ['codex mcp add agent-bus -- agent-bus mcp', 'Codex'],
    ['{"mcpServers":{"agent-bus":{"command":"agent-bus","args":["mcp"]}}}', 'most others, in their settings'],
  ],
  async run({ values, home, as }) {
    // A product that was started inside of a session of Claude Code may have inherited the variable.
    const isClaude = values.product === undefined || values.product === 'claude';
    const project = isClaude ? process.env['CLAUDE_PROJECT_DIR'] : undefined;
    const workspace = resolve(values.workspace ?? project ?? '.');
    const { mcpServe } = await import('../mcpServe.ts');
    await mcpServe({ home, workspace, agent: values.agent ?? as, product: values.product }, complain);
    return ExitCode.ok;
  },
});

/** Clients keep what a server says on stderr for whoever looks into trouble. */
function complain(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  void print(`agent-bus mcp: ${message}\n`, process.stderr).catch(() => undefined);
}
