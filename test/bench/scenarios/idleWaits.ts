import { heldHttp } from '../floors/httpEcho.ts';
import type { Options } from '../options.ts';
import { latencyRow, type Row } from '../report.ts';
import { interleave, loop, type Probe } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import { nextText } from '../support/texts.ts';
import type { Scenario } from './scenario.ts';

const agents = 20;
const callsEach = 50;
const waits = agents * callsEach;

type Door = 'rpc' | 'mcp';

/** Whoever can wait for mail, by whichever door. */
interface Waiter {
  call(tool: 'inbox', args: { wait_seconds?: number }): Promise<unknown>;
}

interface Crowd {
  probe: Probe;
  held: Held;
}

/** Bytes for each waiting call: live objects and buffers after garbage collection, and what the process grew by. */
interface Held {
  heap: number;
  resident: number;
}

const noTimes = { p50: null, p95: null, ops: null, spread: null };

/** A thousand calls that wait: what they cost in memory, and whether anybody else notices them. */
export const idleWaits: Scenario = {
  names: ['idle_waits_rpc', 'idle_waits_mcp'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const quiet = await startHub(options, owned, 'quiet');
    const probes = [ackProbe('durable_ack_1_quiet', await quiet.client('alice'))];
    const doors = (['rpc', 'mcp'] as const).filter((door) => options.wants(`idle_waits_${door}`));
    const crowds = new Map<Door, Crowd>();
    for (const door of doors) {
      const crowd = await gather(options, owned, door);
      crowds.set(door, crowd);
      probes.push(crowd.probe);
    }
    const of = await interleave(probes, options.quick ? { rounds: 9, ms: 150 } : { rounds: 24, ms: 200 });
    const bare = await bareHttp(owned);
    return [
      { ...noTimes, name: 'floor_http_held', ratio: null, against: '', note: describe(bare) },
      ...[...crowds].flatMap(([door, { held, probe }]): Row[] => {
        const effect = ratio(of(probe.name).p50s, of('durable_ack_1_quiet').p50s);
        const kilobytes = held.heap / 1024;
        return [
          {
            ...noTimes,
            name: `idle_waits_${door}`,
            ratio: kilobytes / 10,
            against: '10 KB each',
            bar: '≤ 10 KB',
            met: kilobytes <= 10,
            note: describe(held),
          },
          latencyRow(probe.name, of(probe.name), {
            ratio: effect,
            against: 'durable_ack_1, no waits',
            bar: '≤ 1.1 ×',
            met: effect <= 1.1,
          }),
        ];
      }),
    ];
  },
};

function describe({ heap, resident }: Held): string {
  return `${(heap / 1024).toFixed(1)} KB live for each of ${waits} waiting calls; the process grew by ${(resident / 1024).toFixed(1)} KB for each.`;
}

function difference(before: NodeJS.MemoryUsage, after: NodeJS.MemoryUsage): Held {
  const live = ({ heapUsed, external }: NodeJS.MemoryUsage): number => heapUsed + external;
  return { heap: (live(after) - live(before)) / waits, resident: (after.rss - before.rss) / waits };
}

async function gather(options: Options, owned: AsyncDisposableStack, door: Door): Promise<Crowd> {
  const hub = await startHub(options, owned, door);
  const callers: Waiter[] = await Promise.all<Waiter>(
    Array.from({ length: agents }, (_, i) => (door === 'rpc' ? hub.client(`waiter-${i}`) : hub.mcp(`waiter-${i}`))),
  );
  const alice = await hub.client('alice');
  const probe = ackProbe(`idle_waits_${door}_ack`, alice);
  // The heap grows to its working size under load; only after that does growth mean the waiting calls.
  for (let i = 0; i < 40; i++) await Promise.all(callers.map((caller) => caller.call('inbox', {})));
  await probe.run(1_500);
  const before = await hub.memory();
  let over = false;
  owned.defer(() => void (over = true));
  for (const caller of callers) {
    for (let i = 0; i < callsEach; i++)
      void waitOn(
        () => caller.call('inbox', { wait_seconds: 45 }),
        () => over,
      );
  }
  await everybodyWaits(hub);
  return { probe, held: difference(before, await hub.memory()) };
}

/** What as many unanswered requests cost a server of `node:http` that does nothing with them. */
async function bareHttp(owned: AsyncDisposableStack): Promise<Held> {
  const server = await heldHttp(owned);
  for (let i = 0; i < 3_000; i++) await server.echo();
  const before = await server.memory();
  for (let i = 0; i < waits; i++) server.hold();
  while ((await server.held()) < waits) await new Promise((resolve) => setTimeout(resolve, 50));
  return difference(before, await server.memory());
}

async function waitOn(wait: () => Promise<unknown>, over: () => boolean): Promise<void> {
  // The hub stops before its clients do: the last wait ends with an error.
  while (!over()) await wait().catch(() => undefined);
}

async function everybodyWaits(hub: BenchHub): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const { connections } = await hub.owner.request('status', {});
    if (connections.waitingCalls === waits) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the calls do not wait');
}

async function startHub(options: Options, owned: AsyncDisposableStack, name: string): Promise<BenchHub> {
  const hub = await BenchHub.start(options, benchHome(`idle-${name}`), { memory: true });
  owned.defer(() => hub.stop());
  await hub.client('bob');
  return hub;
}

function ackProbe(name: string, alice: Awaited<ReturnType<BenchHub['client']>>): Probe {
  return loop(name, 1, () => alice.call('send', { to: 'bob', text: nextText() }));
}
