/** Mailboxes of agent-tool's broker as agents of the bus. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namePattern } from '../../src/core/limits.ts';
import { Mailboxes } from '../../src/hub/doors/mailboxes.ts';
import { BrokerWorld } from '../support/agentTool/brokerWorld.ts';
import { until } from '../support/hubProcess.ts';

describe('a mailbox', () => {
  test('is an agent from its first post, its first message or its first wait on', async (t) => {
    const { client, bus, mailboxes } = await BrokerWorld.open(t);
    await client.tell('Alice Ä', 'bob', 'hi');
    const waiting = client.wait('Carol', 30);
    await until('Carol waits', () => bus.presence.isWaiting(bus.roster.find('carol')?.id ?? -1));
    assert.deepEqual(
      mailboxes().map(({ name, product, kind }) => ({ name, product, kind })),
      ['alice-a', 'bob', 'carol'].map((name) => ({ name, product: 'agent-tool', kind: 'agent' })),
    );
    assert.deepEqual(await client.status(), { bob: 1, Carol: 0 });
    await client.tell('Alice Ä', 'Carol', 'for you');
    assert.equal((await waiting).message?.from, 'Alice Ä');
  });

  test('that nobody made is empty, and stays nothing', async (t) => {
    const { client, mailboxes } = await BrokerWorld.open(t);
    for (const name of ['nobody', '#none', 'tcp://127.0.0.1:1', '\n']) assert.deepEqual(await client.fetch(name), []);
    assert.deepEqual(await client.status(), {});
    assert.deepEqual(mailboxes(), []);
  });

  test('keeps apart what differs in spelling', async (t) => {
    const { client, mailboxes } = await BrokerWorld.open(t);
    const labels = ['Bob', 'bob', 'BOB', 'bob ', 'b\u0000b', 'x\ny', '\u{1f600}', '10', '__proto__', 'system'];
    await Promise.all(labels.map((label) => client.wait(label, 1)));
    for (const label of labels) await client.tell('sender', label, `for ${label}`);
    for (const label of labels) assert.deepEqual(await client.texts(label), [`for ${label}`], JSON.stringify(label));
    for (const { name } of mailboxes()) assert.match(name, namePattern);
    assert.equal(mailboxes().length, labels.length + 1);
  });

  test('is found again by the next hub', async (t) => {
    const { client, bus, store } = await BrokerWorld.open(t);
    await client.tell('a', 'B', 'one');
    const next = new Mailboxes({ bus, store });
    await next.post('a', 'B', 'two');
    assert.deepEqual(await client.texts('B'), ['one', 'two']);
    assert.equal(bus.roster.all().length, 3);
  });

  test('that the person removed begins anew', async (t) => {
    const { client, bus } = await BrokerWorld.open(t);
    await client.tell('a', 'b', 'one');
    await bus.remove(bus.roster.require('b'));
    assert.deepEqual(await client.fetch('b'), []);
    await client.tell('a', 'b', 'two');
    assert.deepEqual(await client.texts('b'), ['two']);
    assert.equal(bus.roster.find('b-2')?.product, 'agent-tool');
  });

  test('gets no mail from itself', async (t) => {
    const { client } = await BrokerWorld.open(t);
    assert.match((await client.post('a', 'a', 'x')).error ?? '', /sender itself; use different names/);
    assert.match((await client.post('', 'agent-tool', 'x')).error ?? '', /sender itself/);
  });

  test('of those without a name is one for all of them', async (t) => {
    const { client, bus } = await BrokerWorld.open(t);
    await client.tell('', 'a', 'who am I?');
    const [got] = await client.fetch('a');
    assert.equal(got?.from, 'agent-tool');
    assert.match(bus.roster.require('agent-tool').about, /no name/);
    await client.tell('a', got?.from ?? '', 'nobody');
    assert.deepEqual(await client.texts('agent-tool'), ['nobody']);
  });
});

describe('names of others', () => {
  test('are refused as one’s own, and reached as recipients', async (t) => {
    const { client, bus, agent, inbox } = await BrokerWorld.open(t);
    const dora = await agent('dora');
    await bus.roster.rename(dora, 'dora-new');
    for (const name of ['dora-new', 'dora', 'person']) {
      const refusal = `mailbox "${name}" belongs to an agent of the bus that does not come through this door; use another name, for example "${name}-2"`;
      assert.deepEqual(await client.post(name, 'x', 'in your name'), { ok: false, error: refusal });
      assert.deepEqual(await client.call({ op: 'fetch', mailbox: name }), { ok: false, error: refusal });
      assert.deepEqual(await client.wait(name, 1), { ok: false, error: refusal });
    }
    assert.deepEqual(inbox(dora), []);
    await client.tell('visitor', 'dora', 'by the old name');
    await client.tell('visitor', 'dora-new', 'by the new one');
    assert.deepEqual(inbox(dora), [
      { from: 'visitor', text: 'by the old name' },
      { from: 'visitor', text: 'by the new one' },
    ]);
    assert.equal(bus.roster.find('x'), undefined);
  });

  test('what a fetch shows as sender is what a post takes as recipient', async (t) => {
    const { client, bus, agent, send } = await BrokerWorld.open(t);
    await client.tell('Zoe', 'reader', 'label with a capital');
    await client.tell('ed', 'reader', 'plain');
    const other = await agent('other');
    await bus.roster.rename(bus.roster.require('ed'), 'edward');
    await client.tell('ed', 'reader', 'renamed by the person');
    await send(other, 'reader', 'from the bus');
    const senders = (await client.fetch('reader')).map(({ from }) => from);
    assert.deepEqual(senders, ['Zoe', 'ed', 'ed', 'other']);
    for (const sender of senders.slice(0, 3)) await client.tell('reader', sender, `to ${sender}`);
    assert.deepEqual(await client.texts('Zoe'), ['to Zoe']);
    assert.deepEqual(await client.texts('ed'), ['to ed', 'to ed']);
  });

  test('a mailbox whose label is taken on the bus is addressed by its bus name, which nobody else gets', async (t) => {
    const { client, bus, agent, store } = await BrokerWorld.open(t);
    await client.tell('max', 'reader', 'one');
    // The name is given up and taken by an agent of the bus, as after a removal by hand.
    await bus.roster.rename(bus.roster.require('max'), 'max-of-agent-tool');
    await store.write((tx) => tx.deleteAlias('max'));
    const newcomer = await agent('max');
    assert.equal((await client.fetch('reader'))[0]?.from, 'max-of-agent-tool');
    await client.tell('reader', 'max-of-agent-tool', 'to the mailbox');
    await client.tell('reader', 'max', 'to the newcomer');
    assert.equal(bus.reading.unreadCount(newcomer.id), 1);
    assert.match((await client.wait('max-of-agent-tool', 1)).error ?? '', /belongs to an agent of the bus/);
    assert.match((await client.wait('max', 1)).error ?? '', /belongs to an agent of the bus/);
  });

  test('that are too long are refused', async (t) => {
    const { client, mailboxes } = await BrokerWorld.open(t);
    const long = 'n'.repeat(201);
    assert.match((await client.post('a', long, 'x')).error ?? '', /at most 200 characters; use a shorter one/);
    assert.match((await client.post(long, 'a', 'x')).error ?? '', /at most 200/);
    assert.match((await client.wait(long, 1)).error ?? '', /at most 200/);
    assert.deepEqual(
      mailboxes().map(({ name }) => name),
      ['a'],
    );
  });
});

describe('messages between mailboxes and the bus', () => {
  test('a question to a mailbox is answered by a post', async (t) => {
    const { client, agent, send, steps, bus } = await BrokerWorld.open(t);
    const asker = await agent('asker');
    await client.tell('Worker', 'asker', 'I am here');
    const asked = send(asker, 'worker', 'what does it return?', 'request', 40);
    const question = (await client.wait('Worker', 40)).message;
    assert.deepEqual({ from: question?.from, msg: question?.msg }, { from: 'asker', msg: 'what does it return?' });
    await client.tell('Worker', 'asker', 'a list');
    const result = await asked;
    assert.equal(result.request, 'answered');
    assert.equal(result.answer?.text, 'a list');
    assert.equal(result.answer?.from, 'worker');
    assert.equal(result.answer?.kind, 'reply');
    assert.equal(result.answer?.conversation, result.conversation);
    assert.deepEqual(steps(asker, result.id), ['offered by broker', 'shown by broker', 'replied']);
    await client.tell('Worker', 'asker', 'and one more thing');
    const { messages } = bus.reading.inbox({ agent: asker.id, via: 'rpc' }, { filter: 'new', limit: 9, budget: 9_000 });
    assert.equal(messages.at(-1)?.kind, 'inform');
  });

  test('of several questions none is answered by guessing, and one that was not shown is not either', async (t) => {
    const { client, agent, send, steps, bus } = await BrokerWorld.open(t);
    const asker = await agent('asker');
    await client.tell('Worker', 'asker', 'I am here');
    const first = await send(asker, 'worker', 'one?', 'request');
    await client.tell('Worker', 'asker', 'not an answer: I have not looked');
    const second = await send(asker, 'worker', 'two?', 'request');
    assert.deepEqual(await client.texts('Worker'), ['one?', 'two?']);
    await client.tell('Worker', 'asker', 'which of them?');
    const state = (id: string): unknown => bus.status({ agent: asker.id, via: 'rpc' }, id).request?.state;
    assert.deepEqual([state(first.id), state(second.id)], ['pending', 'pending']);
    await bus.cancel({ agent: asker.id, via: 'rpc' }, first.id);
    await client.tell('Worker', 'asker', 'to the other one');
    assert.equal(state(second.id), 'answered');
    assert.deepEqual(steps(asker, second.id), ['offered by broker', 'shown by broker', 'replied']);
  });

  test('an answer goes to the one it is addressed to, also if others were asked as well', async (t) => {
    const { client, agent, send, inbox, bus } = await BrokerWorld.open(t);
    const [asker, witness] = [await agent('asker'), await agent('witness')];
    await client.tell('Worker', 'asker', 'here');
    await bus.send({ agent: asker.id, via: 'rpc' }, { to: ['worker', 'witness'], text: 'both?', kind: 'request' }, 0, {
      signal: new AbortController().signal,
    });
    await client.fetch('Worker');
    await client.tell('Worker', 'asker', 'only for you');
    assert.deepEqual(
      inbox(witness).map(({ text }) => text),
      ['both?'],
    );
    assert.deepEqual(
      inbox(asker).map(({ text }) => text),
      ['here', 'only for you'],
    );
    const told = await send(witness, 'worker', 'fyi');
    assert.deepEqual(await client.texts('Worker'), ['fyi']);
    await client.tell('Worker', 'witness', 'thanks');
    await until(
      'it was shown',
      () => bus.status({ agent: witness.id, via: 'rpc' }, told.id).recipients[0]?.step === 'shown',
    );
  });

  test('the person writes to a mailbox and is answered', async (t) => {
    const { client, bus, send, inbox, steps } = await BrokerWorld.open(t);
    await client.tell('Worker', 'person', 'may I?');
    const { person } = bus.roster;
    assert.deepEqual(inbox(person), [{ from: 'worker', text: 'may I?' }]);
    const sent = await send(person, 'worker', 'yes');
    assert.deepEqual(steps(person, sent.id), []);
    const [got] = await client.fetch('Worker');
    assert.deepEqual([got?.from, got?.msg], ['person', 'yes']);
    await until('it has hung up', () => steps(person, sent.id).length > 1);
    assert.deepEqual(steps(person, sent.id), ['offered by broker', 'shown by broker']);
  });

  test('a channel is posted to, joined by that, and heard from', async (t) => {
    const { client, bus, agent, inbox } = await BrokerWorld.open(t);
    const ann = await agent('ann');
    const caller = { agent: ann.id, via: 'rpc' } as const;
    assert.match((await client.post('w', '#release', 'x')).error ?? '', /There is no channel "#release"/);
    assert.equal(bus.roster.find('w'), undefined);
    await bus.channels.create(caller, 'release', '');
    await client.tell('w', '#release', 'frozen?');
    assert.deepEqual(inbox(ann), [{ from: 'w', text: 'frozen?' }]);
    await bus.send(caller, { to: ['#release'], text: 'yes' }, 0, { signal: new AbortController().signal });
    const [got] = await client.fetch('w');
    assert.deepEqual([got?.from, got?.msg], ['ann', 'yes\n\n[in #release]']);
  });

  test('what the protocol has no field for stands below the text', async (t) => {
    const { client, bus, agent } = await BrokerWorld.open(t);
    const ann = await agent('ann');
    await client.tell('w', 'ann', 'hi');
    const extras = { files: ['/a b'], options: ['yes', 'no'], data: { n: 1 } };
    await bus.send({ agent: ann.id, via: 'rpc' }, { to: ['w'], text: 'choose', ...extras }, 0, {
      signal: new AbortController().signal,
    });
    assert.deepEqual(await client.texts('w'), [
      'choose\n\n[answers to choose from: ["yes","no"]]\n[files: ["/a b"]]\n[data: {"n":1}]',
    ]);
  });
});

describe('mail', () => {
  test('comes unchanged: any text, up to a mebibyte', async (t) => {
    const { client } = await BrokerWorld.open(t);
    const texts = [
      'héllo\n\u{1f600} <b>&amp;</b> \u2028 \u0000\u0001\u001f "\\" \u200b',
      'x'.repeat(1_048_576),
      'é'.repeat(524_288 - 2_000),
      '\u{1f600}'.repeat(262_144),
    ];
    await client.tell('a', 'b', ...texts);
    const got: string[] = [];
    for (let more = await client.texts('b'); more.length > 0; more = await client.texts('b')) got.push(...more);
    assert.ok(got.length === texts.length && got.every((text, i) => text === texts[i]));
    const { error } = await client.post('a', 'b', 'x'.repeat(1_048_577));
    assert.match(error ?? '', /larger than 1048576 bytes.*Nothing was sent/);
  });

  test('that would not fit into any reply comes as its beginning and says where the rest is', async (t) => {
    const { client, agent, send, steps } = await BrokerWorld.open(t);
    const ann = await agent('ann');
    await client.tell('b', 'ann', 'hi');
    const sent = await send(ann, 'b', '\u0001'.repeat(1_048_576));
    await send(ann, 'b', 'after it');
    const [first, ...others] = await client.texts('b');
    assert.ok(first?.startsWith('\u0001'.repeat(690_000)));
    assert.ok(first?.endsWith(`agent-bus show ${sent.id} --raw]`), first?.slice(-200));
    assert.deepEqual(others, []);
    assert.deepEqual(await client.texts('b'), ['after it']);
    await until('it has hung up', () => steps(ann, sent.id).length > 1);
    assert.deepEqual(steps(ann, sent.id), ['offered by broker', 'shown by broker']);
  });

  test('of more than 4 MiB comes in several replies, in order, each once', async (t) => {
    const { client } = await BrokerWorld.open(t);
    const texts = Array.from({ length: 11 }, (_, i) => `${i} ${'"'.repeat(499_000)}`);
    for (const text of texts) await client.tell('a', 'b', text);
    const pages: number[] = [];
    const got: string[] = [];
    for (;;) {
      const page = await client.texts('b');
      if (page.length === 0) break;
      pages.push(page.length);
      got.push(...page);
    }
    assert.deepEqual(pages, [4, 4, 3]);
    assert.deepEqual(got, texts);
    assert.deepEqual(await client.status(), {});
  });

  test('of many small messages comes in one reply', async (t) => {
    const { client, agent, send } = await BrokerWorld.open(t);
    const ann = await agent('ann');
    await client.tell('b', 'ann', 'hi');
    const texts = Array.from({ length: 2_500 }, (_, i) => `message ${i}`);
    await Promise.all(texts.map((text) => send(ann, 'b', text)));
    assert.deepEqual(await client.status(), { b: 2_500 });
    assert.deepEqual(await client.texts('b'), texts);
    assert.deepEqual(await client.texts('b'), []);
  });

  test('is given once, however many fetch and wait at the same time', async (t) => {
    const { client } = await BrokerWorld.open(t);
    const waits = Array.from({ length: 20 }, () => client.wait('b', 30));
    await until('they wait', async () => 'b' in (await client.status()));
    const texts = Array.from({ length: 60 }, (_, i) => `message ${i}`);
    const posts = texts.map((text) => client.post('a', 'b', text));
    const fetched: string[] = [];
    const fetchers = Array.from({ length: 10 }, async () => {
      for (let round = 0; round < 8; round++) fetched.push(...(await client.texts('b')));
    });
    for (const reply of await Promise.all(posts)) assert.deepEqual(reply, { ok: true, info: 'queued' });
    await Promise.all(fetchers);
    const waited = (await Promise.all(waits)).flatMap(({ message }) => (message ? [message.msg] : []));
    const all = [...fetched, ...waited, ...(await client.texts('b'))].sort();
    assert.deepEqual(all, [...texts].sort());
  });

  test('is taken by the oldest waiter, one message each', async (t) => {
    const { client, bus } = await BrokerWorld.open(t);
    const ends: string[] = [];
    const waiter = async (name: string): Promise<void> => {
      const reply = await client.wait('b', 30);
      ends.push(`${name} ${reply.message?.msg}`);
    };
    const waits = [];
    for (const name of ['first', 'second', 'third']) {
      waits.push(waiter(name));
      await until('it waits', () => bus.waiting.size === waits.length);
    }
    await client.tell('a', 'b', 'one', 'two', 'three');
    await Promise.all(waits);
    assert.deepEqual(ends, ['first one', 'second two', 'third three']);
  });
});
