/** What an MCP client calls itself, as the product that people know. */
const known: Record<string, string> = {
  'claude-code': 'claude',
  'codex-mcp-client': 'codex',
  'gemini-cli-mcp-client': 'gemini',
  'copilot-cli': 'copilot-cli',
  'Visual Studio Code': 'copilot',
  'Visual Studio Code - Insiders': 'copilot',
};

export function productOf(client: { name: string } | undefined): string {
  const name = client?.name ?? '';
  const product = Object.hasOwn(known, name) ? known[name] : undefined;
  if (product !== undefined) return product;
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 20)
    .replace(/^-+|-+$/g, '');
  return plain || 'mcp';
}
