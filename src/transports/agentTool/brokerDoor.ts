import { createServer, type Server } from 'node:net';
import { BusError } from '../../core/errors.ts';
import type { BrokerHost } from './brokerHost.ts';
import { BrokerSession, defaultTimings, type BrokerTimings } from './brokerSession.ts';

export interface BrokerDoor {
  port: number;
  connections(): number;
  /** Ends what waits, lets answers finish for a moment, then hangs up. What was not taken is unread again. */
  close(): Promise<void>;
}

export interface BrokerDoorOptions {
  port: number;
  host?: '127.0.0.1';
  onActivity?: () => void;
  onError?: (error: unknown) => void;
  timings?: Partial<BrokerTimings>;
}

const maxConnections = 200;
const lastWordsMs = 1_000;

/** The place where every session of agent-tool on this machine looks for its broker. */
export async function openBrokerDoor(host: BrokerHost, options: BrokerDoorOptions): Promise<BrokerDoor> {
  const { onActivity = () => undefined, onError = () => undefined } = options;
  const sessions = new Set<BrokerSession>();
  const timings = { ...defaultTimings, ...options.timings };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    onActivity();
    const session = new BrokerSession(socket, { host, timings, onError });
    sessions.add(session);
    void session.ended().then(() => {
      sessions.delete(session);
      onActivity();
    });
  });
  server.maxConnections = maxConnections;
  await listen(server, options.port, options.host ?? '127.0.0.1');
  server.on('error', onError);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    connections: () => sessions.size,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.stop();
      const timer = setTimeout(() => sessions.forEach((session) => session.destroy()), lastWordsMs);
      await Promise.all([closed, ...[...sessions].map((session) => session.ended())]);
      clearTimeout(timer);
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, port)));
    server.listen({ port, host }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function cannotListen(error: NodeJS.ErrnoException, port: number): Error {
  const why =
    error.code === 'EADDRINUSE'
      ? `Port ${port} is in use by another program, perhaps by the broker of an agent-tool session.`
      : error.code === 'EACCES'
        ? `The system does not let the hub listen on port ${port}.`
        : undefined;
  if (why === undefined) return error;
  const next = 'End that program, or use another port: `agent-bus door broker on --port N`.';
  return new BusError('door-taken', why, { next, cause: error });
}
