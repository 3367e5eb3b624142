import { connect, type NetConnectOpts, type Socket } from 'node:net';

/** @returns nothing, if nobody is there */
export function dial(where: NetConnectOpts): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(where);
    const timer = setTimeout(() => socket.destroy(new Error('slow')), 3_000);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

/** Where the hub's port is. */
export function onLoopback(port: number): NetConnectOpts {
  return { port, host: '127.0.0.1', noDelay: true };
}
