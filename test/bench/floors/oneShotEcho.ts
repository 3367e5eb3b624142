import { connect, createServer } from 'node:net';
import { loop, type Probe } from '../rounds.ts';
import { listen, startFloor } from '../support/floorServer.ts';
import { nextText } from '../support/texts.ts';

export function serve(): Promise<number> {
  return listen(
    createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (chunk) => socket.end(chunk));
    }),
  );
}

/** One line in, one line out, and a connection for each: what agent-tool's wire costs by itself. */
export function askOnce(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(`${line}\n`));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => {
      socket.end();
      resolve(Buffer.concat(chunks).toString());
    });
    socket.on('error', reject);
  });
}

export async function oneShotEcho(owned: AsyncDisposableStack): Promise<Probe> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  return loop('floor_one_shot_echo', 1, () => askOnce(server.port, JSON.stringify({ msg: nextText() })));
}
