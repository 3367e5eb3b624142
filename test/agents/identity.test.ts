import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Product } from '../support/agents/agentProduct.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import type { Turn } from '../support/agents/agentModel.ts';
import { allProducts } from '../support/agents/allProducts.ts';
import { until } from '../support/hubProcess.ts';

for (const product of allProducts) {
  describe(`${product.name}, connected by agent-bus connect`, () => {
    test('is the same agent after a restart of both, and two agents where two run at once', async (t) => {
      const room = await AgentRoom.open(t);
      product.configure(room, {});
      await room.agentBusRun('connect', product.name).done();

      const first = await namesOf(product, room, 1);
      assert.deepEqual(first, [`shop-api-${product.agent}`]);
      await room.crashHub();
      assert.deepEqual(await namesOf(product, room, 1), first);
      const both = await namesOf(product, room, 2);
      assert.equal(new Set(both).size, 2, `two names: ${both.join(', ')}`);
      assert.ok(both.includes(first[0] ?? ''), 'and one of them is the old one');
      assert.deepEqual(room.model.faults, []);
    });
  });
}

/** Runs so many sessions, all at the same time, and gives the name that each of them has heard. */
async function namesOf(product: Product, room: AgentRoom, sessions: number): Promise<string[]> {
  const told: string[] = [];
  room.model.follow(async (turn) => {
    const name = nameIn(turn);
    if (name === undefined) return { call: 'agents' };
    told.push(name);
    await until('the others are there', () => told.length === sessions);
    return { say: 'Thanks.' };
  });
  const runs = Array.from({ length: sessions }, () => room.run(product.headless(room, 'Who are you?')));
  for (const run of runs) await run.done();
  assert.deepEqual(room.model.faults, []);
  return told;
}

/** From the answer of the tool; the hook at the start has to have told the same. */
function nameIn({ items, text }: Turn): string | undefined {
  const result = items.findLast(({ by }) => by === 'result')?.text ?? '';
  const name = /You are ([a-z0-9-]+)|"you":\{"name":"([a-z0-9-]+)"/.exec(result.replaceAll('\\"', '"'));
  const told = name?.[1] ?? name?.[2];
  if (told !== undefined) assert.ok(text.replace(result, '').includes(told), `the hook has told ${told}, too`);
  return told;
}
