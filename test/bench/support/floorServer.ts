/** A floor's server in a process of its own. The floor's file holds both ends: `serve` runs there, the rest here. */
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { memoryOf, startScript, stop } from './processes.ts';

export interface FloorServer {
  port: number;
  memory(): Promise<NodeJS.MemoryUsage>;
  stop(): Promise<void>;
}

export async function startFloor(file: string): Promise<FloorServer> {
  const child = startScript(join(import.meta.dirname, 'floorProcess.ts'), [file]);
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port));
    child.once('exit', () => reject(new Error(`${file} ended before it listened`)));
  });
  return { port, memory: () => memoryOf(child), stop: () => stop(child, 'SIGKILL') };
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
