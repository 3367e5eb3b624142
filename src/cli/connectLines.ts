import { commandLine } from './commandLine.ts';

/** What to copy and paste next, once a hub is running: every line works as it stands, in another terminal. */
export function connectLines(mcpUrl: string): string {
  const { shell, command, args, env } = commandLine();
  const server = { command, args: [...args, 'mcp'], ...(Object.keys(env).length > 0 && { env }) };
  return [
    'In a second terminal, make an agent and get its token:',
    `  ${shell} register my-agent`,
    '',
    'Give that token to an MCP client. Claude Code:',
    `  ${mcpHttpLine(mcpUrl, '<token>')}`,
    '',
    'Or let any MCP client start its own bridge over stdio, without a token:',
    `  ${JSON.stringify({ mcpServers: { 'agent-bus': server } })}`,
    '',
    'Or talk from the command line:',
    `  ${shell} send my-agent "Hello, who are you?"`,
    `  ${shell} inbox --as my-agent`,
    `  ${shell} send person "I am my-agent." --as my-agent`,
    `  ${shell} inbox`,
    `  ${shell} help`,
  ].join('\n');
}

export function mcpHttpLine(mcpUrl: string, token: string): string {
  return `claude mcp add --transport http agent-bus ${mcpUrl} --header "Authorization: Bearer ${token}"`;
}
