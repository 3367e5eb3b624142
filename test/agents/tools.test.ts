import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusServer, Product } from '../support/agents/agentProduct.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { allProducts } from '../support/agents/allProducts.ts';

/** The two ways in which a product can be told of the bus by hand. */
const doors = {
  stdio: async (room) => ({
    server: { command: room.agentBus, args: ['mcp'] },
    agent: (product) => `shop-api-${product}`,
  }),
  http: async (room) => {
    const token = await room.hub.mint('web-caller');
    return { server: { url: room.hub.record.mcpUrl, token }, agent: () => 'web-caller' };
  },
} satisfies Record<string, (room: AgentRoom) => Promise<{ server: BusServer; agent: (product: string) => string }>>;

for (const product of allProducts) {
  describe(product.name, () => {
    for (const door of ['stdio', 'http'] as const) {
      test(`calls tools over ${door}, also after the hub was killed in the middle of the turn`, async (t) => {
        await callsTools(product, await AgentRoom.open(t), door);
      });
    }
  });
}

async function callsTools(product: Product, room: AgentRoom, door: keyof typeof doors): Promise<void> {
  const { server, agent } = await doors[door](room);
  const name = agent(product.agent);
  const [ann] = await room.hub.agents(['ann'], { reconnect: true });
  product.configure(room, { mcp: server });
  const text = `What does GET /orders return? (${door})`;
  room.model.followSteps(
    { call: 'agents' },
    { call: 'send', with: { to: ['ann'], text, kind: 'request' } },
    async () => {
      const asked = (await ann.call('inbox', {})).data.messages[0];
      assert.equal(asked?.text, text);
      assert.equal(asked?.from, name);
      await ann.call('send', { to: [name], text: 'A list of orders.', reply_to: asked.id });
      await crash(room, door);
      return { call: 'inbox' };
    },
  );
  const run = room.run(product.headless(room, 'Ask ann what GET /orders returns.'));
  const introduced = await room.model.turn('is told who is here', ({ number }) => number === 2);
  assert.ok(introduced.fresh.includes(name), 'it is told who it is');
  assert.match(introduced.fresh, /\bann\b/, 'it is told who else is here');
  const answered = await room.model.hears('A list of orders.');
  assert.equal(answered.number, 4, 'the call right after the crash has the answer');
  await run.done();
  assert.deepEqual(room.model.faults, []);
}

/** Over HTTP somebody has to start the hub again; the bridge does so itself. */
async function crash(room: AgentRoom, door: keyof typeof doors): Promise<void> {
  await room.hub.kill();
  if (door === 'http') await room.hub.start();
}
