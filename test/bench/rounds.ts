import { Measured, type Sample } from './statistics.ts';

/** Something that can be put under load for a while. */
export interface Probe {
  name: string;
  run(ms: number): Promise<Sample>;
  /** A window of its own, where the usual one does not fit. */
  ms?: number;
}

export interface Plan {
  rounds: number;
  /** How long each probe runs in a round. */
  ms: number;
  /** How long each one warms up; long enough for its code to be compiled. */
  warmMs?: number;
}

/**
 * Every round runs every probe for a short while, every other round backwards: what disturbs the machine disturbs the
 * floor and what is compared with it alike. A first round warms everything up and does not count.
 */
export async function interleave(probes: readonly Probe[], plan: Plan): Promise<(name: string) => Measured> {
  const results = new Map(probes.map((probe) => [probe.name, new Measured()]));
  for (const probe of probes) await probe.run(plan.warmMs ?? 700);
  for (let round = 0; round < plan.rounds; round++) {
    for (const probe of round % 2 === 0 ? probes : probes.toReversed()) {
      results.get(probe.name)?.add(await probe.run(probe.ms ?? plan.ms));
    }
  }
  return (name) => {
    const found = results.get(name);
    if (!found) throw new Error(`${name} was not measured`);
    return found;
  };
}

/** The next operation starts when one has ended, so that always `inFlight` are under way. */
export function loop(name: string, inFlight: number, operation: () => unknown, ms?: number): Probe {
  const timed = async (): Promise<number> => {
    const began = performance.now();
    await operation();
    return performance.now() - began;
  };
  return timedLoop(name, inFlight, timed, ms);
}

/** The same where the operation itself says how long the part took that counts. */
export function timedLoop(name: string, inFlight: number, operation: () => Promise<number>, ms?: number): Probe {
  const run = async (window: number): Promise<Sample> => {
    const latencies: number[] = [];
    const began = performance.now();
    const end = began + window;
    const worker = async (): Promise<void> => {
      do latencies.push(await operation());
      while (performance.now() < end);
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    return { latencies, seconds: (performance.now() - began) / 1000 };
  };
  return { name, run, ...(ms !== undefined && { ms }) };
}
