/** Tool calls over MCP's HTTP as the simplest client makes them: one POST each, the answer read from the stream. */
export type McpEra = 'legacy' | 'modern';

export interface McpReply {
  text: string;
  structured: Record<string, unknown>;
  isError: boolean;
}

export class McpCaller {
  private readonly url: () => string;
  private readonly token: string;
  private readonly era: McpEra;
  private lastId = 0;
  /** What a client says besides, in every call. */
  meta: Record<string, unknown> = {};

  /** The address is asked for anew each time, since the hub may have moved. */
  constructor(url: () => string, token: string, era: McpEra = 'modern') {
    this.url = url;
    this.token = token;
    this.era = era;
  }

  async call(
    tool: string,
    args: Record<string, unknown>,
    signal?: AbortSignal,
    id: number = ++this.lastId,
  ): Promise<McpReply> {
    const response = await this.post(tool, args, signal, id);
    const text = await response.text();
    if (!response.ok) throw new HttpRefusal(response.status, text);
    const message = messagesOf(text).find((candidate) => candidate['id'] === id) as
      | {
          result?: { content: { text: string }[]; structuredContent?: Record<string, unknown>; isError?: boolean };
          error?: { message: string };
        }
      | undefined;
    if (!message) throw new Error(`the stream ended without an answer: ${text.slice(0, 500)}`);
    if (!message.result) throw new Error(`refused: ${message.error?.message}`);
    const { content, structuredContent, isError } = message.result;
    return { text: content[0]?.text ?? '', structured: structuredContent ?? {}, isError: isError === true };
  }

  post(tool: string, args: Record<string, unknown>, signal: AbortSignal | undefined, id: number): Promise<Response> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const params: Record<string, unknown> = { name: tool, arguments: args };
    if (this.era === 'modern') {
      headers['mcp-protocol-version'] = '2026-07-28';
      headers['mcp-method'] = 'tools/call';
      headers['mcp-name'] = tool;
      params['_meta'] = {
        ...this.meta,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
    } else {
      // A session that an earlier hub opened is taken on, so there is no need to open one.
      headers['mcp-protocol-version'] = '2025-11-25';
      headers['mcp-session-id'] = `session-of-${this.token.slice(-8)}`;
      if (Object.keys(this.meta).length > 0) params['_meta'] = this.meta;
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    return fetch(this.url(), { method: 'POST', headers, body, signal: signal ?? null });
  }
}

export class HttpRefusal extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`HTTP ${status}: ${body.slice(0, 300)}`);
    this.status = status;
    this.body = body;
  }
}

function messagesOf(text: string): Record<string, unknown>[] {
  if (text.startsWith('{')) return [JSON.parse(text) as Record<string, unknown>];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data:') && line.length > 6)
    .map((line) => JSON.parse(line.slice(5)) as Record<string, unknown>);
}
