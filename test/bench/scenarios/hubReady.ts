import { BusClient } from '../../../src/client/busClient.ts';
import { version } from '../../../src/hub/version.ts';
import { latencyRow } from '../report.ts';
import { interleave, timedLoop } from '../rounds.ts';
import { benchHome } from '../support/benchHub.ts';
import { adopt } from '../support/processes.ts';
import type { Scenario } from './scenario.ts';

/** The first client of the day: it finds no hub, starts one, and is answered. */
export const hubReady: Scenario = {
  names: ['hub_ready'],

  async run(options) {
    const probe = timedLoop('hub_ready', 1, () => firstClient(options.hubScript));
    const of = await interleave([probe], { rounds: options.quick ? 5 : 15, ms: 1, warmMs: 1 });
    const { p50, p50s } = of('hub_ready');
    const row = latencyRow('hub_ready', of('hub_ready'), {
      ratio: p50 / 500,
      against: '500 ms',
      bar: '≤ 500 ms',
      met: p50 <= 500,
    });
    return [{ ...row, p95: Math.max(...p50s), note: 'here p95 is the slowest start' }];
  },
};

async function firstClient(hubScript: string): Promise<number> {
  const home = benchHome('ready');
  const began = performance.now();
  const client = await BusClient.connect({ via: 'rpc', version, home, hubScript });
  const took = performance.now() - began;
  const pid = client.hub?.pid ?? 0;
  const process = adopt(pid);
  await client.request('stop', { reason: 'stop' });
  client.close();
  await hasEnded(pid);
  process.gone();
  return took;
}

async function hasEnded(pid: number): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the hub ${pid} does not stop`);
}
