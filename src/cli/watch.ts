import { BusClient } from '../client/busClient.ts';
import { version } from '../hub/version.ts';
import type { Invocation } from './command.ts';
import { printJson, printLine } from './print.ts';
import { Traffic } from './traffic.ts';

export interface Watch {
  client: BusClient;
  /** Settles when the hub has hung up. */
  lost: Promise<void>;
}

/** Prints what happens on the bus from now on, as the person sees it. Starts no hub. */
export async function watch({ home, json }: Invocation): Promise<Watch> {
  const client = await BusClient.connect({ home, version, via: 'cli', start: false });
  const traffic = new Traffic();
  const lost = new Promise<void>((resolve) => {
    client.onStateChange = (state) => {
      if (state === 'lost') resolve();
    };
  });
  await client.subscribe({
    onEvent: (event) => {
      // Nobody reads any more: the watch goes on for the sake of the hub.
      if (json) return void printJson(event).catch(() => undefined);
      const line = traffic.line(event);
      if (line !== undefined) void printLine(line).catch(() => undefined);
    },
  });
  return { client, lost };
}
