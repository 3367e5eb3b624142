/**
 * MCP over Streamable HTTP with sessions, as plain as it can be: at 16 calls in flight on a small machine, whatever the
 * client costs hides what the server costs.
 */
import { Agent, request, type IncomingHttpHeaders } from 'node:http';

export interface ToolResult {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export class McpClient {
  private readonly url: URL;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly headers: Record<string, string>;
  private lastId = 0;

  private constructor(url: string, token: string | undefined) {
    this.url = new URL(url);
    this.headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  static async connect(url: string, token?: string): Promise<McpClient> {
    const client = new McpClient(url, token);
    const protocolVersion = '2025-11-25';
    const clientInfo = { name: 'bench', version: '0' };
    const { headers } = await client.post({
      id: 0,
      method: 'initialize',
      params: { protocolVersion, capabilities: {}, clientInfo },
    });
    client.headers['mcp-session-id'] = String(headers['mcp-session-id']);
    client.headers['mcp-protocol-version'] = protocolVersion;
    await client.post({ method: 'notifications/initialized' });
    return client;
  }

  async request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.lastId;
    const { text } = await this.post({ id, method, params });
    return resultIn(text, id);
  }

  async call(name: string, args: Record<string, unknown>): Promise<ToolResult> {
    const result = (await this.request('tools/call', { name, arguments: args })) as ToolResult;
    if (result.isError) throw new Error(`${name}: ${result.content[0]?.text}`);
    return result;
  }

  close(): void {
    this.agent.destroy();
  }

  private post(message: Record<string, unknown>): Promise<Answer> {
    return post(this.url, this.agent, this.headers, JSON.stringify({ jsonrpc: '2.0', ...message }));
  }
}

interface Answer {
  text: string;
  headers: IncomingHttpHeaders;
}

export function post(url: URL, agent: Agent, headers: Record<string, string>, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname: path } = url;
    const accept = 'application/json, text/event-stream';
    const all = { 'content-type': 'application/json', accept, 'content-length': Buffer.byteLength(body), ...headers };
    const req = request({ hostname, port, path, method: 'POST', agent, headers: all }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => (text += chunk));
      res.on('error', reject);
      res.on('end', () => {
        const status = res.statusCode ?? 0;
        if (status < 300) resolve({ text, headers: res.headers });
        else reject(new Error(`HTTP ${status}: ${text.slice(0, 200)}`));
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** From a JSON body, or from the stream of events that came instead. */
function resultIn(text: string, id: number): unknown {
  const bodies = text.startsWith('{')
    ? [text]
    : text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []));
  for (const body of bodies) {
    const message = JSON.parse(body) as { id?: number; result?: unknown; error?: { message: string } };
    if (message.id !== id) continue;
    if (message.error) throw new Error(message.error.message);
    return message.result;
  }
  throw new Error(`no answer in ${text.slice(0, 200)}`);
}
