/** The scripted agents of `npm start -- --demo`, on a real hub. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cast } from '../../scripts/demo/cast.ts';
import { runDemo, type Demo } from '../../scripts/demo/runDemo.ts';
import type { BusClient } from '../../src/client/busClient.ts';
import type { ConversationSummary } from '../../src/core/reading.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

describe('the demo', () => {
  let hub: HubProcess;
  let person: BusClient;
  let demo: Demo;

  before(async () => {
    hub = await HubProcess.start();
    person = await hub.client();
    demo = await runDemo({ home: hub.home, pace: 0.001, rounds: 1 });
  });

  after(async () => {
    await demo.stop();
    await hub.dispose();
  });

  async function conversations(): Promise<ConversationSummary[]> {
    const { data } = await person.call('conversations', { limit: 100 });
    return 'conversations' in data ? data.conversations : [];
  }

  /** The texts of a conversation whose members, other than the person, are these. */
  async function texts(...members: string[]): Promise<string[]> {
    const wanted = members.toSorted().join();
    const found = (await conversations()).find(
      (entry) =>
        entry.title === members[0] ||
        entry.members
          .filter((name) => name !== 'person')
          .toSorted()
          .join() === wanted,
    );
    if (!found) return [];
    const { data } = await person.call('conversation', { id: found.id, limit: 100 });
    return data.messages.map((message) => message.text);
  }

  test('has a history as soon as it runs: agents, a channel, a group, direct talks', async () => {
    const { agents } = (await person.call('agents', {})).data;
    const names = Object.values(cast).map(({ name }) => name);
    assert.deepEqual(agents.map(({ name }) => name).toSorted(), names.toSorted());
    assert.ok(agents.every(({ about }) => about));
    const kinds = new Set((await conversations()).map(({ kind }) => kind));
    assert.deepEqual([...kinds].toSorted(), ['channel', 'direct', 'group']);
    const talk = await texts('shop-api-copilot', 'shop-web-copilot');
    assert.match(talk.join('\n'), /```json[^]*total_cents/);
  });

  test('plays its rounds, one question at a time, and ends by itself', async () => {
    await demo.ended;
    assert.match((await texts('#release')).join('\n'), /Build \*\*311\*\*/);
    const { data } = await person.call('inbox', { filter: 'open', kind: 'request' });
    assert.deepEqual(
      data.messages.map(({ id }) => id),
      [demo.question],
    );
    // The other one is with an agent that is busy.
    assert.equal((await hub.status()).pendingRequests, 2);
  });

  test('an agent goes on when the person has answered its question', async () => {
    const { data } = await person.call('inbox', { filter: 'all', kind: 'request' });
    const question = data.messages.find(({ id }) => id === demo.question);
    assert.equal(question?.options?.length, 3);
    await person.call('send', { reply_to: demo.question, text: question?.options?.[0] ?? '' });
    await until('the release is out', async () => (await texts('release-bot')).some((text) => text.includes('is out')));
    assert.match((await texts('#release')).join('\n'), /The person says \*\*go\*\*/);
  });

  test('an agent that is written to answers, and says what it is', async () => {
    const sent = await person.call('send', { to: 'shop-api-claude', text: 'How far are you?', wait_seconds: 30 });
    assert.match(sent.data.answer?.text ?? '', /scripted/);
  });

  test('stops with its hub without a word', async () => {
    await hub.stop();
    await demo.stop();
  });
});
