import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { codex } from '../support/agents/products/codex.ts';
import { reviewHooks } from '../support/agents/products/codexReview.ts';

test('codex runs the hooks of the bus once the person has approved them, and not before', async (t) => {
  const room = await AgentRoom.open(t);
  codex.configure(room, {});
  const said = await room.agentBusRun('connect', 'codex').done();
  assert.match(said, /review/i, 'connect says what is left to do');

  const first = await room.terminal(codex.interactive(room, 'Say hi.'));
  await first.shows('Hooks need review');
  assert.equal(room.model.turns.length, 0, 'the prompt waits');
  await reviewHooks(first, 3);
  const unaware = await room.model.hears('Say hi.');
  assert.ok(!unaware.text.includes('shop-api-codex'), 'nothing was told without approval');
  await first.end();

  const second = await room.terminal(codex.interactive(room, 'Say hi again.'));
  await reviewHooks(second, 2);
  const aware = await room.model.hears('Say hi again.');
  assert.ok(aware.text.includes('shop-api-codex'), 'it is told who it is');
  await second.end();

  const third = await room.terminal(codex.interactive(room, 'Say hi once more.'));
  const again = await room.model.hears('Say hi once more.');
  assert.ok(again.text.includes('shop-api-codex'), 'the approval stays');
  await third.end();
});
