import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

// The hub looks for old mail half a minute after its start.
test('old mail is deleted once it is read, and never before', async () => {
  // Less than a second is old.
  const hub = await HubProcess.start({ settings: { retention: { days: 0.000_01 } } });
  try {
    const [ann, bob, cy] = await hub.strangers(3);
    const send = async (to: BusClient | string[], text: string, more: object = {}): Promise<string> =>
      (await ann.call('send', { to: Array.isArray(to) ? to : to.agent, text, ...more })).data.id;
    const done = [
      await send(bob, 'done'),
      await send(bob, 'answered', { kind: 'request' }),
      await send(bob, 'cancelled', { kind: 'request' }),
    ];
    await bob.call('ack', { ids: [done[0] ?? ''] });
    const reply = (await bob.call('send', { reply_to: done[1] ?? '', text: 'the answer' })).data.id;
    await ann.call('status', { id: done[2] ?? '', cancel: true });
    const unread = await send(bob, 'unread');
    const halfRead = await send([bob.agent, cy.agent], 'read by one of two');
    await cy.call('ack', { ids: [halfRead] });
    const pending = await send(bob, 'pending', { kind: 'request' });
    const { shown } = await bob.call('inbox', { kind: 'request' });
    bob.shown(shown);
    const before = (await hub.status()).messages;
    await until('something is deleted', async () => (await hub.status()).messages < before);
    await until('all that may go is gone', async () => (await hub.status()).messages === 4);
    for (const id of done) await assert.rejects(ann.call('status', { id }), { code: 'unknown-message' });
    const kept = (await bob.call('inbox', { filter: 'open' })).data.messages.map(({ id }) => id);
    assert.deepEqual(kept, [unread, halfRead, pending]);
    assert.deepEqual(
      (await ann.call('inbox', {})).data.messages.map(({ id }) => id),
      [reply],
      'unread by its recipient',
    );
    assert.equal((await ann.call('status', { id: pending })).data.request?.state, 'pending');
    const history = (await bob.call('conversation', { with: ann.agent })).data.messages.map(({ id }) => id);
    assert.deepEqual(history, [reply, unread, pending]);
    // What was said is not found any more, and ids are not used again.
    assert.deepEqual((await ann.call('conversations', { query: 'cancelled' })).data, { query: 'cancelled', hits: [] });
    await hub.kill();
    await hub.start();
    const again = await hub.client({ as: ann.agent });
    const next = (await again.call('send', { to: bob.agent, text: 'new' })).data.id;
    assert.ok(Number.parseInt(next.slice(1), 36) > Number.parseInt(pending.slice(1), 36));
  } finally {
    await hub.dispose();
  }
});
