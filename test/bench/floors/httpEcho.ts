import { Agent, createServer, type ServerResponse } from 'node:http';
import { loop, type Probe } from '../rounds.ts';
import { listen, startFloor } from '../support/floorServer.ts';
import { post } from '../support/mcpClient.ts';
import { nextText } from '../support/texts.ts';

/** Gives back what it gets; `/hold` gets no answer, and `/held` tells how many wait for one. */
export function serve(): Promise<number> {
  const held: ServerResponse[] = [];
  return listen(
    createServer({ noDelay: true, keepAliveTimeout: 120_000 }, (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        if (req.url === '/hold') held.push(res);
        else res.end(req.url === '/held' ? String(held.length) : Buffer.concat(chunks));
      });
    }),
  );
}

/** What HTTP itself costs, with the client that also speaks MCP here. */
export async function httpEcho(owned: AsyncDisposableStack): Promise<Probe> {
  const { echo } = await heldHttp(owned);
  return loop('floor_http_echo', 1, echo);
}

export interface HeldHttp {
  echo(): Promise<unknown>;
  hold(): void;
  held(): Promise<number>;
  memory(): Promise<NodeJS.MemoryUsage>;
}

export async function heldHttp(owned: AsyncDisposableStack): Promise<HeldHttp> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  const agent = new Agent({ keepAlive: true });
  owned.defer(() => agent.destroy());
  const ask = (path: string): ReturnType<typeof post> =>
    post(new URL(`http://127.0.0.1:${server.port}${path}`), agent, {}, JSON.stringify({ text: nextText() }));
  return {
    echo: () => ask('/'),
    hold: () => void ask('/hold').catch(() => undefined),
    held: async () => Number((await ask('/held')).text),
    memory: () => server.memory(),
  };
}
