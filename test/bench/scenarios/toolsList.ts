import { BenchHub, benchHome } from '../support/benchHub.ts';
import type { Scenario } from './scenario.ts';

const most = 8_192;

/** What every agent pays for in its context before it has said a word. */
export const toolsList: Scenario = {
  names: ['tools_list_bytes'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('tools'));
    owned.defer(() => hub.stop());
    const alice = await hub.mcp('alice');
    const { tools } = (await alice.request('tools/list', {})) as { tools: unknown[] };
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    const nothing = { p50: null, p95: null, ops: null, spread: null };
    const note = `${bytes.toLocaleString('en')} bytes for ${tools.length} tools`;
    return [
      {
        name: 'tools_list_bytes',
        ...nothing,
        ratio: bytes / most,
        against: '8,192 bytes',
        bar: '≤ 8,192',
        met: bytes <= most,
        note,
      },
    ];
  },
};
