import { BusError } from './errors.ts';
import type { AgentView } from './model.ts';

/** What is known of an agent and how fast it answered; of an address that has no name here, only the latter. */
export type PingResult = (AgentView | { name?: undefined; address: string }) & {
  rtt_ms: number | null;
  /** Why it did not answer, where that is known. */
  trouble?: string;
  hub_ms: number;
};

export const pingMs = 5_000;

/** How long it took; the reason where there is one to tell, null for any other failure. */
export async function timed(probe: () => Promise<unknown>): Promise<number | BusError | null> {
  const asked = performance.now();
  try {
    await probe();
    return round(performance.now() - asked);
  } catch (error) {
    const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
    return cause instanceof BusError ? cause : null;
  }
}

export const round = (ms: number): number => Math.round(ms * 100) / 100;
