/** The bus as its person looks at it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import { storyTextLength } from '../../src/protocol/storyMessages.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;
let person: BusClient;
before(async () => {
  hub = await HubProcess.start();
  person = await hub.client();
});
after(() => hub.dispose());

const overview = (filter: 'all' | 'unread' | 'waiting' = 'all', limit = 100) =>
  person.request('overview', { filter, limit });

async function seen(ids: string[]): Promise<void> {
  person.shown(ids);
  // A request after a notification is answered after it.
  await person.request('presence', { state: 'idle' });
}

describe('the overview', () => {
  test('has the conversations, newest first, with what is unread and what waits for the person', async () => {
    const [ann, bob] = await hub.agents(['ann', 'bob']);
    await ann.call('send', { to: 'bob', text: 'between us' });
    const note = (await ann.call('send', { to: 'person', text: 'a note\nof two lines' })).data;
    const question = (await bob.call('send', { to: 'person', text: 'may I?', options: ['yes', 'no'] })).data;
    const found = await overview();
    assert.deepEqual(
      found.conversations.map(({ title, unread, waiting, last }) => [title, unread, waiting, last?.line]),
      [
        ['bob', 1, 1, 'may I?'],
        ['ann', 1, 0, 'a note'],
        ['ann, bob', 0, 0, 'between us'],
      ],
    );
    assert.deepEqual(found.counts, { all: 3, unread: 2, waiting: 1 });
    assert.equal(found.unread, 2);
    assert.deepEqual(
      (await overview('waiting')).conversations.map(({ id }) => id),
      [question.conversation],
    );
    await seen([note.id, question.id]);
    const after = await overview('unread');
    assert.deepEqual(after.conversations, []);
    assert.deepEqual(after.counts, { all: 3, unread: 0, waiting: 1 }, 'seen is not answered');
    await person.call('send', { reply_to: question.id, text: 'yes' });
    assert.equal((await overview()).counts.waiting, 0);
  });

  test('is the person’s alone', async () => {
    const [cy] = await hub.agents(['cy']);
    for (const [method, params] of [
      ['overview', { filter: 'all', limit: 1 }],
      ['story', { conversation: 'c1', limit: 1 }],
      ['message', { id: 'm1' }],
      ['unread', { id: 'm1' }],
      ['consents', {}],
      ['forget', { from: 'a', to: 'b' }],
      ['release', { id: 'm1', verdict: 'once' }],
    ] as const) {
      await assert.rejects(cy.request(method, params), { code: 'forbidden' }, method);
    }
    const agent = await hub.client({ token: await hub.mint('cy') });
    await assert.rejects(agent.request('overview', { filter: 'all', limit: 1 }), { code: 'forbidden' });
    await assert.rejects(agent.request('pause', { on: true }), { code: 'forbidden' });
  });

  test('pages through ten thousand conversations', async () => {
    const big = await HubProcess.start({ settings: { limits: { rateBurst: 1_000_000 } } });
    try {
      const owner = await big.client();
      const senders = await big.strangers(100);
      const names = senders.map(({ agent }) => agent);
      const jobs: Promise<unknown>[] = [];
      for (const [i, sender] of senders.entries()) {
        jobs.push(sender.call('send', { to: 'person', text: `hello from ${i}`, kind: i % 2 ? 'request' : 'inform' }));
        for (let j = i + 1; j < 100; j++) {
          jobs.push(sender.call('send', { to: [names[j] ?? ''], text: `${i} to ${j}` }));
          jobs.push(sender.call('send', { to: [names[j] ?? '', 'person'], text: `${i} and ${j}` }));
        }
      }
      await Promise.all(jobs);
      const expected = 100 + 2 * 4_950;
      const ids = new Set<string>();
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await owner.request('overview', { filter: 'all', limit: 500, ...(cursor && { cursor }) });
        assert.deepEqual(page.counts, { all: expected, unread: 5_050, waiting: 50 });
        for (const { id } of page.conversations) ids.add(id);
        cursor = page.next;
        pages++;
      } while (cursor !== undefined);
      assert.equal(ids.size, expected);
      assert.equal(pages, 20);
      const waiting = await owner.request('overview', { filter: 'waiting', limit: 20 });
      assert.equal(waiting.conversations.length, 20);
      assert.ok(waiting.conversations.every((entry) => entry.waiting === 1));
      const rest = await owner.request('overview', { filter: 'waiting', limit: 500, cursor: waiting.next ?? '' });
      assert.equal(rest.conversations.length, 30);
      assert.equal(rest.next, undefined);
    } finally {
      await big.dispose();
    }
  });
});

describe('one conversation', () => {
  test('has the fate of each message', async () => {
    const [dee, eve] = await hub.agents(['dee', 'eve']);
    const asked = (await dee.call('send', { to: ['eve', 'person'], text: 'which one?', kind: 'request' })).data;
    eve.shown([asked.id], 'inbox');
    await eve.request('presence', { state: 'idle' });
    await eve.call('ack', { ids: [asked.id], outcome: 'blocked', note: 'no idea' });
    let { messages } = await person.request('story', { conversation: asked.conversation, limit: 10 });
    assert.deepEqual(
      messages[0]?.fates.map(({ at: _, ...fate }) => fate).sort((a, b) => (a.agent < b.agent ? -1 : 1)),
      [
        { agent: 'eve', step: 'acked', outcome: 'blocked', note: 'no idea' },
        { agent: 'person', step: 'stored' },
      ],
    );
    assert.equal(messages[0]?.request, 'pending');
    assert.equal(messages[0]?.unread, true);
    await seen([asked.id]);
    const answer = (await person.call('send', { reply_to: asked.id, text: 'the left one' })).data;
    const page = await person.request('story', { conversation: asked.conversation, limit: 10 });
    messages = page.messages;
    assert.equal(messages[0]?.request, 'answered');
    assert.equal(messages[0]?.answer, answer.id);
    assert.ok(messages[0]?.ended_at);
    assert.equal(messages[0]?.unread, undefined);
    assert.equal(messages[0]?.fates.find(({ agent }) => agent === 'person')?.step, 'replied');
    assert.equal(page.conversation.waiting, 0);
    assert.equal(page.conversation.title, 'dee, eve');
  });

  test('is paged both ways, and around a message', async () => {
    const [fay] = await hub.agents(['fay']);
    const ids: string[] = [];
    let conversation = '';
    for (let i = 0; i < 30; i++) {
      const sent = (await fay.call('send', { to: 'person', text: `line ${i}` })).data;
      ids.push(sent.id);
      conversation = sent.conversation;
    }
    const story = async (place: object, limit = 10) => {
      const page = await person.request('story', { conversation, limit, ...place });
      return { ids: page.messages.map(({ id }) => id), before: page.before, after: page.after };
    };
    assert.deepEqual(await story({}), { ids: ids.slice(20), before: ids[20], after: undefined });
    assert.deepEqual(await story({ before: ids[20] }), { ids: ids.slice(10, 20), before: ids[10], after: ids[19] });
    assert.deepEqual(await story({ after: ids[4] }), { ids: ids.slice(5, 15), before: ids[5], after: ids[14] });
    assert.deepEqual(await story({ around: ids[12] }), { ids: ids.slice(7, 17), before: ids[7], after: ids[16] });
    assert.deepEqual((await story({ around: ids[0] })).ids, ids.slice(0, 10));
    assert.deepEqual((await story({ around: ids[29] })).ids, ids.slice(20));
    assert.deepEqual((await story({ around: ids[3] }, 1)).ids, [ids[3]]);
    assert.deepEqual((await story({ around: ids[3] }, 100)).ids, ids);
    await assert.rejects(story({ before: ids[3], after: ids[1] }), { code: 'invalid-input' });
    await assert.rejects(story({ before: 'nonsense' }), { code: 'invalid-input' });
    await assert.rejects(person.request('story', { conversation: 'c9999', limit: 1 }), {
      code: 'unknown-conversation',
    });
  });

  test('has long texts cut, and all of one by its id', async () => {
    const [gus] = await hub.agents(['gus']);
    const text = `${'x'.repeat(storyTextLength - 1)}😀${'y'.repeat(100)}`;
    const sent = (await gus.call('send', { to: 'person', text })).data;
    const { messages } = await person.request('story', { conversation: sent.conversation, limit: 1 });
    assert.equal(messages[0]?.text, 'x'.repeat(storyTextLength - 1), 'no half of a character');
    assert.equal(messages[0]?.rest, 102);
    const whole = await person.request('message', { id: sent.id });
    assert.equal(whole.text, text);
    assert.equal(whole.rest, undefined);
    assert.equal(whole.fates[0]?.agent, 'person');
  });
});

describe('taken back to unread', () => {
  test('a message is new again, and its sender hears of it once only', async () => {
    const [hal] = await hub.agents(['hal']);
    const events: HubEvent[] = [];
    const watcher = await hub.client();
    await watcher.subscribe({ onEvent: (event) => events.push(event) });
    const foreign: HubEvent[] = [];
    await hal.subscribe({ onEvent: (event) => foreign.push(event) });
    const sent = (await hal.call('send', { to: 'person', text: 'look' })).data;
    const steps = async () =>
      (await hal.call('status', { id: sent.id })).data.recipients[0]?.steps.map(({ step }) => step);
    await seen([sent.id]);
    assert.deepEqual(await steps(), ['offered', 'shown']);
    const unread = async () => (await person.request('message', { id: sent.id })).unread;
    assert.equal(await unread(), undefined);
    await person.request('unread', { id: sent.id });
    assert.equal(await unread(), true);
    await until('it is told', () => events.some((event) => event.type === 'unread' && event.message === sent.id));
    assert.equal(
      (await person.call('inbox', { from: 'hal' })).data.messages.some(({ id }) => id === sent.id),
      true,
    );
    await person.request('unread', { id: sent.id });
    await seen([sent.id]);
    assert.equal(await unread(), undefined);
    assert.deepEqual(await steps(), ['offered', 'shown']);
    assert.equal(events.filter((event) => event.type === 'unread').length, 1);
    assert.equal(
      foreign.some((event) => event.type === 'unread'),
      false,
    );
  });

  test('what was answered stays answered', async () => {
    const [ida] = await hub.agents(['ida']);
    const sent = (await ida.call('send', { to: 'person', text: 'well?', kind: 'request' })).data;
    await person.call('send', { reply_to: sent.id, text: 'yes' });
    await person.request('unread', { id: sent.id });
    assert.equal((await person.request('message', { id: sent.id })).unread, true);
    await seen([sent.id]);
    const now = await person.request('message', { id: sent.id });
    assert.equal(now.unread, undefined);
    assert.equal(now.request, 'answered');
    assert.equal(now.fates[0]?.step, 'replied');
    const results = (await person.call('ack', { ids: [sent.id] })).data.results;
    assert.equal(results[0]?.state, 'unchanged', 'it is closed as before');
  });

  test('somebody else’s mail is not the person’s', async () => {
    const [jo] = await hub.agents(['jo']);
    const sent = (await jo.call('send', { to: 'ida', text: 'psst' })).data;
    await assert.rejects(person.request('unread', { id: sent.id }), { code: 'unknown-message' });
    await assert.rejects(person.request('unread', { id: 'm9zzz' }), { code: 'unknown-message' });
  });
});
