import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { Product } from '../support/agents/agentProduct.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { allProducts } from '../support/agents/allProducts.ts';
import { recordReach } from '../support/agents/reachTable.ts';
import { idBefore } from '../support/agents/role.ts';
import { until } from '../support/hubProcess.ts';

for (const product of allProducts) {
  describe(`${product.name}, connected by agent-bus connect`, () => {
    test('hears who it is at its start, a message between two tools, and a question before it stops', async (t) => {
      await livesThroughATurn(product, await AgentRoom.open(t), false);
    });

    test('hears all of it also where the hub is killed after each message, and its answer gets through', async (t) => {
      await livesThroughATurn(product, await AgentRoom.open(t), true);
    });
  });
}

const news = 'The build is red.';
const question = 'Which branch is yours?';

const answer = 'It is main.';

async function livesThroughATurn(product: Product, room: AgentRoom, crashed: boolean): Promise<void> {
  const [ann] = await room.hub.agents(['ann'], { reconnect: true });
  product.configure(room, {});
  await room.agentBusRun('connect', product.name).done();

  let name = '';
  const sentAt = new Map<string, number>();
  let asked = '';
  const send = async (text: string, kind: 'inform' | 'request') => {
    sentAt.set(text, performance.now());
    asked = (await ann.call('send', { to: [name], text, kind })).data.id;
    if (crashed) await room.crashHub();
  };
  const hears = async (text: string, state: keyof typeof proofs) => {
    const turn = await room.model.hears(text);
    recordReach({ ...row(product, state), latencyMs: turn.at - (sentAt.get(text) ?? NaN), crashed });
    return turn;
  };
  room.model.followSteps(
    async () => {
      name = await agentNow(ann);
      await send(news, 'inform');
      return product.shell('echo hi');
    },
    async () => {
      await send(question, 'request');
      return { say: 'I am through.' };
    },
    async ({ fresh }) => {
      if (!crashed) return { say: 'I do not answer.' };
      await room.crashHub();
      return { call: 'send', with: { reply_to: idBefore(fresh, question), text: answer } };
    },
  );
  const run = room.run(product.headless(room, 'Say hi.'));

  const start = await room.model.turn('begins', ({ number }) => number === 1);
  const informed = await hears(news, 'busy');
  assert.equal(informed.number, 2, 'with the result of the tool that ran meanwhile');
  assert.ok(start.text.includes(name), `it is told at the start that it is ${name}`);
  recordReach(row(product, 'starts'));

  const held = await hears(question, 'at the end of a turn');
  assert.equal(held.number, 3, 'the turn did not end before it was told');
  await run.done();
  if (crashed) {
    await until(`it is answered: ${room.model.turns.at(-1)?.fresh}`, async () => {
      // A hub that the product's own bridge has started may go with the product.
      const person = await room.hub.client({ start: true }).catch(() => undefined);
      const status = await person?.call('status', { id: asked }).catch(() => undefined);
      if (person) room.hub.close(person);
      return status?.data.request?.state === 'answered';
    });
  }
  assert.equal(room.model.turns.length, crashed ? 4 : 3, 'it was held up once, and could go without an answer');
  assert.deepEqual(room.model.faults, []);
}

const proofs = {
  starts: 'its name was in the first request of the model',
  busy: 'the text was in the next request of the model, with the result of the tool that ran',
  'at the end of a turn': 'the text was in a request of the model before the turn ended; it was held up once only',
};

function row(product: Product, state: keyof typeof proofs) {
  return { product: product.name, state, route: 'hook', proof: proofs[state] };
}

/** The one that has come besides ann and the person. */
function agentNow(ann: BusClient): Promise<string> {
  return until('the product is on the bus', async () => {
    const { data } = await ann.call('agents', {});
    return data.agents.find(({ kind, presence }) => kind === 'agent' && presence !== 'offline')?.name;
  });
}
