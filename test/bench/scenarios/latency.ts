import type { BusClient } from '../../../src/client/busClient.ts';
import { diskSync } from '../floors/diskSync.ts';
import { rpcEcho } from '../floors/rpcEcho.ts';
import { sqliteCommit } from '../floors/sqliteCommit.ts';
import { tcpEcho } from '../floors/tcpEcho.ts';
import { latencyRow } from '../report.ts';
import { interleave, loop, timedLoop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import { nextText } from '../support/texts.ts';
import type { Scenario } from './scenario.ts';

/** One message at a time: until it is on disk, and until a waiting reader has it. */
export const latency: Scenario = {
  names: ['durable_ack_1', 'deliver_waiting'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('latency'));
    owned.defer(() => hub.stop());
    const [alice, bob] = [await hub.client('alice'), await hub.client('bob')];
    await hub.client('carol');
    const probes = [
      await tcpEcho(owned),
      diskSync(owned),
      sqliteCommit(owned),
      ...(await rpcEcho(owned, [1])),
      loop('durable_ack_1', 1, () => alice.call('send', { to: 'carol', text: nextText() })),
      timedLoop('deliver_waiting', 1, () => deliver(alice, bob)),
    ];
    const of = await interleave(probes, options.quick ? { rounds: 8, ms: 120 } : { rounds: 24, ms: 160 });

    const acked = ratio(of('durable_ack_1').p50s, of('floor_tcp_echo').p50s, of('floor_fdatasync').p50s);
    const delivered = ratio(of('deliver_waiting').p50s, of('durable_ack_1').p50s);
    return [
      ...probes.filter(({ name }) => name.startsWith('floor_')).map(({ name }) => latencyRow(name, of(name))),
      latencyRow('durable_ack_1', of('durable_ack_1'), {
        ratio: acked,
        against: 'tcp echo + fdatasync',
        bar: '≤ 1.5 ×',
        met: acked <= 1.5,
      }),
      latencyRow('deliver_waiting', of('deliver_waiting'), {
        ratio: delivered,
        against: 'durable_ack_1',
        bar: '≤ 1.5 ×',
        met: delivered <= 1.5,
      }),
    ];
  },
};

/** From the call of the sender until the waiting call of the reader, on another connection, has returned. */
async function deliver(sender: BusClient, reader: BusClient): Promise<number> {
  const waiting = reader.call('inbox', { wait_seconds: 45 });
  // Requests of one connection are taken in order: once this one is answered, the other waits.
  await reader.request('presence', { state: 'idle' });
  const began = performance.now();
  const sent = sender.call('send', { to: reader.agent, text: nextText() });
  const { data, shown } = await waiting;
  const took = performance.now() - began;
  if (data.messages.length !== 1) throw new Error(`the reader got ${data.messages.length} messages instead of one`);
  reader.shown(shown);
  await sent;
  return took;
}
