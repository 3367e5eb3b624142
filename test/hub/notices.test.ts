/** Requests that come back to their sender as a message of the bus itself. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { BusError } from '../../src/core/errors.ts';
import type { MessageView } from '../../src/core/model.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';

let hub: HubProcess;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

async function ask(from: BusClient, to: BusClient | string, text: string, more: object = {}): Promise<string> {
  const name = typeof to === 'string' ? to : to.agent;
  return (await from.call('send', { to: name, text, kind: 'request', ...more })).data.id;
}

async function notices(reader: BusClient): Promise<MessageView[]> {
  const { data } = await reader.call('inbox', { filter: 'all', from: 'agent-bus', limit: 100 });
  return data.messages;
}

function noticeOf(reader: BusClient, id: string): Promise<MessageView> {
  return until(`a notice about ${id}`, async () => (await notices(reader)).find(({ reply_to }) => reply_to === id));
}

function refused(code: string): (error: unknown) => boolean {
  return (error) => error instanceof BusError && error.code === code;
}

describe('a request that ends without a reply comes back', () => {
  test('when it has expired: once, in its conversation, with how far it got', async () => {
    const [ann, bob] = await hub.strangers(2);
    const id = await ask(ann, bob, 'what\u200B is "up"?\nreally', { expires_seconds: 1 });
    const notice = await noticeOf(ann, id);
    const { data } = await ann.call('conversation', { with: bob.agent });
    assert.equal('conversation' in data && data.conversation.id, notice.conversation);
    assert.deepEqual([notice.from, notice.to, notice.kind, notice.notice], ['agent-bus', [ann.agent], 'inform', true]);
    assert.equal(
      notice.text,
      [
        `Your request ${id} to ${bob.agent} has expired without an answer.`,
        `Asked: "what is 'up'? really"`,
        `How far it got: ${bob.agent}: stored, never offered.`,
        'It is not offered any more. If you still need it, send it again with more time, or ask somebody else.',
      ].join('\n'),
    );
    await hub.kill();
    await hub.start();
    const again = await hub.client({ as: ann.agent });
    assert.equal((await notices(again)).length, 1);
  });

  test('with what its reader was really shown', async () => {
    const [ann, bob] = await hub.strangers(2);
    const seen = await ask(ann, bob, 'seen', { expires_seconds: 2 });
    const { shown } = await bob.call('inbox', {});
    bob.shown(shown, 'inbox');
    const unseen = await ask(ann, bob, 'unseen', { expires_seconds: 2 });
    await bob.call('inbox', {});
    assert.match((await noticeOf(ann, seen)).text, /: seen 20\S+ \(inbox\), not answered\./);
    assert.match((await noticeOf(ann, unseen)).text, /: stored, never offered\./);
  });

  test('when it was rejected, marked as done, or its recipient has left', async () => {
    const [ann, bob, cid] = await hub.strangers(3);
    const rejected = await ask(ann, bob, 'do it');
    await bob.call('ack', { ids: [rejected], outcome: 'rejected', note: 'not mine <message>' });
    const { text } = await noticeOf(ann, rejected);
    assert.match(text, /has failed\.\nReason given: "not mine ‹message›"/);
    const done = await ask(ann, bob, 'do that');
    await bob.call('ack', { ids: [done], outcome: 'done' });
    assert.match((await noticeOf(ann, done)).text, /was marked as done, without a reply\./);
    const lost = await ask(ann, cid, 'and you?');
    await cid.call('register', { remove: true });
    assert.match((await noticeOf(ann, lost)).text, /has failed\.\nReason given: "the agent left the bus"/);
    assert.equal((await notices(ann)).length, 3);
  });

  test('but not when it was answered, or cancelled by its sender, or is still open with somebody', async () => {
    const [ann, bob, cid] = await hub.strangers(3);
    const answered = await ask(ann, bob, 'one');
    await bob.call('send', { reply_to: answered, text: 'yes' });
    await ann.call('status', { id: await ask(ann, bob, 'two'), cancel: true });
    const both = (await ann.call('send', { to: [bob.agent, cid.agent], text: 'three', kind: 'request' })).data.id;
    await bob.call('ack', { ids: [both], outcome: 'rejected' });
    const last = await ask(ann, bob, 'four');
    await bob.call('ack', { ids: [last], outcome: 'rejected' });
    assert.deepEqual(
      (await notices(ann)).map(({ reply_to }) => reply_to),
      [last],
    );
    assert.deepEqual(await notices(bob), []);
  });

  test('in the result of the call that waits for it, and then it is not new any more', async () => {
    const [bob] = await hub.strangers(1);
    const ann = new McpCaller(() => hub.record.mcpUrl, await hub.mint('waits-in-a-call'));
    const waiting = ann.call('send', { to: bob.agent, text: 'now?', wait_seconds: 45 });
    const asked = await until('it is there', async () => (await bob.call('inbox', {})).data.messages[0]);
    await bob.call('ack', { ids: [asked.id], outcome: 'rejected', note: 'no' });
    const { text, isError } = await waiting;
    assert.equal(isError, true);
    assert.match(
      text,
      new RegExp(`failed: no\n.*<message id="\\w+" from="agent-bus" .*kind="notice" reply_to="${asked.id}"`, 's'),
    );
    const { text: inbox } = await ann.call('inbox', {});
    assert.doesNotMatch(inbox, /<message/);
  });
});

describe('a notice', () => {
  test('is of nobody that can be spoken to or spoken as', async () => {
    const [ann, bob] = await hub.strangers(2);
    const person = await hub.client();
    await ask(ann, bob, 'x', { expires_seconds: 1 });
    const notice = await until('the notice', async () => (await notices(ann))[0]);
    await assert.rejects(ann.call('send', { to: 'agent-bus', text: 'hello?' }), refused('forbidden'));
    await assert.rejects(ann.call('send', { reply_to: notice.id, text: 'why?' }), /nobody reads an answer/);
    await assert.rejects(
      ann.call('send', { reply_to: notice.id, to: bob.agent, text: 'why?' }),
      refused('invalid-input'),
    );
    await assert.rejects(ann.call('register', { name: 'agent-bus' }), refused('name-reserved'));
    await assert.rejects(person.request('mint', { name: 'agent-bus' }), refused('forbidden'));
    await assert.rejects(person.request('remove', { name: 'agent-bus' }), refused('forbidden'));
    await assert.rejects(person.request('open', { name: 'agent-bus', on: true }), refused('forbidden'));
    await assert.rejects(hub.client({ as: 'agent-bus' }), refused('forbidden'));
    await assert.rejects(
      hub.client({ attach: { workspace: '/w/x', product: 'y', name: 'agent-bus' } }),
      refused('forbidden'),
    );
    const { data } = await ann.call('agents', { limit: 100 });
    assert.ok(data.agents.every(({ name }) => name !== 'agent-bus'));
  });

  test('is for its reader and the person alone, also in a channel', async () => {
    const [ann, bob, cid] = await hub.strangers(3);
    await ann.call('channel', { action: 'create', name: 'kitchen' });
    for (const member of [bob, cid]) await member.call('channel', { action: 'join', name: 'kitchen' });
    const id = await ask(ann, '#kitchen', 'who has salt?', { expires_seconds: 1 });
    const notice = await noticeOf(ann, id);
    assert.deepEqual([notice.to, notice.channel], [[ann.agent], undefined]);
    const direct = await ask(ann, bob, 'pepper?', { expires_seconds: 1 });
    await noticeOf(ann, direct);
    for (const query of [{ with: '#kitchen' }, { with: ann.agent }]) {
      const { data } = await bob.call('conversation', query);
      assert.deepEqual(
        data.messages.map(({ kind }) => kind),
        ['request'],
      );
    }
    await assert.rejects(bob.call('status', { id: notice.id }), refused('unknown-message'));
    const found = (await bob.call('conversations', { query: 'expired' })).data;
    assert.deepEqual('hits' in found && found.hits, []);
    const { data: list } = await bob.call('conversations', {});
    assert.ok('conversations' in list);
    assert.ok(list.conversations.every(({ last }) => last?.from !== 'agent-bus'));
    const mine = (await ann.call('conversations', { query: 'expired' })).data;
    assert.equal('hits' in mine && mine.hits.length, 2);
    const person = await hub.client();
    const story = await person.request('story', { conversation: notice.conversation, limit: 10 });
    assert.deepEqual(
      story.messages.map(({ from }) => from),
      [ann.agent, 'agent-bus'],
    );
    assert.equal(story.conversation.notices, undefined, 'one can go on writing in it');
  });

  test('wakes the agent that had asked, and the chain goes on counting', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/asks' });
    await window.hook('c', 'prompt', { prompt: 'hi' });
    await window.hook('c', 'stop');
    const asker = await hub.client({ as: window.home, passing: true });
    const [bob] = await hub.strangers(1);
    const id = await ask(asker, bob, 'still there?', { expires_seconds: 1 });
    const wake = await window.woken();
    assert.match(wake.prompt, /^A notice of Agent Bus\n/);
    assert.match(wake.prompt, new RegExp(`Your request ${id} to ${bob.agent} has expired`));
    assert.match(wake.prompt, /is from the bus itself: decide what to do about it; nobody reads an answer\./);
    assert.doesNotMatch(wake.prompt, /reply_to \(/);
    await window.ran();
    const notice = await until(
      'it is shown',
      async () => (await asker.call('inbox', { filter: 'open', from: 'agent-bus' })).data.messages[0],
    );
    await until(
      'by that turn',
      async () => (await asker.call('status', { id: notice.id })).data.recipients[0]?.step === 'shown',
    );
    // What it asks in the turn that the notice began goes back to its first question: 8 of these, and the person decides.
    for (let i = 0; i < 7; i++) {
      await ask(asker, bob, `and now, ${i}?`, { expires_seconds: 1 });
      await window.hook('c', 'stop');
      await window.ran(i + 2);
    }
    await ask(asker, bob, 'and now?', { expires_seconds: 1 });
    window.onAsk = () => ({ verdict: 'dismissed' });
    await window.hook('c', 'stop');
    const question = await until('the person is asked', () => window.asks[0]);
    assert.equal(question.kind, 'hops');
    assert.equal(window.wakes.length, 8);
    window.close();
  });
});

describe('a request whose recipient is away', () => {
  let quick: HubProcess;
  before(async () => {
    quick = await HubProcess.start({ settings: { reach: { unreachableMinutes: 0.01 } } });
  });
  after(() => quick.dispose());

  test('is told of once, stays open, and is offered when the agent is back', async () => {
    const [ann, bob, cid] = await quick.agents(['ann', 'bob', 'cid']);
    quick.close(bob);
    const id = (await ann.call('send', { to: ['bob', 'cid'], text: 'are you there?', kind: 'request' })).data.id;
    const notice = await noticeOf(ann, id);
    assert.match(
      notice.text,
      /has not reached bob yet: it is offline and nothing here can wake it\. It was last seen 20/,
    );
    assert.match(notice.text, /bob: stored, never offered; cid: stored, never offered\./);
    assert.match(notice.text, /stays open and is offered as soon as bob is back/);
    await pause(1_000);
    assert.equal((await notices(ann)).length, 1, 'nothing about those who are here');
    await quick.kill();
    await quick.start();
    const again = await quick.client({ as: 'ann' });
    await pause(2_000);
    // Whoever does not come back with the hub is away as well by then.
    const aboutBob = (await notices(again)).filter(({ text }) => text.includes('has not reached bob yet'));
    assert.equal(aboutBob.length, 1, 'once, also over a restart');
    assert.equal((await again.call('status', { id })).data.request?.state, 'pending');
    const back = await quick.client({ as: 'bob' });
    const { data } = await back.call('inbox', {});
    await back.call('send', { reply_to: data.messages[0]?.id ?? '', text: 'now I am' });
    assert.equal((await again.call('status', { id })).data.request?.state, 'answered');
    quick.close(cid);
  });
});
