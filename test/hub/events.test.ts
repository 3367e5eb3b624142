import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

class Listener {
  readonly messages: string[] = [];
  readonly receipts: string[] = [];
  readonly requests: string[] = [];
  missed = 0;

  async listen(client: BusClient): Promise<void> {
    await client.subscribe({ onEvent: (event) => this.note(event), onMissed: () => this.missed++ });
  }

  private note(event: HubEvent): void {
    if (event.type === 'message') this.messages.push(event.message.text);
    if (event.type === 'receipt') this.receipts.push(`${event.message} ${event.receipt.step}`);
    if (event.type === 'request') this.requests.push(`${event.message} ${event.state}`);
  }
}

describe('events', () => {
  test('tell the sender, the recipient and the person, and nobody else', async () => {
    const hub = await HubProcess.start();
    try {
      const [ann, bob, cy] = await hub.strangers(3);
      const person = await hub.client();
      const listeners: Listener[] = [];
      for (const client of [ann, bob, cy, person]) {
        const listener = new Listener();
        await listener.listen(client);
        listeners.push(listener);
      }
      const { id } = (await ann.call('send', { to: bob.agent, text: 'psst', kind: 'request' })).data;
      const { shown } = await bob.call('inbox', {});
      bob.shown(shown);
      await until('it is shown', () => listeners[0]?.receipts.includes(`${id} shown`));
      await bob.call('send', { reply_to: id, text: 'what?' });
      const [forAnn, forBob, forCy, forPerson] = listeners;
      await until(
        'all have heard',
        () => forAnn!.requests.length + forBob!.requests.length + forPerson!.requests.length === 3,
      );
      for (const listener of [forAnn, forBob, forPerson]) {
        assert.deepEqual(listener?.messages, ['psst', 'what?']);
        assert.deepEqual(listener.receipts, [`${id} offered`, `${id} shown`, `${id} replied`]);
        assert.deepEqual(listener.requests, [`${id} answered`]);
      }
      await cy.call('agents', {});
      assert.deepEqual([forCy?.messages, forCy?.receipts, forCy?.requests], [[], [], []]);
    } finally {
      await hub.dispose();
    }
  });

  test('go on where they were over restarts of the hub: no gap, no repeat, in order', async () => {
    const random = seededRandom(testSeed());
    const hub = await HubProcess.start();
    try {
      const [bob] = await hub.strangers(1, { reconnect: true });
      await hub.mint('sender');
      const listener = new Listener();
      await listener.listen(bob);
      const expected: string[] = [];
      const acked: string[] = [];
      for (let round = 0; round < 12; round++) {
        const sender = await hub.client({ as: 'sender' });
        for (let i = 0; i < 20; i++) {
          const text = `round ${round} message ${i}`;
          const { id } = (await sender.call('send', { to: bob.agent, text })).data;
          expected.push(text);
          if (i % 5 === 0) {
            // As somebody else: the listener may not be back yet.
            const other = await hub.client({ as: bob.agent });
            await other.call('ack', { ids: [id] });
            acked.push(`${id} acked`);
            hub.close(other);
          }
        }
        await pause(random() * 60);
        hub.close(sender);
        await (random() < 0.7 ? hub.kill() : hub.stop());
        await hub.start();
      }
      await until(
        'all was heard',
        () => listener.messages.length >= expected.length && listener.receipts.length >= acked.length,
      );
      await bob.call('agents', {});
      assert.deepEqual(listener.messages, expected);
      assert.deepEqual(listener.receipts, acked);
      assert.equal(listener.missed, 0);
    } finally {
      await hub.dispose();
    }
  });

  test('say so when more was missed than can be told, or the history is another one', async () => {
    const hub = await HubProcess.start();
    try {
      const [ann] = await hub.strangers(1);
      const { cursor } = await ann.request('subscribe', {});
      assert.equal((await ann.request('subscribe', { cursor })).missed, false);
      for (const other of [
        '',
        'nonsense',
        `000000000000.0.0`,
        cursor.replace(/\.\w+\.\w+$/, '.zzz.0'),
        cursor.replace(/\.\w+$/, '.zzz'),
      ]) {
        assert.equal((await ann.request('subscribe', { cursor: other })).missed, true, other);
      }
    } finally {
      await hub.dispose();
    }
  });
});

describe('a hub that is frozen for a while', () => {
  test('answers late, and nothing is there twice', async () => {
    const hub = await HubProcess.start();
    const frozen = hub.record.pid;
    try {
      const [ann, bob] = await hub.strangers(2, { reconnect: true });
      await ann.call('send', { to: bob.agent, text: 'before' });
      process.kill(frozen, 'SIGSTOP');
      const calls = Array.from({ length: 20 }, (_, i) => ann.call('send', { to: bob.agent, text: `frozen ${i}` }));
      // An impatient sender gives up and repeats with the same key.
      const impatient = { to: bob.agent, text: 'impatient', key: 'again' };
      for (let i = 0; i < 3; i++) {
        await assert.rejects(ann.call('send', impatient, AbortSignal.timeout(500)), { code: 'cancelled' });
      }
      await pause(2_000);
      process.kill(frozen, 'SIGCONT');
      const sent = (await Promise.all(calls)).map(({ data }) => data.id);
      assert.equal(new Set(sent).size, 20);
      await ann.call('send', impatient);
      const { messages } = (await bob.call('inbox', { limit: 100 })).data;
      const texts = messages.map(({ text }) => text);
      assert.deepEqual(texts.slice(0, 21), ['before', ...Array.from({ length: 20 }, (_, i) => `frozen ${i}`)]);
      assert.deepEqual(texts.slice(21), ['impatient']);
      assert.equal(hub.record.pid, frozen);
    } finally {
      if (hub.running) process.kill(frozen, 'SIGCONT');
      await hub.dispose();
    }
  });
});
