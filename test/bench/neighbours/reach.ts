import type { Socket } from 'node:net';

/** A server that was just started takes a moment to listen. */
export async function reach(dial: () => Socket): Promise<Socket> {
  for (let attempt = 0; ; attempt++) {
    const socket = dial();
    const error = await new Promise<Error | undefined>((resolve) => {
      socket.once('connect', () => resolve(undefined));
      socket.once('error', resolve);
    });
    if (!error) return socket;
    if (attempt > 400) throw error;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
