import { chmodSync, rmSync } from 'node:fs';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
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

export interface RpcDoorOptions {
  port: number;
  /** Of a socket in the owner's private folder, for hooks; where none can be, they come by the port as everybody does. */
  socket?: string | undefined;
  onActivity: () => void;
  onError: (error: unknown) => void;
}

/** Typed JSON-RPC over TCP, on loopback, for our own clients. */
export async function openRpcDoor(host: RpcHost, reads: Reads, options: RpcDoorOptions): Promise<RpcDoor> {
  const sessions = new Set<RpcSession>();
  let draining = false;
  const admit = (socket: Socket, isOwners: boolean): void => {
    options.onActivity();
    const session = new RpcSession(socket, host, reads, {
      isOwners,
      isDraining: () => draining,
      onClose: () => {
        sessions.delete(session);
        options.onActivity();
      },
    });
    sessions.add(session);
  };
  const server = createServer({ noDelay: true }, (socket) => admit(socket, false));
  server.maxConnections = maxConnections;
  await listenNear(server, options.port);
  const address = server.address();
  const servers = [server];
  if (options.socket !== undefined) {
    const own = createServer((socket) => admit(socket, true));
    own.maxConnections = maxConnections;
    await listenAt(own, options.socket).then(() => servers.push(own), options.onError);
  }
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    connections: () => sessions.size,
    drain: () => {
      draining = true;
    },
    close: async () => {
      const closed = servers.map((one) => new Promise<void>((resolve) => one.close(() => resolve())));
      for (const session of sessions) session.peer.close();
      await Promise.all(closed);
    },
  };
}

/** The wanted port if it is free, else any. */
async function listenNear(server: Server, port: number): Promise<void> {
  const host = '127.0.0.1';
  await listen(server, { port, host }).catch((error: NodeJS.ErrnoException) => {
    if (port === 0 || (error.code !== 'EADDRINUSE' && error.code !== 'EACCES')) throw error;
    return listen(server, { port: 0, host });
  });
}

/** A hub that was killed has left its socket behind; there is one hub at a time, so it is nobody's. */
async function listenAt(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  await listen(server, { path });
  chmodSync(path, 0o600);
}

function listen(server: Server, at: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}
