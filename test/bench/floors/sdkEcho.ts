import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { loop, type Probe } from '../rounds.ts';
import { listen, startFloor } from '../support/floorServer.ts';
import { McpClient } from '../support/mcpClient.ts';
import { nextText } from '../support/texts.ts';

/** The server of the SDK's own examples: a session per client, and one tool that gives back its text. */
export function serve(): Promise<number> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const known = sessions.get(String(req.headers['mcp-session-id']));
    if (known) return known.handleRequest(req, res);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new McpServer({ name: 'echo', version: '1.0.0' });
    server.registerTool(
      'echo',
      { description: 'Gives it back.', inputSchema: z.object({ text: z.string() }) },
      ({ text }) => ({
        content: [{ type: 'text', text }],
      }),
    );
    await server.connect(transport);
    await transport.handleRequest(req, res);
  };
  return listen(createServer({ noDelay: true, keepAliveTimeout: 120_000 }, (req, res) => void handle(req, res)));
}

/** The same client as for the hub, against a tool that does nothing. */
export async function sdkEcho(owned: AsyncDisposableStack, inFlight: readonly number[], ms?: number): Promise<Probe[]> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  const client = await McpClient.connect(`http://127.0.0.1:${server.port}/mcp`);
  owned.defer(() => client.close());
  const echo = (): Promise<unknown> => client.call('echo', { text: nextText() });
  return inFlight.map((count) => loop(`floor_sdk_echo_${count}`, count, echo, ms));
}
