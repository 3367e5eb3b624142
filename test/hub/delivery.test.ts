import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { fenceNote } from '../../src/core/envelope.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';

let hub: HubProcess;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

async function stepOf(asker: BusClient, id: string, agent: string): Promise<string> {
  const { recipients } = (await asker.call('status', { id })).data;
  return recipients.find((recipient) => recipient.agent === agent)?.step ?? 'nobody';
}

async function stepsOf(asker: BusClient, id: string): Promise<string[]> {
  const { recipients } = (await asker.call('status', { id })).data;
  return (recipients[0]?.steps ?? []).map(({ step, route, outcome }) =>
    [step, route, outcome].filter(Boolean).join(' '),
  );
}

async function reaches(asker: BusClient, id: string, agent: string, step: string): Promise<void> {
  await until(`${id} is ${step}`, async () => (await stepOf(asker, id, agent)) === step);
}

async function send(from: BusClient, to: BusClient | string, text: string, more: object = {}): Promise<string> {
  return (await from.call('send', { to: typeof to === 'string' ? to : to.agent, text, ...more })).data.id;
}

async function idsIn(reader: BusClient, filter: 'new' | 'open' | 'all'): Promise<string[]> {
  return (await reader.call('inbox', { filter, limit: 100 })).data.messages.map(({ id }) => id);
}

async function mcpOf(name: string): Promise<McpCaller> {
  return new McpCaller(() => hub.record.mcpUrl, await hub.mint(name));
}

function newsIn(structured: Record<string, unknown>): string[] {
  const { note, messages } = structured['news'] as { note: string; messages: { id: string }[] };
  assert.equal(note, fenceNote, 'a model may get nothing but this part');
  return messages.map(({ id }) => id);
}

describe('a receipt moves by proof only', () => {
  test('stored, offered, shown, acked', async () => {
    const [ann, bob] = await hub.strangers(2);
    const id = await send(ann, bob, 'hello');
    assert.equal(await stepOf(ann, id, bob.agent), 'stored');
    const { data, shown } = await bob.call('inbox', {});
    assert.deepEqual(
      data.messages.map((message) => message.id),
      [id],
    );
    assert.deepEqual(shown, [id]);
    assert.deepEqual(await stepsOf(ann, id), [], 'the result of a call is no proof');
    bob.shown(shown);
    await reaches(ann, id, bob.agent, 'shown');
    assert.deepEqual(await stepsOf(ann, id), ['offered client', 'shown client']);
    await bob.call('ack', { ids: [id], outcome: 'blocked', note: 'no access' });
    assert.deepEqual(await idsIn(bob, 'open'), [id], 'blocked is not the end');
    await bob.call('ack', { ids: [id], note: 'done now' });
    assert.deepEqual(await stepsOf(ann, id), ['offered client', 'shown client', 'acked blocked', 'acked done']);
    assert.deepEqual(await idsIn(bob, 'open'), []);
    assert.deepEqual(await idsIn(bob, 'all'), [id]);
    assert.deepEqual((await bob.call('ack', { ids: [id], outcome: 'rejected' })).data.results, [
      { id, state: 'unchanged', was: 'acked' },
    ]);
  });

  test('stored, then replied', async () => {
    const [ann, bob] = await hub.strangers(2);
    const id = await send(ann, bob, 'what?', { kind: 'request' });
    const reply = (await bob.call('send', { reply_to: id, text: 'that' })).data;
    assert.deepEqual(reply.to, [ann.agent]);
    assert.equal(await stepOf(ann, id, bob.agent), 'replied');
    assert.deepEqual(await idsIn(bob, 'open'), []);
    assert.deepEqual(await idsIn(ann, 'new'), [reply.id]);
  });

  test('a reader that vanishes while it waits has seen nothing', async () => {
    const [ann, bob] = await hub.strangers(2);
    const waiting = bob.call('inbox', { wait_seconds: 40 });
    await until('it waits', async () => (await hub.status()).connections.waitingCalls === 1);
    bob.close();
    await assert.rejects(waiting, { code: 'hub-unavailable' });
    await until('nobody waits', async () => (await hub.status()).connections.waitingCalls === 0);
    const mcp = await mcpOf(bob.agent);
    const hangUp = new AbortController();
    const call = mcp.call('inbox', { wait_seconds: 40 }, hangUp.signal);
    await until('it waits', async () => (await hub.status()).connections.waitingCalls === 1);
    hangUp.abort();
    await assert.rejects(call);
    await until('nobody waits', async () => (await hub.status()).connections.waitingCalls === 0);
    const id = await send(ann, bob.agent, 'are you there?');
    assert.deepEqual(await stepsOf(ann, id), []);
    assert.equal(await stepOf(ann, id, bob.agent), 'stored');
  });

  test('over MCP a result counts once it was handed over', async () => {
    const [ann, bob] = await hub.strangers(2);
    const mcp = await mcpOf(bob.agent);
    const waiting = mcp.call('inbox', { wait_seconds: 40 });
    await until('it waits', async () => (await hub.status()).connections.waitingCalls === 1);
    const id = await send(ann, bob, 'hello');
    assert.match((await waiting).text, /hello/);
    await reaches(ann, id, bob.agent, 'shown');
    assert.deepEqual(await idsIn(bob, 'new'), []);
    assert.deepEqual(await idsIn(bob, 'open'), [id]);
  });

  test('marks cover exactly what was returned', async () => {
    const [ann, bob] = await hub.strangers(2);
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push(await send(ann, bob, `message ${i}`));
    const { data, shown } = await bob.call('inbox', { limit: 2 });
    assert.deepEqual(shown, ids.slice(0, 2));
    assert.equal(data.unread_left, 3);
    bob.shown(shown);
    await reaches(ann, ids[1] ?? '', bob.agent, 'shown');
    assert.deepEqual(await idsIn(bob, 'new'), ids.slice(2));
    assert.equal((await bob.call('agents', {})).data.you.unread, 3);
    // Marking is for own mail only: a foreign, an unknown or a malformed id changes nothing.
    ann.shown([ids[2] ?? '', 'mzzzzz', 'nonsense']);
    await ann.call('agents', {});
    bob.shown([ids[3] ?? '']);
    await reaches(ann, ids[3] ?? '', bob.agent, 'shown');
    assert.deepEqual(await idsIn(bob, 'new'), [ids[2], ids[4]]);
  });

  test('only a program that says so: a model’s client confirms what it has put in front of it', async () => {
    const [ann, bob] = await hub.strangers(2);
    const id = await send(ann, bob, 'for the model');
    const answer = await bob.callForModel('inbox', {});
    assert.match(answer.text, /for the model/);
    assert.deepEqual(answer.shown, [id]);
    assert.equal(await stepOf(ann, id, bob.agent), 'stored');
    bob.shown(answer.shown);
    await reaches(ann, id, bob.agent, 'shown');
  });
});

describe('news ride along on other results', () => {
  test('once, and count as shown when they were whole', async () => {
    const [ann, bob] = await hub.strangers(2);
    const mcp = await mcpOf(bob.agent);
    const id = await send(ann, bob, 'by the way');
    const first = await mcp.call('agents', {});
    assert.match(first.text, /New for you:[^]*<message id="[^"]+" from="[^"]+"[^>]*>\nby the way\n<\/message>/);
    assert.deepEqual(newsIn(first.structured), [id]);
    await reaches(ann, id, bob.agent, 'shown');
    const second = await mcp.call('agents', {});
    assert.equal(second.structured['news'], undefined);
    assert.doesNotMatch(second.text, /New for you/);
  });

  test('an excerpt is merely offered, and not in the way of later news', async () => {
    const [ann, bob] = await hub.strangers(2);
    const mcp = await mcpOf(bob.agent);
    const long: string[] = [];
    for (let i = 0; i < 4; i++) long.push(await send(ann, bob, `long ${i} `.repeat(200)));
    const carried: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { structured } = await mcp.call('channel', {});
      carried.push(...newsIn(structured));
    }
    assert.deepEqual(carried, long);
    for (const id of long) await reaches(ann, id, bob.agent, 'offered');
    assert.equal((await mcp.call('channel', {})).structured['news'], undefined);
    assert.deepEqual(await idsIn(bob, 'new'), long, 'they are still unread');
    // A new hub has forgotten what it carried, but not what was offered.
    await hub.kill();
    await hub.start();
    const [sender, reader] = [await hub.client({ as: ann.agent }), await hub.client({ as: bob.agent })];
    const short = await send(sender, reader, 'short');
    const { structured } = await mcp.call('channel', {});
    assert.deepEqual(newsIn(structured), [short]);
  });

  test('not on the inbox itself, and not for programs', async () => {
    const [ann, bob] = await hub.strangers(2);
    await send(ann, bob, 'one');
    assert.equal('news' in (await bob.call('agents', {})).data, false);
    assert.equal('news' in (await bob.callForModel('inbox', {})).structured, false);
    assert.equal('news' in (await bob.callForModel('agents', {})).structured, true);
  });
});

describe('a request is a task', () => {
  test('pending, then answered: whoever waits gets the answer', async () => {
    const [ann, bob] = await hub.strangers(2);
    const asked = ann.call('send', { to: bob.agent, text: 'what does GET /orders return?', wait_seconds: 40 });
    const [question] = (await bob.call('inbox', { wait_seconds: 40 })).data.messages;
    assert.equal(question?.kind, 'request');
    await bob.call('send', { reply_to: question.id, text: 'a list' });
    const { data, shown } = await asked;
    assert.equal(data.request, 'answered');
    assert.equal(data.answer?.text, 'a list');
    assert.equal(data.answer.from, bob.agent);
    assert.deepEqual(shown, [data.answer.id]);
    const status = (await ann.call('status', { id: data.id })).data;
    assert.equal(status.request?.state, 'answered');
    assert.equal(status.answer?.text, 'a list');
    // A second answer is delivered, but the first one counts.
    await bob.call('send', { reply_to: question.id, text: 'or not' });
    assert.equal((await ann.call('status', { id: data.id })).data.answer?.text, 'a list');
  });

  test('pending with an id when the wait is over', async () => {
    const [ann, bob] = await hub.strangers(2);
    const { data } = await ann.call('send', { to: bob.agent, text: 'soon?', wait_seconds: 0.3 });
    assert.equal(data.request, 'pending');
    await bob.call('send', { reply_to: data.id, text: 'now' });
    assert.equal((await ann.call('status', { id: data.id })).data.request?.state, 'answered');
  });

  test('failed when the last recipient rejects it, answered when it is done without words', async () => {
    const [ann, bob, cy] = await hub.strangers(3);
    const id = await send(ann, bob, 'x', { to: [bob.agent, cy.agent], kind: 'request' });
    await bob.call('ack', { ids: [id], outcome: 'rejected', note: 'not mine' });
    assert.equal((await ann.call('status', { id })).data.request?.state, 'pending');
    await cy.call('ack', { ids: [id], outcome: 'rejected', note: 'nor mine' });
    const { request } = (await ann.call('status', { id })).data;
    assert.deepEqual([request?.state, request?.note], ['failed', 'nor mine']);
    const other = await send(ann, bob, 'do it', { kind: 'request' });
    await bob.call('ack', { ids: [other] });
    assert.equal((await ann.call('status', { id: other })).data.request?.state, 'answered');
  });

  test('cancelled by its sender, for good', async () => {
    const [ann, bob] = await hub.strangers(2);
    const asked = ann.call('send', { to: bob.agent, text: 'never mind', wait_seconds: 40 });
    const [question] = (await bob.call('inbox', { wait_seconds: 40 })).data.messages;
    const id = question?.id ?? '';
    await assert.rejects(bob.call('status', { id, cancel: true }), { code: 'unknown-message' });
    const cancelled = (await ann.call('status', { id, cancel: true })).data;
    assert.equal(cancelled.request?.state, 'cancelled');
    assert.equal(cancelled.recipients[0]?.step, 'cancelled');
    assert.equal((await asked).data.request, 'cancelled');
    await assert.rejects(ann.call('status', { id, cancel: true }), { code: 'already-ended' });
    assert.deepEqual(await idsIn(bob, 'open'), []);
    const late = (await bob.call('send', { reply_to: id, text: 'too late' })).data.id;
    assert.equal((await ann.call('status', { id })).data.request?.state, 'cancelled');
    assert.deepEqual(await idsIn(ann, 'new'), [late]);
  });

  test('expired when its time is over; the same for a message that is no request', async () => {
    const [ann, bob] = await hub.strangers(2);
    const asked = ann.call('send', { to: bob.agent, text: 'quick!', expires_seconds: 1, wait_seconds: 40 });
    const inform = await send(ann, bob, 'for now', { expires_seconds: 1 });
    assert.equal((await idsIn(bob, 'new')).length, 2);
    const { data } = await asked;
    assert.equal(data.request, 'expired');
    await reaches(ann, inform, bob.agent, 'expired');
    assert.deepEqual(await idsIn(bob, 'open'), []);
    assert.equal((await ann.call('status', { id: data.id })).data.recipients[0]?.step, 'expired');
  });

  test('every state survives a kill', async () => {
    const [ann, bob] = await hub.strangers(2);
    const ids: string[] = [];
    for (const text of ['pending', 'answered', 'failed', 'cancelled', 'expired', 'expires later']) {
      ids.push(
        await send(ann, bob, text, {
          kind: 'request',
          ...(text.startsWith('expire') && { expires_seconds: text === 'expired' ? 1 : 3 }),
        }),
      );
    }
    const [, answered, failed, cancelled, expired, later] = ids;
    await bob.call('send', { reply_to: answered ?? '', text: 'yes' });
    await bob.call('ack', { ids: [failed ?? ''], outcome: 'rejected', note: 'no' });
    await ann.call('status', { id: cancelled ?? '', cancel: true });
    await reaches(ann, expired ?? '', bob.agent, 'expired');
    const states = async (asker: BusClient): Promise<unknown[]> =>
      Promise.all(ids.slice(0, 5).map(async (id) => (await asker.call('status', { id })).data));
    const kept = await states(ann);
    await hub.kill();
    await hub.start();
    const asker = await hub.client({ as: ann.agent });
    assert.deepEqual(await states(asker), kept);
    await reaches(asker, later ?? '', bob.agent, 'expired');
    await asker.call('status', { id: ids[0] ?? '', cancel: true });
  });
});

describe('an idempotency key', () => {
  test('makes one message however often it is sent', async () => {
    const [ann, bob] = await hub.strangers(2);
    const args = { to: bob.agent, text: 'once', key: 'k1' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => ann.call('send', args)));
    assert.equal(new Set(answers.map(({ data }) => data.id)).size, 1);
    assert.equal(answers.filter(({ data }) => !data.duplicate).length, 1);
    await hub.kill();
    await hub.start();
    const [again, reader] = [await hub.client({ as: ann.agent }), await hub.client({ as: bob.agent })];
    const { data } = await again.call('send', args);
    assert.equal(data.duplicate, true);
    assert.equal(data.id, answers[0]?.data.id);
    assert.deepEqual(await idsIn(reader, 'all'), [data.id]);
  });

  test('is refused for another message', async () => {
    const [ann, bob, cy] = await hub.strangers(3);
    const id = await send(ann, bob, 'this', { key: 'k' });
    for (const other of [
      { text: 'that' },
      { kind: 'request' as const },
      { to: cy.agent },
      { to: [bob.agent, cy.agent] },
    ]) {
      await assert.rejects(
        ann.call('send', { to: bob.agent, text: 'this', key: 'k', ...other }),
        { code: 'key-conflict' },
        JSON.stringify(other),
      );
    }
    assert.deepEqual(await idsIn(bob, 'all'), [id]);
    assert.deepEqual(await idsIn(cy, 'all'), []);
    // Everybody has keys of its own.
    assert.notEqual(await send(cy, bob, 'this', { key: 'k' }), id);
  });
});

describe('who hears what', () => {
  test('a channel: members hear it, a late one reads what was said, others nothing', async () => {
    const [ann, bob, cy, dan] = await hub.strangers(4);
    await ann.call('channel', { action: 'create', name: 'release', about: 'what is frozen' });
    await assert.rejects(bob.call('channel', { action: 'create', name: 'release' }), { code: 'channel-taken' });
    await assert.rejects(bob.call('send', { to: '#release', text: 'x' }), { code: 'not-a-member' });
    await assert.rejects(bob.call('send', { to: '#realease', text: 'x' }), { code: 'unknown-channel' });
    await bob.call('channel', { action: 'join', name: '#release' });
    const first = await send(ann, '#release', 'main is frozen');
    assert.deepEqual(await idsIn(bob, 'new'), [first]);
    await cy.call('channel', { action: 'join', name: 'release' });
    assert.deepEqual(await idsIn(cy, 'new'), [], 'what was said before is history, not mail');
    const history = (await cy.call('conversation', { with: '#release' })).data;
    assert.deepEqual(
      history.messages.map(({ id }) => id),
      [first],
    );
    const second = await send(bob, '#release', 'and thawed');
    assert.deepEqual(await idsIn(ann, 'new'), [second]);
    assert.deepEqual(await idsIn(cy, 'new'), [second]);
    const conversation = history.messages[0]?.conversation ?? '';
    await assert.rejects(dan.call('conversation', { with: '#release' }), { code: 'not-a-member' });
    await assert.rejects(dan.call('conversation', { id: conversation }), { code: 'unknown-conversation' });
    await assert.rejects(dan.call('conversation', { id: first }), { code: 'unknown-message' });
    assert.deepEqual((await dan.call('conversations', { query: 'frozen' })).data, { query: 'frozen', hits: [] });
    const seen = (await dan.call('channel', {})).data.channels.find(({ name }) => name === '#release');
    assert.deepEqual([seen?.members, seen?.joined, seen?.unread], [3, false, undefined]);

    await bob.call('channel', { action: 'leave', name: 'release' });
    const third = await send(ann, '#release', 'frozen again');
    assert.deepEqual(await idsIn(bob, 'all'), [first]);
    await assert.rejects(bob.call('conversation', { with: '#release' }), { code: 'not-a-member' });
    await assert.rejects(bob.call('conversation', { id: third }), { code: 'unknown-message' });
    await assert.rejects(bob.call('channel', { action: 'leave', name: 'release' }), { code: 'not-a-member' });
    // A reply in a channel goes to the channel.
    const reply = (await cy.call('send', { reply_to: third, text: 'why?' })).data;
    assert.deepEqual(reply.to, ['#release']);
    assert.deepEqual(
      (await ann.call('conversation', { with: '#release' })).data.messages.map(({ id }) => id),
      [first, second, third, reply.id],
    );
    const person = await hub.client();
    assert.equal(
      (await person.call('conversation', { with: '#release' })).data.messages.length,
      4,
      'the person sees all',
    );
  });

  test('a group is the same conversation whoever writes, and a reply goes to all of it', async () => {
    const [ann, bob, cy, dan] = await hub.strangers(4);
    const first = (await ann.call('send', { to: [bob.agent, cy.agent], text: 'we three' })).data;
    const second = (await cy.call('send', { to: [ann.agent, bob.agent, ann.agent], text: 'indeed' })).data;
    assert.equal(second.conversation, first.conversation);
    const reply = (await bob.call('send', { reply_to: first.id, text: 'yes' })).data;
    assert.deepEqual([...reply.to].sort(), [ann.agent, cy.agent].sort());
    assert.equal(reply.conversation, first.conversation);
    for (const member of [ann, bob, cy]) {
      const { messages } = (await member.call('conversation', { id: first.conversation })).data;
      assert.deepEqual(
        messages.map(({ id }) => id),
        [first.id, second.id, reply.id],
      );
    }
    await assert.rejects(dan.call('conversation', { id: first.conversation }), { code: 'unknown-conversation' });
    const status = (await bob.call('status', { id: first.id })).data;
    assert.deepEqual(
      status.recipients.map(({ agent }) => agent),
      [bob.agent],
      'how it fared with others is the sender’s business',
    );
  });

  test('a renamed agent is reached by both names', async () => {
    const [ann, bob] = await hub.strangers(2);
    const former = bob.agent;
    await bob.call('register', { name: 'robert', about: 'renamed' });
    const ids = [await send(ann, former, 'old name'), await send(ann, 'robert', 'new name')];
    assert.deepEqual(await idsIn(bob, 'new'), ids);
    const { messages } = (await bob.call('conversation', { with: ann.agent })).data;
    assert.deepEqual(
      messages.map(({ to }) => to),
      [['robert'], ['robert']],
    );
    await assert.rejects(ann.call('register', { name: former }), { code: 'name-taken' });
    await hub.kill();
    await hub.start();
    const [sender, reader] = [await hub.client({ as: ann.agent }), await hub.client({ as: former })];
    assert.equal(reader.agent, 'robert');
    ids.push(await send(sender, former, 'old name after all'));
    assert.deepEqual(await idsIn(reader, 'new'), ids);
  });

  test('what waited for an agent that leaves can’t be delivered, and its senders learn so', async () => {
    const [ann, bob, cy] = await hub.strangers(3);
    const inform = await send(ann, bob, 'news');
    const asked = ann.call('send', { to: bob.agent, text: 'well?', wait_seconds: 40 });
    const shared = await send(ann, bob, 'both of you', { to: [bob.agent, cy.agent], kind: 'request' });
    await until('all is sent', async () => (await idsIn(bob, 'new')).length === 3);
    const waiting = bob.call('inbox', { wait_seconds: 40, from: cy.agent });
    waiting.catch(() => undefined);
    const person = await hub.client();
    await person.request('remove', { name: bob.agent });
    const { data } = await asked;
    assert.deepEqual([data.request, data.note], ['failed', 'the agent left the bus']);
    assert.equal(await stepOf(ann, inform, bob.agent), 'undeliverable');
    assert.equal(
      (await ann.call('status', { id: shared })).data.request?.state,
      'pending',
      'the other one can still answer',
    );
    await assert.rejects(ann.call('send', { to: bob.agent, text: 'hello?' }), { code: 'agent-removed' });
    await assert.rejects(bob.call('inbox', {}), { code: 'unauthorized' });
    assert.ok(!(await ann.call('agents', { limit: 100 })).data.agents.some(({ name }) => name === bob.agent));
    await cy.call('send', { reply_to: shared, text: 'here' });
    assert.equal((await ann.call('status', { id: shared })).data.request?.state, 'answered');
  });
});

describe('order per sender and recipient', () => {
  test('holds for everything that one connection sends without waiting', async () => {
    const senders = await hub.strangers(5);
    const readers = await hub.strangers(3);
    const to = readers.map((reader) => reader.agent);
    await Promise.all(
      senders.flatMap((sender) =>
        Array.from({ length: 100 }, (_, i) =>
          sender.call('send', { to: i % 3 === 0 ? to : (to[i % 3] ?? ''), text: String(i) }),
        ),
      ),
    );
    for (const [r, reader] of readers.entries()) {
      const read: { from: string; text: string }[] = [];
      let cursor: string | undefined;
      do {
        const { data } = await reader.call('inbox', { filter: 'all', limit: 37, ...(cursor && { cursor }) });
        read.push(...data.messages);
        cursor = data.next;
      } while (cursor);
      const expected = Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 3 === 0 || i % 3 === r);
      for (const sender of senders) {
        assert.deepEqual(
          read.filter(({ from }) => from === sender.agent).map(({ text }) => Number(text)),
          expected,
        );
      }
    }
  });
});
