import { diskSync } from '../floors/diskSync.ts';
import { httpEcho } from '../floors/httpEcho.ts';
import { sdkEcho } from '../floors/sdkEcho.ts';
import { latencyRow, throughputRow } from '../report.ts';
import { interleave, loop, timedLoop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import type { McpClient } from '../support/mcpClient.ts';
import { nextText } from '../support/texts.ts';
import type { Scenario } from './scenario.ts';

/** The same over MCP, beside the SDK's own server with a tool that does nothing. */
export const mcp: Scenario = {
  names: ['mcp_send_1', 'mcp_send_16', 'mcp_deliver'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('mcp'));
    owned.defer(() => hub.stop());
    const [alice, bob] = [await hub.mcp('alice'), await hub.mcp('bob')];
    await hub.client('carol');
    const send = (): Promise<unknown> => alice.call('send', { to: 'carol', text: nextText() });
    const [echo1, echo16] = await sdkEcho(owned, [1, 16]);
    if (!echo1 || !echo16) throw new Error('the SDK’s echo was not started');
    const alone = [
      await httpEcho(owned),
      diskSync(owned, 'floor_fdatasync_mcp'),
      echo1,
      loop('mcp_send_1', 1, send),
      timedLoop('mcp_deliver', 1, () => deliver(alice, bob)),
    ];
    const of = await interleave(alone, options.quick ? { rounds: 8, ms: 150 } : { rounds: 24, ms: 200 });
    const together = [echo16, loop('mcp_send_16', 16, send)];
    const manyOf = await interleave(together, options.quick ? { rounds: 4, ms: 700 } : { rounds: 8, ms: 1_500 });

    const one = ratio(of('mcp_send_1').p50s, of('floor_sdk_echo_1').p50s, of('floor_fdatasync_mcp').p50s);
    const sixteen = ratio(manyOf('mcp_send_16').rates, manyOf('floor_sdk_echo_16').rates);
    const { p95 } = of('mcp_deliver');
    return [
      latencyRow('floor_http_echo', of('floor_http_echo')),
      latencyRow('floor_fdatasync_mcp', of('floor_fdatasync_mcp')),
      latencyRow('floor_sdk_echo_1', of('floor_sdk_echo_1')),
      throughputRow('floor_sdk_echo_16', manyOf('floor_sdk_echo_16')),
      latencyRow('mcp_send_1', of('mcp_send_1'), {
        ratio: one,
        against: 'SDK echo + fdatasync',
        bar: '≤ 1.5 ×',
        met: one <= 1.5,
      }),
      throughputRow('mcp_send_16', manyOf('mcp_send_16'), {
        ratio: sixteen,
        against: 'SDK echo, 16 in flight',
        bar: '≥ 0.6 ×',
        met: sixteen >= 0.6,
      }),
      latencyRow('mcp_deliver', of('mcp_deliver'), {
        ratio: p95 / 10,
        against: '10 ms',
        bar: 'p95 ≤ 10 ms',
        met: p95 <= 10,
      }),
    ];
  },
};

/** From the call of the sender until the blocked call of the reader has returned. */
async function deliver(sender: McpClient, reader: McpClient): Promise<number> {
  const waiting = reader.call('inbox', { wait_seconds: 45 });
  // Until it really waits; requests on two connections have no order between them.
  await new Promise((resolve) => setTimeout(resolve, 3));
  const text = nextText();
  const began = performance.now();
  const sent = sender.call('send', { to: 'bob', text });
  const { content } = await waiting;
  const took = performance.now() - began;
  if (!content[0]?.text.includes(text)) throw new Error(`the reader got something else: ${content[0]?.text}`);
  await sent;
  return took;
}
