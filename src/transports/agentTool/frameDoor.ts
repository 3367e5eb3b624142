import { createServer, type Server, type Socket } from 'node:net';
import { FrameConnection, type FrameHost } from './frameConnection.ts';
import { plainAddress } from './peerAddresses.ts';

export interface FrameDoorOptions {
  port: number;
  bind: string;
  limits?: Partial<DoorLimits>;
}

export interface DoorLimits {
  connections: number;
  /** Without a byte for so long, a connection is closed. */
  idleMs: number;
  /** A frame that has begun has to be whole after this time. */
  frameMs: number;
  /** How often the two above are looked at. */
  checkMs: number;
  /** How long a closing door waits for what is being stored. */
  closeMs: number;
}

const usual: DoorLimits = {
  connections: 200,
  idleMs: 15 * 60_000,
  frameMs: 60_000,
  checkMs: 5_000,
  closeMs: 5_000,
};

export interface FrameDoor {
  port: number;
  connections(): number;
  /** Stops accepting, finishes what is being stored, then hangs up. */
  close(): Promise<void>;
}

/** Listens for agent-tool sessions that `send` and `ping`. Unlike their own `receive`, it stays and hears all of them. */
export async function openFrameDoor(host: FrameHost, options: FrameDoorOptions): Promise<FrameDoor> {
  const limits = { ...usual, ...options.limits };
  const open = new Set<FrameConnection>();

  const admit = (socket: Socket): void => {
    // A peer that is gone already has no address any more.
    const address = plainAddress(socket.remoteAddress ?? '');
    if (address === undefined) return void socket.destroy();
    if (!host.admits(address)) {
      socket.destroy();
      return host.refused(address);
    }
    socket.setKeepAlive(true, 60_000);
    const peer = { address, port: socket.remotePort ?? 0 };
    const connection = new FrameConnection(socket, peer, host, () => open.delete(connection));
    open.add(connection);
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, admit);
  server.maxConnections = limits.connections;
  await listen(server, options);
  server.on('error', (error) => host.failed({ address: options.bind, port: options.port }, error));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the frame door has no port');

  const checks = setInterval(() => {
    for (const connection of open) connection.endIfStuck(limits.idleMs, limits.frameMs);
  }, limits.checkMs).unref();

  const close = async (): Promise<void> => {
    clearInterval(checks);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await Promise.all([...open].map((connection) => connection.close(limits.closeMs)));
    await closed;
  };
  let closing: Promise<void> | undefined;
  return { port: address.port, connections: () => open.size, close: () => (closing ??= close()) };
}

function listen(server: Server, { port, bind }: FrameDoorOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: bind, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
