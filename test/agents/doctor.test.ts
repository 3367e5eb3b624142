import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentReach } from '../../src/protocol/reachMessages.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { claude } from '../support/agents/products/claude.ts';
import { codex } from '../support/agents/products/codex.ts';
import { reviewHooks } from '../support/agents/products/codexReview.ts';

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** It ends with 7 when something needs the person. */
async function doctor(room: AgentRoom, ...args: string[]): Promise<string> {
  return (await room.agentBusRun('doctor', ...args).result).output;
}

test('doctor names the ways of Claude Code that were seen to work, and no others', async (t) => {
  const room = await AgentRoom.open(t);
  claude.configure(room, {});
  await room.agentBusRun('connect', 'claude').done();
  room.model.followSteps(claude.shell('echo hi'), { say: 'Done.' });
  const terminal = await room.terminal(claude.interactive(room));
  await terminal.shows(claude.ready);
  const before = await doctor(room, 'shop-api-claude');
  assert.doesNotMatch(before, /next tool call|before it ends/, 'neither was heard yet');
  await terminal.submit('Say hi.', () => room.model.turns.length > 0);
  await terminal.shows('Done.');
  await terminal.idle();
  const after = await doctor(room, 'shop-api-claude');
  assert.match(after, /^ {2}while busy {3}next tool call/m);
  assert.match(after, /^ {2}end of turn {2}before it ends/m);
  assert.match(await doctor(room), /^ {2}Claude Code {2}connected/m);
});

test('doctor says that the hooks of Codex wait for approval, and no more once they have run', async (t) => {
  const room = await AgentRoom.open(t);
  codex.configure(room, {});
  await room.agentBusRun('connect', 'codex').done();
  room.model.followSteps({ say: 'One.' }, { say: 'Two.' });
  const first = await room.terminal(codex.interactive(room, 'Say one.'));
  await reviewHooks(first, 3);
  await room.model.hears('Say one.');
  assert.match(
    flat(await doctor(room)),
    /! Codex connected its hooks were not heard yet → .* approve them with \/hooks/,
  );
  await first.end();

  const second = await room.terminal(codex.interactive(room, 'Say two.'));
  await reviewHooks(second, 2);
  await room.model.hears('Say two.');
  await second.shows('Two.');
  await second.idle();
  const after = await doctor(room);
  assert.doesNotMatch(after, /approve them/);
  assert.match(after, /^ {2}Codex {8}connected$/m);
  const { agents } = JSON.parse(await doctor(room, '--json')) as { agents: AgentReach[] };
  const heard = agents.find(({ hooks }) => hooks);
  assert.equal(heard?.end_of_turn.how, 'before it ends');
});
