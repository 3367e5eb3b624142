/** The ways to connect an agent, as texts to copy. */

export interface McpConfiguration {
  label: string;
  description: string;
  detail: string;
  copied: string;
  /** What to do with it. */
  then: string;
}

/** The bridge needs no token, so it comes first; a URL is for clients that can start nothing. */
export function mcpConfigurations(launcher: string, url: string | undefined): McpConfiguration[] {
  const servers = (server: object): string => JSON.stringify({ mcpServers: { 'agent-bus': server } }, null, 2);
  const quoted = /[^\w@%+=:,./\\-]/.test(launcher) ? `"${launcher}"` : launcher;
  return [
    {
      label: '$(terminal) Claude Code',
      description: 'a command for the terminal',
      detail: `claude mcp add --scope user agent-bus -- ${quoted} mcp`,
      copied: `claude mcp add --scope user agent-bus -- ${quoted} mcp`,
      then: 'Run it in a terminal; the next session of Claude Code is on the bus.',
    },
    {
      label: '$(terminal) Codex',
      description: 'a command for the terminal',
      detail: `codex mcp add agent-bus -- ${quoted} mcp`,
      copied: `codex mcp add agent-bus -- ${quoted} mcp`,
      then: 'Run it in a terminal; the next session of Codex is on the bus.',
    },
    {
      label: '$(json) Any MCP client',
      description: 'JSON; the client starts the bridge',
      detail: `${quoted} mcp`,
      copied: servers({ command: launcher, args: ['mcp'] }),
      then: 'Paste it into the client’s MCP configuration.',
    },
    ...(url === undefined
      ? []
      : [
          {
            label: '$(globe) By URL and token',
            description: 'JSON; make a token with: agent-bus register NAME',
            detail: url,
            copied: servers({ type: 'http', url, headers: { Authorization: 'Bearer TOKEN' } }),
            then: 'Put the token that “agent-bus register NAME” prints in place of TOKEN.',
          },
        ]),
  ];
}
