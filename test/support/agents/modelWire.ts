/** What the four protocols of language models have in common, as far as the tests look into it. */

/** What the model does next. `call` may be the short name of a tool: `send` finds `mcp__agent-bus__send`. */
export type Step = { say: string } | { call: string; with?: object };

export interface Item {
  by: 'system' | 'user' | 'assistant' | 'call' | 'result';
  text: string;
}

export interface Tool {
  name: string;
  /** Codex groups the tools of an MCP server, and wants the group in a call. */
  group?: string;
}

export interface Request {
  items: Item[];
  tools: Tool[];
  /** A side question of the product that wants JSON of its own form, such as a title or a choice of model. */
  wantsJson: boolean;
}

/** A call is by the tool's own name, with the group where it has one. */
export type Output = { say: string } | { call: Tool; with: object };

export interface ModelWire {
  /** Whether a request for this path is for this wire. */
  serves(path: string): boolean;
  read(body: unknown): Request;
  /** The whole response as one stream of server-sent events, or one document where the path asks for none. */
  write(output: Output, context: { serial: number; path: string; body: unknown }): string;
}

/** One server-sent event. */
export function event(data: object, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** The texts of a message's content, which may be a string, or parts of several kinds. */
export function texts(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : ''));
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
