import { connect, createServer } from 'node:net';
import { loop, type Probe } from '../rounds.ts';
import { listen, startFloor } from '../support/floorServer.ts';

export function serve(): Promise<number> {
  return listen(createServer({ noDelay: true }, (socket) => socket.on('data', (chunk) => socket.write(chunk))));
}

/** About the size of a send and of its answer. */
const payload = Buffer.alloc(400, 0x61);

/** The least that any request over loopback between two Node processes can take. */
export async function tcpEcho(owned: AsyncDisposableStack): Promise<Probe> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true });
  owned.defer(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  let missing = 0;
  let arrived = (): void => undefined;
  socket.on('data', (chunk) => {
    missing -= chunk.length;
    if (missing <= 0) arrived();
  });
  const echo = (): Promise<void> =>
    new Promise((resolve) => {
      missing = payload.length;
      arrived = resolve;
      socket.write(payload);
    });
  return loop('floor_tcp_echo', 1, echo);
}
