import { createServer, type Server } from 'node:net';
import type { Reads } from '../../core/ports.ts';
import type { RpcHost } from './rpcHost.ts';
import { RpcSession } from './rpcSession.ts';

export interface RpcDoor {
  port: number;
  connections(): number;
  /** From now on nobody new is let in: a client that comes now is better served by the next hub. */
  drain(): void;
  /** Stops accepting, lets running calls finish for a moment, then hangs up. */
  close(): Promise<void>;
}

const maxConnections = 2_000;

/** Typed JSON-RPC over TCP, on loopback, for our own clients. */
export async function openRpcDoor(
  host: RpcHost,
  reads: Reads,
  options: { port: number; onActivity: () => void },
): Promise<RpcDoor> {
  const sessions = new Set<RpcSession>();
  let draining = false;
  const server = createServer({ noDelay: true }, (socket) => {
    options.onActivity();
    const session = new RpcSession(socket, host, reads, {
      isDraining: () => draining,
      onClose: () => {
        sessions.delete(session);
        options.onActivity();
      },
    });
    sessions.add(session);
  });
  server.maxConnections = maxConnections;
  await listen(server, options.port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    connections: () => sessions.size,
    drain: () => {
      draining = true;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.peer.close();
      await closed;
    },
  };
}

/** The wanted port if it is free, else any. */
async function listen(server: Server, port: number): Promise<void> {
  const attempt = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: at, host: '127.0.0.1' }, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
  await attempt(port).catch((error: NodeJS.ErrnoException) => {
    if (port === 0 || (error.code !== 'EADDRINUSE' && error.code !== 'EACCES')) throw error;
    return attempt(0);
  });
}
