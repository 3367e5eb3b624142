import type { BusClient } from '../../../src/client/busClient.ts';
import { a2aCall } from '../floors/a2aCall.ts';
import { diskSync } from '../floors/diskSync.ts';
import { askOnce, oneShotEcho } from '../floors/oneShotEcho.ts';
import { latencyRow } from '../report.ts';
import { interleave, loop, timedLoop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import { nextText } from '../support/texts.ts';
import type { Scenario } from './scenario.ts';

/** Other systems' wires: agent-tool's broker, a connection for each request, and an A2A agent that answers at once. */
export const doors: Scenario = {
  names: ['broker_post', 'broker_deliver', 'a2a_send'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('doors'));
    owned.defer(() => hub.stop());
    const { port } = await hub.owner.request('door', { door: 'broker', on: true, port: 0 });
    const instant = await a2aCall(owned);
    const { agent } = await hub.owner.request('remote', { url: instant.url });
    const alice = await hub.client('alice');
    const probes = [
      await oneShotEcho(owned),
      diskSync(owned),
      instant.probe,
      loop('broker_post', 1, () => post(port, 'shelf')),
      timedLoop('broker_deliver', 1, () => deliver(port)),
      loop('a2a_send', 1, () => ask(alice, agent.name)),
    ];
    const of = await interleave(probes, options.quick ? { rounds: 8, ms: 120 } : { rounds: 24, ms: 160 });

    const posted = ratio(of('broker_post').p50s, of('floor_one_shot_echo').p50s, of('floor_fdatasync').p50s);
    const delivered = ratio(of('broker_deliver').p50s, of('floor_one_shot_echo').p50s, of('floor_fdatasync').p50s);
    const asked = ratio(of('a2a_send').p50s, of('floor_a2a_call').p50s);
    const beside = { against: 'one-shot echo + fdatasync', bar: '≤ 3 ×' };
    return [
      ...['floor_one_shot_echo', 'floor_a2a_call'].map((name) => latencyRow(name, of(name))),
      latencyRow('broker_post', of('broker_post'), { ...beside, ratio: posted, met: posted <= 3 }),
      latencyRow('broker_deliver', of('broker_deliver'), { ...beside, ratio: delivered, met: delivered <= 3 }),
      latencyRow('a2a_send', of('a2a_send'), {
        ratio: asked,
        against: 'a bare call of the SDK',
        bar: '≤ 3 ×',
        met: asked <= 3,
      }),
    ];
  },
};

async function post(port: number, to: string): Promise<void> {
  const reply = await askOnce(port, JSON.stringify({ op: 'post', to, from: 'poster', msg: nextText() }));
  if (reply !== '{"ok":true,"info":"queued"}\n') throw new Error(`the broker said ${reply}`);
}

/** From the post until a reader that was waiting has the message. */
async function deliver(port: number): Promise<number> {
  const waiting = askOnce(port, JSON.stringify({ op: 'wait', mailbox: 'reader', timeout: 60 }));
  // One that waits is in the list, even with nothing in its box.
  while (!(await askOnce(port, '{"op":"status"}')).includes('"reader":0'));
  const began = performance.now();
  const posted = post(port, 'reader');
  const reply = await waiting;
  const took = performance.now() - began;
  if (!reply.startsWith('{"ok":true,"message":{"from":"poster"')) throw new Error(`the waiting reader got ${reply}`);
  await posted;
  return took;
}

async function ask(sender: BusClient, to: string): Promise<void> {
  const { data, shown } = await sender.call('send', { to, text: nextText(), wait_seconds: 30 });
  if (data.request !== 'answered') throw new Error(`the agent's answer is missing: ${JSON.stringify(data)}`);
  sender.shown(shown, 'answer');
}
