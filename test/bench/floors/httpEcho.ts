import { Agent, createServer } from 'node:http';
import { loop, type Probe } from '../rounds.ts';
import { listen, startFloor } from '../support/floorServer.ts';
import { post } from '../support/mcpClient.ts';
import { nextText } from '../support/texts.ts';

export function serve(): Promise<number> {
  return listen(
    createServer({ noDelay: true }, (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => res.end(Buffer.concat(chunks)));
    }),
  );
}

/** What HTTP itself costs, with the client that also speaks MCP here. */
export async function httpEcho(owned: AsyncDisposableStack): Promise<Probe> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  const agent = new Agent({ keepAlive: true });
  owned.defer(() => agent.destroy());
  const url = new URL(`http://127.0.0.1:${server.port}/`);
  return loop('floor_http_echo', 1, () => post(url, agent, {}, JSON.stringify({ text: nextText() })));
}
