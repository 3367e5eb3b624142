/** What sylex offers, done here. README's table of comparison has a row for each of these tests, by its name. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { HistoryPage } from '../../src/core/reading.ts';
import { HubProcess } from '../support/hubProcess.ts';
import { bodyOf, McpAgent } from '../support/mcpAgent.ts';

let hub: HubProcess;
const agents: McpAgent[] = [];

before(async () => {
  hub = await HubProcess.start();
});
after(async () => {
  for (const agent of agents) await agent.close();
  await hub.dispose();
});

async function agent(name: string, token?: string): Promise<McpAgent> {
  const connected = await McpAgent.connect(hub, name, token);
  agents.push(connected);
  return connected;
}

type Channel = { name: string; members: number; joined: boolean; unread?: number };

test('register and re-connect', async () => {
  const ann = await agent('ann');
  await ann.ok('register', { name: 'ann-of-shop', about: 'keeps shop' });
  const bob = await agent('bob');
  const sent = await bob.ok('send', { to: 'ann-of-shop', text: 'for ann only' });

  // Who knows the name and nothing else: no token, a made-up one, an own one, the name as an argument.
  for (const token of ['ann-of-shop', `abt_${'a'.repeat(43)}`])
    await assert.rejects(agent('ann-of-shop', token), /A valid token is needed/);
  await assert.rejects(hub.client({ token: 'ann-of-shop' }), { code: 'unauthorized' });
  const eve = await agent('eve');
  assert.equal((await eve.refused('register', { name: 'ann-of-shop' })).code, 'name-taken');
  assert.equal((await eve.refused('register', { name: 'ann' })).code, 'name-taken', 'a former name stays its own');
  assert.equal((await eve.refused('conversation', { id: sent.id })).code, 'unknown-message');
  assert.equal((await eve.ok('agents')).you.name, 'eve');

  // The token brings back the same agent with its mail: on another connection, and after a crash of the hub.
  await ann.close();
  await hub.kill();
  await hub.start();
  const again = await agent('ann-of-shop', ann.token);
  const { messages } = await again.ok('inbox');
  assert.deepEqual(
    messages.map((message: { id: string; text: string }) => [message.id, bodyOf(message)]),
    [[sent.id, 'for ann only']],
  );

  const { you } = await again.ok('agents');
  assert.deepEqual([you.name, you.about], ['ann-of-shop', 'keeps shop']);

  // Taken back, it is good for nothing.
  const person = await hub.client();
  await person.request('revoke', { name: 'ann-of-shop' });
  await assert.rejects(agent('ann-of-shop', ann.token), /A valid token is needed/);
});

test('private direct messages', async () => {
  const [ann, bob, eve] = [await agent('dm-ann'), await agent('dm-bob'), await agent('dm-eve')];
  const sent = await ann.ok('send', { to: bob.name, text: 'the launch code is 1234' });
  assert.deepEqual((await bob.ok('inbox')).messages.map(bodyOf), ['the launch code is 1234']);
  const tries: [string, object][] = [
    ['inbox', { filter: 'all' }],
    ['conversations', {}],
    ['conversations', { query: 'launch' }],
    ['conversation', { id: sent.conversation }],
    ['conversation', { id: sent.id }],
    ['conversation', { with: bob.name }],
    ['status', { id: sent.id }],
    ['status', { role: 'received' }],
    ['ack', { ids: [sent.id] }],
    ['agents', { query: '1234' }],
  ];
  for (const [tool, args] of tries) {
    const { text, structured } = await eve.call(tool, args);
    assert.doesNotMatch(text + JSON.stringify(structured), /launch code/, `${tool} ${JSON.stringify(args)}`);
  }
  const foreign = await eve.refused('conversation', { id: sent.id });
  const missing = await eve.refused('conversation', { id: 'mzzz' });
  assert.deepEqual(foreign, { ...missing, message: missing.message.replace('mzzz', sent.id) });
});

test('inbox with unread filter and count', async () => {
  const [ann, bob] = [await agent('unread-ann'), await agent('unread-bob')];
  for (let i = 0; i < 10; i++) await ann.ok('send', { to: bob.name, text: `note ${i}` });
  const first = await bob.ok('inbox', { filter: 'new', limit: 2 });
  assert.deepEqual([first.messages.map(bodyOf), first.unread_left], [['note 0', 'note 1'], 8]);
  const { you, news } = await bob.ok('agents');
  assert.deepEqual([you.unread, news.messages.length], [8, 3], 'three of them rode along on this very answer');
  assert.equal((await bob.ok('conversations')).conversations[0].unread, 5);
  const rest = await bob.ok('inbox', { filter: 'new' });
  assert.equal(rest.unread_left, 0);
  assert.equal((await bob.ok('agents')).you.unread, 0);
  assert.deepEqual((await bob.ok('inbox', { filter: 'new' })).messages, []);
  const all = await bob.ok('inbox', { filter: 'all' });
  assert.equal(all.messages.length, 10, 'reading removes nothing');
});

test('a conversation in both directions, with paging', async () => {
  const [ann, bob] = [await agent('paging-ann'), await agent('paging-bob')];
  const expected: string[] = [];
  for (let i = 0; i < 12; i++) {
    const [from, to] = i % 2 === 0 ? [ann, bob] : [bob, ann];
    await from.ok('send', { to: to.name, text: `line ${i}` });
    expected.push(`${from.name}: line ${i}`);
  }
  const line = (message: { from: string; text: string }): string => `${message.from}: ${bodyOf(message)}`;
  for (const [reader, other] of [
    [ann, bob],
    [bob, ann],
  ] as const) {
    const backwards: string[] = [];
    let page = await reader.ok('conversation', { with: other.name, limit: 5 });
    assert.equal(page.after, undefined, 'the newest page comes first');
    for (;;) {
      backwards.unshift(...page.messages.map(line));
      if (page.before === undefined) break;
      page = await reader.ok('conversation', { with: other.name, limit: 5, before: page.before });
    }
    assert.deepEqual(backwards, expected);
    const forwards: string[] = [];
    for (let after: string | undefined = 'm0'; after !== undefined; after = page.after) {
      page = await reader.ok('conversation', { with: other.name, limit: 5, after });
      forwards.push(...page.messages.map(line));
    }
    assert.deepEqual(forwards, expected);
  }
});

test('channels: create', async () => {
  const [ann, bob] = [await agent('create-ann'), await agent('create-bob')];
  const { channels } = await ann.ok('channel', { action: 'create', name: 'release', about: 'what ships when' });
  assert.deepEqual(
    channels.map(({ name, about, members, joined }: Channel & { about: string }) => [name, about, members, joined]),
    [['#release', 'what ships when', 1, true]],
  );
  const taken = await bob.refused('channel', { action: 'create', name: '#release' });
  assert.equal(taken.code, 'channel-taken');
  assert.match(taken.next, /join/);
});

test('channels: list', async () => {
  const [ann, bob] = [await agent('list-ann'), await agent('list-bob')];
  for (const name of ['list-one', 'list-two']) await ann.ok('channel', { action: 'create', name });
  const { channels } = await bob.ok('channel', { action: 'list' });
  const own = channels.filter(({ name }: Channel) => name.startsWith('#list-'));
  assert.deepEqual(
    own.map(({ name, members, joined }: Channel) => [name, members, joined]),
    [
      ['#list-one', 1, false],
      ['#list-two', 1, false],
    ],
  );
});

test('channels: join', async () => {
  const [ann, bob] = [await agent('join-ann'), await agent('join-bob')];
  await ann.ok('channel', { action: 'create', name: 'join-here' });
  const before = await ann.ok('send', { to: '#join-here', text: 'said before' });
  const joined = await bob.ok('channel', { action: 'join', name: 'join-here' });
  assert.deepEqual([joined.channels[0].members, joined.channels[0].joined, joined.channels[0].unread], [2, true, 0]);
  await ann.ok('send', { to: '#join-here', text: 'said after' });
  assert.deepEqual((await bob.ok('inbox')).messages.map(bodyOf), ['said after']);
  const { messages } = await bob.ok('conversation', { with: '#join-here' });
  assert.deepEqual(messages.map(bodyOf), ['said before', 'said after'], 'a member reads what was said before');
  assert.equal(messages[0].id, before.id);
  assert.equal(
    (await bob.ok('channel', { action: 'join', name: 'join-here' })).channels[0].members,
    2,
    'again: the same',
  );
});

test('channels: leave', async () => {
  const [ann, bob] = [await agent('leave-ann'), await agent('leave-bob')];
  await ann.ok('channel', { action: 'create', name: 'leave-here' });
  await bob.ok('channel', { action: 'join', name: 'leave-here' });
  const left = await bob.ok('channel', { action: 'leave', name: 'leave-here' });
  assert.deepEqual([left.channels[0].members, left.channels[0].joined], [1, false]);
  await ann.ok('send', { to: '#leave-here', text: 'without bob' });
  assert.deepEqual((await bob.ok('inbox', { filter: 'all' })).messages, []);
  assert.equal((await bob.refused('send', { to: '#leave-here', text: 'x' })).code, 'not-a-member');
  assert.equal((await bob.refused('channel', { action: 'leave', name: 'leave-here' })).code, 'not-a-member');
});

test('channels: mine', async () => {
  const [ann, bob] = [await agent('mine-ann'), await agent('mine-bob')];
  for (const name of ['mine-one', 'mine-two', 'mine-three']) await ann.ok('channel', { action: 'create', name });
  for (const name of ['mine-one', 'mine-three']) await bob.ok('channel', { action: 'join', name });
  await ann.ok('send', { to: '#mine-three', text: 'news' });
  const { channels } = await bob.ok('channel', { action: 'mine' });
  assert.deepEqual(
    channels.map(({ name, unread }: Channel) => [name, unread]),
    [
      ['#mine-one', 0],
      ['#mine-three', 1],
    ],
  );
});

test('channels: post', async () => {
  const [ann, bob, eve] = [await agent('post-ann'), await agent('post-bob'), await agent('post-eve')];
  await ann.ok('channel', { action: 'create', name: 'post-here' });
  await bob.ok('channel', { action: 'join', name: 'post-here' });
  const refusal = await eve.refused('send', { to: '#post-here', text: 'from outside' });
  assert.equal(refusal.code, 'not-a-member');
  assert.match(refusal.next, /"join"/);
  await bob.ok('send', { to: '#post-here', text: 'main is frozen' });
  const { messages } = await ann.ok('inbox');
  assert.deepEqual(
    [messages[0].from, messages[0].channel, bodyOf(messages[0])],
    [bob.name, 'post-here', 'main is frozen'],
  );
  assert.deepEqual((await eve.ok('inbox', { filter: 'all' })).messages, []);
});

test('channels: browse, with unread state for members only', async () => {
  const [ann, bob, eve] = [await agent('browse-ann'), await agent('browse-bob'), await agent('browse-eve')];
  await ann.ok('channel', { action: 'create', name: 'browse-here' });
  await bob.ok('channel', { action: 'join', name: 'browse-here' });
  for (let i = 0; i < 3; i++) await ann.ok('send', { to: '#browse-here', text: `post ${i}` });
  // As a program: on a model's answers the posts themselves would ride along and be read.
  const [member, stranger] = [await hub.client({ token: bob.token }), await hub.client({ token: eve.token })];
  const state = async (reader: BusClient): Promise<Channel | undefined> =>
    (await reader.call('channel', { action: 'list' })).data.channels.find(({ name }) => name === '#browse-here');
  const browse = async (before?: string): Promise<HistoryPage> => {
    const { data, shown } = await member.call('conversation', { with: '#browse-here', limit: 2, before });
    member.shown(shown);
    return data as HistoryPage;
  };
  assert.equal((await state(member))?.unread, 3);
  assert.deepEqual([(await state(stranger))?.joined, (await state(stranger))?.unread], [false, undefined]);

  const page = await browse();
  assert.deepEqual(page.messages.map(bodyOf), ['post 1', 'post 2']);
  assert.equal((await state(member))?.unread, 1, 'exactly what was returned is read');
  const older = await browse(page.before);
  assert.deepEqual(older.messages.map(bodyOf), ['post 0']);
  assert.equal((await state(member))?.unread, 0);

  for (const args of [{ with: '#browse-here' }, { id: '#browse-here' }]) {
    const refusal = await eve.refused('conversation', args);
    assert.equal(refusal.code, 'not-a-member');
    assert.match(refusal.next, /"join"/);
  }
});
