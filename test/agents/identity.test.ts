import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { Turn } from '../support/agents/agentModel.ts';
import type { Product } from '../support/agents/agentProduct.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { AgentSession } from '../support/agents/agentSession.ts';
import { allProducts } from '../support/agents/allProducts.ts';
import { until } from '../support/hubProcess.ts';

for (const product of allProducts) {
  const name = `shop-api-${product.agent}`;

  describe(`${product.name}, connected by agent-bus connect`, () => {
    test('is the same agent after a restart of both, and two agents where two run at once', async (t) => {
      const room = await AgentRoom.open(t);
      product.configure(room, {});
      await room.agentBusRun('connect', product.name).done();

      assert.deepEqual(await namesOf(product, room, 1), [name]);
      await room.crashHub();
      assert.deepEqual(await namesOf(product, room, 1), [name]);
      const both = await namesOf(product, room, 2);
      assert.equal(new Set(both).size, 2, `two names: ${both.join(', ')}`);
      assert.ok(both.includes(name), 'and one of them is the old one');
    });

    test('is the same agent in a new conversation, and after a summary of the old one', async (t) => {
      const room = await AgentRoom.open(t);
      const person = await room.hub.client({ reconnect: true });
      room.model.follow(({ fresh }) => (fresh.includes('Who are you') ? { call: 'agents' } : { say: 'Thanks.' }));
      const session = await AgentSession.open(product, room);
      const { clear, compact } = product.commands;
      assert.equal(await nameHeard(session, 'Who are you at first'), name);
      await session.command(clear);
      await cleared(session, person);
      assert.equal(await nameHeard(session, 'Who are you now'), name);
      await session.command(compact);
      assert.equal(await nameHeard(session, 'Who are you after all'), name);

      const { agents } = (await person.call('agents', {})).data;
      const others = agents.filter((agent) => agent.kind === 'agent' && agent.name !== name);
      assert.deepEqual(others, [], 'there never was another one');
      assert.deepEqual(room.model.faults, []);
    });
  });
}

/** Runs so many sessions, all at the same time, and gives the name that each of them has heard. */
async function namesOf(product: Product, room: AgentRoom, sessions: number): Promise<string[]> {
  const told: string[] = [];
  room.model.follow(async (turn) => {
    const name = toldByTool(turn);
    if (name === undefined) return { call: 'agents' };
    assert.equal(toldByHook(turn), name, 'the hook has told the same');
    told.push(name);
    await until('the others are there', () => told.length === sessions);
    return { say: 'Thanks.' };
  });
  const runs = Array.from({ length: sessions }, () => room.run(product.headless(room, 'Who are you?')));
  for (const run of runs) await run.done();
  assert.deepEqual(room.model.faults, []);
  return told;
}

async function nameHeard(session: AgentSession, prompt: string): Promise<string | undefined> {
  const { model } = session.room;
  const asked = await session.ask(prompt);
  const turn = await model.turn('is told', (one) => one.number > asked.number && toldByTool(one) !== undefined);
  const name = toldByTool(turn);
  // Not every product hands on what its hook says at the beginning of a second conversation.
  assert.ok([name, undefined].includes(toldByHook(turn)), 'the hook has told the same, if anything');
  return name;
}

/** The product itself has left the old conversation. */
async function cleared({ product, terminal }: AgentSession, person: BusClient): Promise<void> {
  if (product.name === 'copilot') await terminal.shows('MCP Servers reloaded: 1 server connected');
  if (product.name !== 'codex') return;
  await until('the bus knows that nobody is before the old session', async () => {
    const [agent] = await person.request('reach', { agent: 'shop-api-codex' });
    // The old session's bridge stays for a minute.
    return agent?.state === 'gone' || agent?.state === 'unknown';
  });
}

function toldByTool({ items }: Turn): string | undefined {
  const result = items.findLast(({ by }) => by === 'result')?.text.replaceAll('\\"', '"') ?? '';
  const name = /You are ([a-z0-9-]+)|"you":\{"name":"([a-z0-9-]+)"/.exec(result);
  return name?.[1] ?? name?.[2];
}

function toldByHook({ text }: Turn): string | undefined {
  return [...text.matchAll(/You are "([a-z0-9-]+)" on Agent Bus/g)].at(-1)?.[1];
}
