import type { BusClient } from '../../../src/client/busClient.ts';
import { messageId } from '../../../src/core/model.ts';
import type { BusHome } from '../../../src/hub/home.ts';
import type { Options } from '../options.ts';
import { latencyRow, type Row } from '../report.ts';
import { interleave, loop, timedLoop, type Probe } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import { copyDatabase, isCached } from '../support/databases.ts';
import { dice, rareWord, rareWords, words } from '../support/texts.ts';
import type { Scenario } from './scenario.ts';

const sizes = [
  { label: '1k', messages: 1_000 },
  { label: '100k', messages: 100_000 },
  { label: '1m', messages: 1_000_000 },
] as const;

type Size = (typeof sizes)[number];

/** What must not get slower as the history grows: starting, reading a page, finding something. */
export const scale: Scenario = {
  names: ['inbox_page', 'search', 'hub_start'].flatMap((name) => sizes.map(({ label }) => `${name}_${label}`)),

  async run(options) {
    await using owned = new AsyncDisposableStack();
    // A short run does not spend a minute or two on making the largest one.
    const used = sizes.filter(({ messages }) => !options.quick || messages < 1_000_000 || isCached(messages));
    const homes: { size: Size; home: BusHome }[] = [];
    for (const size of used) {
      const home = benchHome(`scale-${size.label}`);
      await copyDatabase(size.messages, home.database);
      homes.push({ size, home });
    }
    const rows: Row[] = [];
    if (used.some(({ label }) => options.wants(`hub_start_${label}`))) rows.push(...(await starts(options, homes)));

    const reads: Probe[] = [];
    for (const { size, home } of homes) {
      const hub = await BenchHub.start(options, home);
      owned.defer(() => hub.stop());
      const readers = await Promise.all([0, 1, 2, 3].map((n) => hub.client(`agent-${n}`)));
      const random = dice(3);
      reads.push(loop(`inbox_page_${size.label}`, 1, () => readPage(readers, size, random)));
      reads.push(loop(`search_${size.label}`, 1, () => search([hub.owner, ...readers], random)));
    }
    const probes = reads.filter(({ name }) => options.wants(name));
    const of = await interleave(probes, options.quick ? { rounds: 4, ms: 250 } : { rounds: 8, ms: 600 });
    for (const { name } of [...probes.filter(isPage), ...probes.filter((probe) => !isPage(probe))]) {
      const measured = of(name);
      if (name.startsWith('search')) {
        const { p95 } = measured;
        rows.push(
          latencyRow(name, measured, { ratio: p95 / 20, against: '20 ms', bar: 'p95 ≤ 20 ms', met: p95 <= 20 }),
        );
      } else if (name === 'inbox_page_1m' && options.wants('inbox_page_1k')) {
        const growth = ratio(measured.p50s, of('inbox_page_1k').p50s);
        rows.push(
          latencyRow(name, measured, { ratio: growth, against: 'inbox_page_1k', bar: '≤ 2 ×', met: growth <= 2 }),
        );
      } else rows.push(latencyRow(name, measured));
    }
    return rows;
  },
};

const isPage = ({ name }: Probe): boolean => name.startsWith('inbox_page');

async function starts(options: Options, homes: { size: Size; home: BusHome }[]): Promise<Row[]> {
  const probes = homes.map(({ size, home }) =>
    timedLoop(`hub_start_${size.label}`, 1, async () => {
      const began = performance.now();
      const hub = await BenchHub.start(options, home);
      const took = performance.now() - began;
      await hub.stop();
      return took;
    }),
  );
  const of = await interleave(probes, { rounds: options.quick ? 2 : 5, ms: 1, warmMs: 1 });
  return probes.map(({ name }) => {
    const slowest = Math.max(...of(name).p50s);
    return latencyRow(name, of(name), {
      ratio: slowest / 1_000,
      against: '1 s, slowest start',
      bar: '≤ 1 s',
      met: slowest <= 1_000,
    });
  });
}

/** Half of the pages are the first of what is new, half are somewhere in the history; all are full. */
async function readPage(readers: readonly BusClient[], size: Size, random: () => number): Promise<void> {
  const reader = readers[Math.floor(random() * readers.length)] as BusClient;
  const cursor = messageId.format(1 + Math.floor(random() * size.messages * 0.4));
  const { data } = await reader.call('inbox', random() < 0.5 ? { limit: 10 } : { filter: 'all', limit: 10, cursor });
  if (data.messages.length < 10) throw new Error(`only ${data.messages.length} messages on a page of ${reader.agent}`);
}

/** A common word, two of them, a rare one, and the beginning of one, in turn; by the person, who sees all, and by agents. */
async function search(readers: readonly BusClient[], random: () => number): Promise<void> {
  const word = (): string => words[Math.floor(random() ** 2 * words.length)] as string;
  const queries = [
    word,
    () => `${word()} ${word()}`,
    () => rareWord(Math.floor(random() * rareWords)),
    () => word().slice(0, 3),
  ];
  const reader = readers[random() < 0.5 ? 0 : 1 + Math.floor(random() * (readers.length - 1))] as BusClient;
  const query = queries[Math.floor(random() * queries.length)] as () => string;
  await reader.call('conversations', { query: query() });
}
