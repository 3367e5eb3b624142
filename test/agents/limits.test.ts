/** What does not work, or only after a while, and that nobody is told otherwise. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { AgentSession } from '../support/agents/agentSession.ts';
import { claude } from '../support/agents/products/claude.ts';
import { codex } from '../support/agents/products/codex.ts';
import { copilot } from '../support/agents/products/copilot.ts';
import { gemini } from '../support/agents/products/gemini.ts';
import { recordReach } from '../support/agents/reachTable.ts';
import { pause, until } from '../support/hubProcess.ts';

/** Long enough for something that must not happen. */
const aWhile = 2_000;
const question = 'Which branch is yours';

for (const product of [gemini, copilot]) {
  describe(`${product.name}, connected without --experimental`, () => {
    test('is not woken; it hears with the next prompt of its person', async (t) => {
      const room = await AgentRoom.open(t);
      const ann = await neighbour(room);
      const session = await AgentSession.open(product, room);
      const name = `shop-api-${product.agent}`;
      await session.ask('Good morning.');
      const agent = await until('it is idle', async () => {
        const { agents } = (await ann.call('agents', { query: name })).data;
        return agents.find((one) => one.name === name && one.presence === 'idle');
      });
      assert.deepEqual(agent.reach, ['its next turn', 'inbox']);
      const before = room.model.turns.length;
      const { id } = (await ann.call('send', { to: [name], text: question, kind: 'request' })).data;
      await pause(aWhile);
      assert.equal(room.model.turns.length, before, 'no turn was begun');
      assert.deepEqual(await stepsOf(ann, id), []);
      const turn = await session.ask('What is new.');
      assert.ok(turn.text.includes(question));
      const proof =
        'without `connect --experimental` nothing starts a turn; it heard with the next prompt of its person';
      recordReach({ product: product.name, state: 'idle', route: 'none', proof });
      assert.deepEqual(room.model.faults, []);
    });
  });
}

describe('claude, whose turn ends while there is no hub', () => {
  test('is taken for busy at first, and woken when nothing was heard of that turn for long', async (t) => {
    const room = await AgentRoom.open(t);
    const ann = await neighbour(room);
    const session = await AgentSession.open(claude, room);
    room.hub.configure({ reach: { staleSeconds: 5 } });
    room.model.followSteps(async () => {
      await room.hub.kill();
      return { say: 'I am through.' };
    });
    await session.ask('Good morning.');
    await session.terminal.shows('I am through.');
    await session.terminal.quiet();
    // Unless its bridge was faster.
    await room.hub.start().catch(() => undefined);
    const { id } = await until('the bus is back', async () => {
      const sent = await ann
        .call('send', { to: ['shop-api-claude'], text: question, kind: 'request' })
        .catch(() => undefined);
      return sent?.data;
    });
    await room.model.hears(question);
    await until('it is shown', async () => (await stepsOf(ann, id)).includes('shown'));
    assert.deepEqual(room.model.faults, []);
  });
});

describe('codex exec whose hooks were not approved', () => {
  test('hears by tools of the bus only, and not at all once it is over', async (t) => {
    const room = await AgentRoom.open(t);
    const ann = await neighbour(room);
    codex.configure(room, {});
    await room.agentBusRun('connect', 'codex').done();
    const to = ['shop-api-codex'];
    room.model.followSteps(
      { call: 'agents' },
      async () => {
        await ann.call('send', { to, text: 'The build is red.', kind: 'inform' });
        return codex.shell('echo hi');
      },
      { call: 'agents' },
      async () => {
        await ann.call('send', { to, text: question, kind: 'request' });
        return { say: 'I am through.' };
      },
    );
    const launch = codex.headless(room, 'Say hi.');
    const args = launch.args.filter((arg) => arg !== '--dangerously-bypass-hook-trust');
    await room.run({ ...launch, args }).done();
    assert.deepEqual(room.model.faults, []);
    const { turns } = room.model;
    assert.deepEqual(
      turns.map(({ text }) => text.includes('The build is red.')),
      [false, false, false, true],
      'with the result of a tool of the bus, not of another one',
    );
    const how = 'while its hooks are not approved: it heard with its next call of a tool of the bus';
    recordReach({ product: 'codex', state: 'busy', route: 'none', proof: how });
    assert.ok(!turns.some(({ text }) => text.includes(question)), 'the turn was not held up');
    const end = 'while its hooks are not approved, its turn ends without a word';
    recordReach({ product: 'codex', state: 'at the end of a turn', route: 'none', proof: end });

    const { id } = (await ann.call('send', { to, text: 'Are you there', kind: 'request' })).data;
    await pause(aWhile);
    assert.deepEqual(await stepsOf(ann, id), []);
    const over = '`codex exec` is over with its turn: a message waits for the next session in that folder';
    recordReach({ product: 'codex', state: 'idle', route: 'none', proof: over });
  });
});

/** Of the same workspace, so that nobody has to be asked. */
function neighbour(room: AgentRoom): Promise<BusClient> {
  return room.hub.client({ attach: { workspace: room.workspace, product: 'test', name: 'ann' }, reconnect: true });
}

/** What a sender is told beyond that it is stored. */
async function stepsOf(ann: BusClient, id: string): Promise<string[]> {
  const { recipients } = (await ann.call('status', { id })).data;
  return recipients.flatMap(({ steps }) => steps.map(({ step }) => step)).filter((step) => step !== 'stored');
}
