/** A floor's server in a process of its own. The floor's file holds both ends: `serve` runs there, the rest here. */
import type { AddressInfo, Server } from 'node:net';
import { startScript, stop } from './processes.ts';

export interface FloorServer {
  port: number;
  stop(): Promise<void>;
}

export async function startFloor(file: string): Promise<FloorServer> {
  const child = startScript(import.meta.filename, [file]);
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port));
    child.once('exit', () => reject(new Error(`${file} ended before it listened`)));
  });
  return { port, stop: () => stop(child, 'SIGKILL') };
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

if (import.meta.main) {
  const { serve } = (await import(process.argv[2] ?? '')) as { serve: () => Promise<number> };
  process.send?.({ port: await serve() });
  process.once('disconnect', () => process.exit());
}
