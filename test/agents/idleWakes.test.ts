/** Idle sessions of the real products, woken by nothing but a message that somebody sends. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askingLaunch, askingStep, asks } from '../support/agents/asking.ts';
import { ConnectedSession } from '../support/agents/connectedSession.ts';
import { idleSetups } from '../support/agents/idleSetups.ts';
import { recordReach } from '../support/agents/reachTable.ts';
import { pause, until } from '../support/hubProcess.ts';

const draft = 'half a draft';
/** Long enough for something that must not happen. */
const aWhile = 2_000;
const { rewake, extension, geminiShell, copilotShell } = idleSetups;
const setups = [rewake, extension, geminiShell, copilotShell];

for (const setup of setups) {
  const name = `${setup.product.name}, woken by its ${setup.route}`;
  describe(name, () => {
    test('again and again, beside a draft, and after the hub was killed', async (t) => {
      const session = await ConnectedSession.open(t, setup);
      await wake(session, 1);
      await session.terminal.type(draft);
      await session.terminal.shows(draft);
      await wake(session, 2);
      assert.ok((await session.terminal.screen()).includes(draft), 'what the person was writing is still there');
      // The end of the turn has been heard: what becomes of one that was not is in limits.test.ts.
      await session.canBeWoken();
      await session.room.crashHub();
      await wake(session, 3, true);
      assert.deepEqual(session.room.model.faults, []);
    });

    test('once for twenty messages', async (t) => {
      const session = await ConnectedSession.open(t, setup);
      const rounds = Array.from({ length: 20 }, (_, i) => i + 1);
      const before = session.room.model.turns.length;
      const ids = await Promise.all(rounds.map((round) => session.ask(round)));
      await session.answered(1);
      await until('all of them were seen', async () => {
        const seen = await Promise.all(ids.map((id) => session.steps(id)));
        return seen.every((steps) => steps.some((step) => /^(shown|replied)/.test(step)));
      });
      const begun = session.room.model.turns.slice(before).filter(({ fresh }) => /wake-[\w-]{22}/.test(fresh));
      assert.equal(begun.length, 1, 'one turn was begun for all of them');
      assert.deepEqual(session.room.model.faults, []);
    });

    test('killed, it leaves nobody who waits, and a sender is told no more than is true', async (t) => {
      const session = await ConnectedSession.open(t, setup);
      assert.equal(session.waiters().length, 1);
      session.killProduct();
      await until('nobody waits for it any more', () => session.waiters().length === 0);
      await until('it is known to be gone', async () => {
        const view = await session.view();
        return view?.presence === 'offline' && !view.reach.includes(setup.route);
      });
      const id = await session.ask(1);
      await pause(aWhile);
      assert.deepEqual(
        (await session.steps(id)).filter((step) => !step.startsWith('stored')),
        [],
      );
    });
  });
}

for (const setup of [rewake, extension]) {
  describe(`${setup.product.name}, at a question to its person`, () => {
    test('is not woken; it hears when that is answered', async (t) => {
      const session = await ConnectedSession.open(t, setup, (own) => askingLaunch(setup.product, own));
      const { room, terminal } = session;
      session.does(askingStep(setup.product));
      const before = room.model.turns.length;
      await terminal.submit('Touch it.', () => room.model.turns.length > before);
      await terminal.shows(asks);
      const asked = room.model.turns.length;
      const id = await session.ask(1);
      await pause(aWhile);
      assert.equal(room.model.turns.length, asked, 'nothing happens meanwhile');
      assert.match(await terminal.screen(), asks, 'the question is still open');
      assert.ok(!(await session.steps(id)).some((step) => step.startsWith('shown')));
      await terminal.press('Enter');
      await session.answered(1);
      assert.equal(session.timesHeard(1), 1);
      assert.deepEqual(room.model.faults, []);
    });
  });
}

for (const setup of [rewake, extension, geminiShell]) {
  describe(`${setup.product.name}, with a wake on its way`, () => {
    test('hears it once, or twice if nobody could know, when the hub is killed then', async (t) => {
      const session = await ConnectedSession.open(t, setup);
      const before = session.room.model.turns.length;
      const id = await session.ask(1);
      const [waiter] = session.waiters();
      await until('the wake is on its way', () => {
        return session.waiters()[0] !== waiter || session.room.model.turns.length > before || undefined;
      });
      await session.room.crashHub();
      await session.answered(1);
      await until('the receipt says so', async () => (await session.steps(id)).some((step) => /^replied/.test(step)));
      await session.canBeWoken();
      await pause(aWhile);
      const times = session.timesHeard(1);
      assert.ok(times === 1 || times === 2, `it was heard ${times} times`);
      assert.deepEqual(session.room.model.faults, []);
    });
  });
}

describe('claude', () => {
  test('is the same agent after /clear, and woken there; who waited for the old session has gone', async (t) => {
    const session = await ConnectedSession.open(t, rewake);
    const [old] = session.waiters();
    await session.terminal.idle();
    await session.terminal.submit('/clear', () => !session.waiters().includes(old ?? 0));
    await session.canBeWoken();
    assert.equal(session.waiters().length, 1);
    await wake(session, 1);
    assert.deepEqual(session.room.model.faults, []);
  });
});

/** Sends a question to the idle session, and sees what becomes of it. */
async function wake(session: ConnectedSession, round: number, crashed = false): Promise<void> {
  const { setup } = session;
  await session.canBeWoken();
  const began = performance.now();
  const id = await session.ask(round);
  const turn = await session.answered(round);
  assert.equal(session.timesHeard(round), 1, 'once');
  const steps = await until('the receipt is complete', async () => {
    const found = await session.steps(id);
    return found.some((step) => step.startsWith('replied')) ? found : undefined;
  });
  assert.deepEqual(steps.slice(0, 1), [`offered turn ${setup.route}`]);
  assert.match(steps[1] ?? '', /^shown /);
  const proof = `offered by that route; ${steps[1]} before its answer came back`;
  const latencyMs = turn.at - began;
  recordReach({ product: setup.product.name, state: 'idle', route: setup.route, latencyMs, proof, crashed });
}
