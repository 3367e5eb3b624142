/** Asking on the bus, and how far that got. */
import type { BusClient } from '../../src/client/busClient.ts';

/** @returns the id of the request */
export async function ask(from: BusClient, to: string, text: string, more: object = {}): Promise<string> {
  return (await from.call('send', { to, text, kind: 'request', ...more })).data.id;
}

/** Every step of its receipt: what happened, by which route, and the note to it. */
export async function steps(from: BusClient, id: string): Promise<string[]> {
  const { recipients } = (await from.call('status', { id })).data;
  return recipients.flatMap((recipient) =>
    recipient.steps.map(({ step, route, note }) => [step, route, note].filter((part) => part !== undefined).join(' ')),
  );
}
