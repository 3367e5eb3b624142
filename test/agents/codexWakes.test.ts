import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { Turn } from '../support/agents/agentModel.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import type { AgentTerminal } from '../support/agents/agentTerminal.ts';
import { codexSession, connectCodex, turnOver, type CodexOptions } from '../support/agents/codexSession.ts';
import type { Step } from '../support/agents/modelWire.ts';
import { recordReach } from '../support/agents/reachTable.ts';
import { until } from '../support/hubProcess.ts';

const name = 'shop-api-codex';
const draft = 'half a draft';
const over: Step = { say: turnOver };

interface Scene {
  room: AgentRoom;
  ann: BusClient;
  terminal: AgentTerminal;
}

async function scene(t: TestContext, options: CodexOptions): Promise<Scene> {
  const room = await AgentRoom.open(t);
  const ann = await neighbour(room);
  await connectCodex(room);
  room.model.follow(answering);
  const terminal = await codexSession(room, options);
  await resting(ann);
  return { room, ann, terminal };
}

/** Answers every question that has come in a prompt, then the turn is over. */
function answering(turn: Turn): Step {
  const asked = /Question (\d+)/.exec(turn.fresh);
  const id = /<message id="(m\w+)"[^>]*>\s*Question/.exec(turn.fresh)?.[1];
  if (asked && id) return { call: 'send', with: { reply_to: id, text: `Answer ${asked[1]}` } };
  return over;
}

async function ask(ann: BusClient, text: string, to = name): Promise<string> {
  const { data } = await ann.call('send', { to: [to], text, kind: 'request' });
  return data.id;
}

/** Sends a question and waits for its answer; gives the steps of the receipt. */
async function wake({ room, ann, terminal }: Scene, number: number): Promise<{ turn: Turn; latencyMs: number }> {
  const began = performance.now();
  const id = await ask(ann, `Question ${number}`);
  const turn = await room.model.hears(`Question ${number}`);
  await until('the answer has come', async () => {
    assert.deepEqual(room.model.faults, []);
    return isAnswered(ann, id);
  });
  await terminal.idle();
  await resting(ann);
  return { turn, latencyMs: turn.at - began };
}

/** Nothing is known for as long as there is no hub. */
async function isAnswered(ann: BusClient, id: string): Promise<boolean> {
  const status = await ann.call('status', { id }).catch(() => undefined);
  return status?.data.request?.state === 'answered';
}

/** Somebody of the same workspace: nobody has to be asked whether they may wake it. */
function neighbour(room: AgentRoom): Promise<BusClient> {
  return room.hub.client({ attach: { workspace: room.workspace, product: 'test', name: 'ann' }, reconnect: true });
}

/** How often a turn was begun for the bus. */
function wakes(room: AgentRoom): number {
  return room.model.turns.filter(({ fresh }) => /\(wake-[\w-]{22}\)/.test(fresh)).length;
}

const kinds: { route: string; options: CodexOptions }[] = [
  { route: 'control socket', options: { review: 2 } },
  { route: 'control socket, hooks not approved', options: { review: 3 } },
  { route: 'codex queue', options: { review: 2, alone: true } },
];

describe('an idle Codex', () => {
  for (const { route, options } of kinds) {
    test(`is woken by a message alone (${route}): again and again, beside a draft, over a crash of the hub`, async (t) => {
      const at = await scene(t, options);
      const first = await wake(at, 1);
      await at.terminal.type(draft);
      await at.terminal.shows(draft);
      const second = await wake(at, 2);
      assert.ok((await at.terminal.screen()).includes(draft), 'what the person was writing is still there');
      await at.room.crashHub();
      const third = await wake(at, 3);
      const proof = 'the text was in a request of the model in a new turn, and its answer came back';
      for (const { latencyMs } of [first, second, third]) {
        recordReach({
          product: 'codex',
          state: 'idle',
          route,
          latencyMs,
          proof,
          crashed: latencyMs === third.latencyMs,
        });
      }
      assert.deepEqual(at.room.model.faults, []);
    });
  }

  test('that asks its person something is left alone until that is decided', async (t) => {
    // With the hooks approved the message would come along with the result of the tool.
    const at = await scene(t, { review: 3, asks: true });
    const { room, ann, terminal } = at;
    const escalated = { cmd: 'echo hi', sandbox_permissions: 'require_escalated', justification: 'a test' };
    room.model.follow((turn) =>
      turn.fresh.includes('Do it.') ? { call: 'exec_command', with: escalated } : answering(turn),
    );
    await terminal.submit('Do it.', () => room.model.turns.some(({ fresh }) => fresh.includes('Do it.')));
    await terminal.shows('Would you like to run');
    await until('the bus knows that it asks', async () => (await presence(ann)) === 'waiting');
    const id = await ask(ann, 'Question 1');
    await room.crashHub();
    await until('the bus knows it again', async () => (await presence(ann)) === 'waiting');
    const before = room.model.turns.length;
    await terminal.shows('Would you like to run');
    const { data } = await ann.call('status', { id });
    assert.equal(data.recipients[0]?.step, 'stored');
    await terminal.press('y');
    const turn = await room.model.hears('Question 1');
    assert.ok(turn.number > before + 1, 'the turn that had asked went on without it');
    await until('it is answered', () => isAnswered(ann, id));
    assert.deepEqual(room.model.faults, []);
  });

  test('is woken once by twenty messages', async (t) => {
    const { room, ann } = await scene(t, { review: 2 });
    const texts = Array.from({ length: 20 }, (_, number) => `Note ${number + 1}.`);
    room.model.follow((turn) => (unheard(room, texts).length > 0 ? { call: 'inbox' } : answering(turn)));
    await Promise.all(texts.map((text) => ask(ann, text)));
    await until('the model has heard them all', () => unheard(room, texts).length === 0);
    assert.equal(wakes(room), 1);
    assert.deepEqual(room.model.faults, []);
  });

  test('is woken once when the hub is killed under the wake, and its answer gets through', async (t) => {
    const at = await scene(t, { review: 2 });
    const { room, ann } = at;
    let crashes = 0;
    room.model.follow(async (turn) => {
      const step = answering(turn);
      if ('call' in step && ++crashes === 1) await room.crashHub();
      return step;
    });
    const id = await ask(ann, 'Question 1');
    await until('it is answered', () => isAnswered(ann, id));
    assert.equal(wakes(room), 1);
    await resting(ann);
    await wake(at, 2);
    assert.deepEqual(room.model.faults, []);
  });

  test('of two in one workspace the one that is meant is woken', async (t) => {
    const { room, ann } = await scene(t, { review: 2, first: 'I am the first.' });
    await codexSession(room, { first: 'I am the second.' });
    await codexSession(room, { first: 'I am the third.', alone: true });
    const names = ['first', 'second', 'third'];
    for (const [at, which] of names.entries()) {
      const agent = await until('its name', () => nameOf(room, `I am the ${which}.`));
      await ask(ann, `Question ${at + 1}`, agent);
      const turn = await room.model.hears(`Question ${at + 1}`);
      assert.ok(turn.text.includes(`I am the ${which}.`), `${agent} is the ${which}`);
      assert.equal(names.filter((other) => turn.text.includes(`I am the ${other}.`)).length, 1);
    }
    assert.deepEqual(room.model.faults, []);
  });
});

/** The end of its turn has been told. */
async function resting(ann: BusClient): Promise<void> {
  await until('the bus knows that it is idle', async () => (await presence(ann)) === 'idle');
}

async function presence(ann: BusClient): Promise<string | undefined> {
  return (await ann.call('agents', {})).data.agents.find((agent) => agent.name === name)?.presence;
}

function unheard(room: AgentRoom, texts: readonly string[]): string[] {
  return texts.filter((text) => !room.model.turns.some((turn) => turn.text.includes(text)));
}

/** What the session was told at its start. */
function nameOf(room: AgentRoom, first: string): string | undefined {
  const turn = room.model.turns.find(({ text }) => text.includes(first));
  return /You are "(shop-api-codex(?:-\d+)?)"/.exec(turn?.text ?? '')?.[1];
}
