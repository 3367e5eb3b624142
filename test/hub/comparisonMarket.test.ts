/** What a2amarket offers, done here. README's table of comparison has a row for each of these tests, by its name. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listTools } from '../../src/tools/table.ts';
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

let made = 0;
async function newAgents<const Count extends 1 | 2 | 3>(count: Count): Promise<[McpAgent, McpAgent, McpAgent]> {
  const found = [];
  for (let i = 0; i < count; i++) found.push(await McpAgent.connect(hub, `market-${++made}`));
  agents.push(...found);
  return found as [McpAgent, McpAgent, McpAgent];
}

test('send with a message type', async () => {
  const [ann, bob] = await newAgents(2);
  const told = await ann.ok('send', { to: bob.name, text: 'main is frozen', kind: 'inform' });
  const asked = await ann.ok('send', { to: bob.name, text: 'which port?', kind: 'request' });
  const { messages } = await bob.ok('inbox');
  assert.deepEqual(
    messages.map(({ id, kind }: { id: string; kind: string }) => [id, kind]),
    [
      [told.id, 'inform'],
      [asked.id, 'request'],
    ],
  );
  assert.deepEqual(
    (await bob.ok('inbox', { kind: 'request', filter: 'all' })).messages.map(({ id }: { id: string }) => id),
    [asked.id],
  );
  const answer = await bob.ok('send', { reply_to: asked.id, text: '4711' });
  assert.equal(answer.kind, 'reply');
  assert.equal((await ann.ok('status', { id: asked.id })).request.state, 'answered');
  assert.equal((await ann.ok('status', { id: told.id })).request, undefined, 'what only informs is no request');
});

test('inbox by status', async () => {
  const [ann, bob] = await newAgents(2);
  const ids: string[] = [];
  for (const text of ['one', 'two', 'three']) ids.push((await ann.ok('send', { to: bob.name, text })).id);
  const found = async (args: object): Promise<string[]> =>
    (await bob.ok('inbox', args)).messages.map(({ id }: { id: string }) => id);
  assert.deepEqual(await found({ filter: 'new', limit: 2 }), ids.slice(0, 2));
  await bob.ok('ack', { ids: ids.slice(0, 1) });
  assert.deepEqual(await found({ filter: 'open' }), ids.slice(1), 'shown, and not yet dealt with; or new');
  assert.deepEqual(await found({ filter: 'done' }), ids.slice(0, 1));
  assert.deepEqual(await found({ filter: 'all' }), ids);
  assert.deepEqual(await found({ filter: 'new' }), [], 'all were shown by now');
});

test('list of conversations with last message and counterparty', async () => {
  const [ann, bob, eve] = await newAgents(3);
  await ann.ok('send', { to: bob.name, text: 'first to bob' });
  await ann.ok('send', { to: eve.name, text: 'to eve' });
  const last = await bob.ok('send', { to: ann.name, text: 'back to ann\nwith a second line' });
  const { conversations } = await ann.ok('conversations');
  assert.deepEqual(
    conversations.map((entry: { title: string; members: string[]; last: { from: string; line: string } }) => [
      entry.title,
      entry.members.toSorted(),
      entry.last.from,
      entry.last.line,
    ]),
    [
      [bob.name, [ann.name, bob.name], bob.name, 'back to ann'],
      [eve.name, [ann.name, eve.name], ann.name, 'to eve'],
    ],
    'by last activity',
  );
  assert.equal(conversations[0].last.id, last.id);
  assert.equal(conversations[0].unread, 1);
  const first = await ann.ok('conversations', { limit: 1 });
  const second = await ann.ok('conversations', { limit: 1, cursor: first.next });
  assert.deepEqual(
    [...first.conversations, ...second.conversations].map(({ id }) => id),
    [conversations[0].id, conversations[1].id],
  );
  assert.equal(second.next, undefined);
});

test('one conversation', async () => {
  const [ann, bob, eve] = await newAgents(3);
  const asked = await ann.ok('send', { to: bob.name, text: 'which port?', kind: 'request' });
  await bob.ok('send', { reply_to: asked.id, text: '4711' });
  await eve.ok('send', { to: bob.name, text: 'something else' });
  for (const args of [{ id: asked.conversation }, { with: bob.name }, { id: bob.name }]) {
    const { conversation, messages } = await ann.ok('conversation', args);
    assert.equal(conversation.id, asked.conversation);
    assert.deepEqual(messages.map(bodyOf), ['which port?', '4711']);
    assert.equal(messages[1].reply_to, asked.id);
  }
  const refusal = await eve.refused('conversation', { id: asked.conversation });
  assert.equal(refusal.code, 'unknown-conversation', 'it is none of eve’s');
});

test('acknowledge in a batch', async () => {
  const [ann, bob, eve] = await newAgents(3);
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await ann.ok('send', { to: bob.name, text: `note ${i}` })).id);
  const foreign = (await ann.ok('send', { to: eve.name, text: 'for eve' })).id;
  assert.equal((await bob.refused('ack', { ids: [...ids, foreign] })).code, 'unknown-message');
  assert.equal((await bob.ok('inbox', { filter: 'done' })).messages.length, 0, 'all of them or none');
  const { results } = await bob.ok('ack', { ids, outcome: 'done', note: 'read' });
  assert.deepEqual(
    results,
    ids.map((id) => ({ id, state: 'done' })),
  );
  const { recipients } = await ann.ok('status', { id: ids[7] });
  assert.deepEqual([recipients[0].step, recipients[0].steps.at(-1).note], ['acked', 'read']);
  assert.ok((await bob.ok('ack', { ids })).results.every(({ state }: { state: string }) => state === 'unchanged'));
});

test('search agents by text, capability and online state', async () => {
  const [ann, bob, eve] = await newAgents(3);
  await bob.ok('register', { about: 'keeps the API of tea-shop', skills: ['REST APIs', 'PostgreSQL'] });
  await eve.ok('register', { about: 'draws tea-shop', skills: ['CSS'] });
  await hub.mint('tea-shop-absent');
  const found = async (args: object): Promise<string[]> =>
    (await ann.ok('agents', args)).agents.map(({ name }: { name: string }) => name);
  assert.deepEqual(await found({ query: 'tea-shop' }), [bob.name, eve.name, 'tea-shop-absent'].toSorted());
  assert.deepEqual(await found({ query: 'tea-shop', online: true }), [bob.name, eve.name].toSorted());
  assert.deepEqual(await found({ query: 'tea-shop', online: false }), ['tea-shop-absent']);
  assert.deepEqual(await found({ skill: 'rest' }), [bob.name]);
  assert.deepEqual(await found({ query: 'postgresql' }), [bob.name]);
  assert.deepEqual(await found({ query: 'tea-shop', skill: 'css', online: true }), [eve.name]);
  assert.match((await ann.call('agents', { skill: 'rest' })).text, /skills: "REST APIs", "PostgreSQL"/);
});

test('a correction hint on every error', async () => {
  const [ann, bob] = await newAgents(2);
  await bob.ok('register', { name: 'shop-api-copilot' });
  const wrong: [tool: string, args: object, code: string, hint: RegExp][] = [
    ['send', { to: 'shop-api-copilt', text: 'x' }, 'unknown-agent', /"shop-api-copilot"/],
    ['send', { to: '#nowhere', text: 'x' }, 'unknown-channel', /create/],
    ['inbox', { filter: 'unread' }, 'invalid-input', /filter/],
    ['ack', { ids: ['m9999'] }, 'unknown-message', /inbox/],
    ['status', { cancel: true }, 'invalid-input', /`id`/],
    ['conversations', { cursor: 'zzz' }, 'invalid-input', /page before/],
    ['conversation', { with: 'shop-api-copilot' }, 'unknown-conversation', /send/],
    ['channel', { action: 'join' }, 'invalid-input', /`name`/],
    ['register', { name: 'shop-api-copilot' }, 'name-taken', /shop-api-copilot-2/],
    ['ping', { to: 'nobody' }, 'unknown-agent', /agents/],
    ['agents', { limit: 1000 }, 'invalid-input', /limit/],
  ];
  for (const [tool, args, code, hint] of wrong) {
    const error = await ann.refused(tool, args);
    assert.equal(error.code, code, tool);
    assert.match(error.next, hint, tool);
  }
  assert.deepEqual(
    [...new Set(wrong.map(([tool]) => tool))].toSorted(),
    listTools()
      .map(({ name }) => name)
      .toSorted(),
  );
});
