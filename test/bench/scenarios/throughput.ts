import { rpcEcho } from '../floors/rpcEcho.ts';
import { openNats } from '../neighbours/nats.ts';
import { openRedis } from '../neighbours/redis.ts';
import { throughputRow, type Row } from '../report.ts';
import { interleave, loop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import { nextText } from '../support/texts.ts';
import type { Scenario } from './scenario.ts';

const inFlight = 64;

/** One connection with 64 messages under way, beside stores that also sync before they answer. */
export const throughput: Scenario = {
  names: ['durable_ack_64'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('throughput'));
    owned.defer(() => hub.stop());
    const alice = await hub.client('alice');
    await hub.client('bob');
    const redis = await openRedis(owned);
    const nats = await openNats(owned);
    const short = options.quick ? 500 : 1_500;
    const probes = [
      ...(await rpcEcho(owned, [inFlight], short)),
      ...(nats ? [loop('nats_jetstream_64', inFlight, nats.publish, short)] : []),
      ...(redis ? [loop('redis_xadd_64', inFlight, redis)] : []),
      loop('durable_ack_64', inFlight, () => alice.call('send', { to: 'bob', text: nextText() })),
    ];
    const of = await interleave(probes, options.quick ? { rounds: 3, ms: 1_500 } : { rounds: 4, ms: 8_000 });

    const others: Row[] = probes.slice(0, -1).map(({ name }) => throughputRow(name, of(name)));
    for (const row of others) if (row.name.startsWith('nats') && !nats?.synced) row.note = unsynced(nats?.version);
    const share = redis ? ratio(of('durable_ack_64').rates, of('redis_xadd_64').rates) : null;
    const acked = throughputRow('durable_ack_64', of('durable_ack_64'), {
      ratio: share,
      against: 'Redis, appendfsync always',
      bar: '≥ 0.5 ×',
      ...(share === null
        ? { note: 'redis-server is not installed (apt-get install redis-server).' }
        : { met: share >= 0.5 }),
    });
    if (!nats) console.log('nats-server is not installed (apt-get install nats-server).');
    return [...others, acked];
  },
};

function unsynced(version: string | undefined): string {
  return `nats-server ${version} has no "sync_interval: always" (2.10 has): it answers before the message is safe from a power cut.`;
}
