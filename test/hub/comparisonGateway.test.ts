/** What the A2A gateway offers, done here. README's table of comparison has a row for each of these tests, by its name. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { AgentView } from '../../src/core/model.ts';
import { RemoteAgent, type RemoteAgentOptions } from '../support/a2a/remoteAgent.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { bodyOf, McpAgent } from '../support/mcpAgent.ts';

let hub: HubProcess;
const agents: McpAgent[] = [];

before(async () => {
  hub = await HubProcess.start({ settings: { a2a: { pollSeconds: 0.2, pollAtMostSeconds: 1 } } });
});
after(async () => {
  for (const agent of agents) await agent.close();
  await hub.dispose();
});

async function agent(name: string): Promise<McpAgent> {
  const connected = await McpAgent.connect(hub, name);
  agents.push(connected);
  return connected;
}

async function remote(t: TestContext, options: RemoteAgentOptions = {}): Promise<RemoteAgent> {
  const started = await RemoteAgent.start(options);
  t.after(() => started.stop());
  return started;
}

/** An agent of the bus that has added an agent elsewhere. */
async function pair(
  t: TestContext,
  name: string,
  options: RemoteAgentOptions = {},
): Promise<{ ann: McpAgent; peer: RemoteAgent; to: string }> {
  const [ann, peer] = [await agent(name), await remote(t, { name: `${name} helper`, ...options })];
  const { agent: added } = await ann.ok('register', { url: peer.url });
  return { ann, peer, to: added.name };
}

type Listed = { id: string; state: string };
const listed = ({ requests }: { requests: Listed[] }): [string, string][] =>
  requests.map(({ id, state }) => [id, state]);

test('register an agent by its URL', async (t) => {
  const ann = await agent('register-ann');
  const peer = await remote(t, { name: 'Weather Service' });
  const first = await ann.ok('register', { url: peer.url });
  assert.equal(first.known, false);
  assert.equal(first.agent.name, 'weather-service');
  assert.match(first.agent.address, new RegExp(`^${peer.url}`));
  assert.ok(first.agent.skills.includes('Looking up'));
  // One address is one agent, however it is written.
  const { port } = new URL(peer.url);
  for (const url of [`${peer.url}/`, `HTTP://127.0.0.1:${port}`, `${peer.url}/.well-known/agent-card.json`]) {
    const again = await ann.ok('register', { url });
    assert.deepEqual([again.known, again.agent.name], [true, 'weather-service'], url);
  }
  // Not every URL is asked.
  const requests = peer.requests.length;
  for (const url of [
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
    'http://metadata.google.internal@169.254.169.254/',
  ]) {
    assert.equal((await ann.refused('register', { url })).code, 'refused-address', url);
  }
  for (const url of ['file:///etc/passwd', `ftp://127.0.0.1:${port}/`, 'weather']) {
    const { code } = await ann.refused('register', { url });
    assert.ok(['invalid-input', 'refused-address'].includes(code), `${url}: ${code}`);
  }
  assert.equal(peer.requests.length, requests);
  // Credentials are the person's to give, and never go through a tool.
  const locked = await remote(t, { demands: { header: 'Authorization', value: 'Bearer secret' } });
  const refusal = await ann.refused('register', { url: locked.url });
  assert.equal(refusal.code, 'unauthorized');
  assert.match(refusal.next, /--bearer-from/);
});

test('list agents with their skills', async (t) => {
  const { ann, peer, to } = await pair(t, 'list-ann');
  const find = async (args: object): Promise<AgentView | undefined> =>
    (await ann.ok('agents', args)).agents.find(({ name }: AgentView) => name === to);
  const view = await find({ skill: 'looking' });
  assert.deepEqual([view?.product, view?.skills?.includes('Looking up')], ['a2a', true]);
  assert.equal(await find({ skill: 'cooking' }), undefined);
  assert.match((await ann.call('agents', { query: to })).text, new RegExp(`skills: "Looking up".*at ${peer.url}`));
  // Whether it is there is asked, not assumed.
  assert.equal(typeof (await ann.ok('ping', { to })).rtt_ms, 'number');
  await peer.stop();
  const gone = await ann.ok('ping', { to });
  assert.equal(gone.rtt_ms, null);
  assert.ok(gone.trouble);
});

test('unregister an agent', async (t) => {
  const { ann, peer, to } = await pair(t, 'remove-ann');
  const eve = await agent('remove-eve');
  const sent = await ann.ok('send', { to, text: 'say hello', wait_seconds: 45 });
  assert.equal((await eve.refused('register', { remove: to })).code, 'forbidden');
  assert.deepEqual(await ann.ok('register', { remove: to }), { removed: to });
  assert.equal((await ann.refused('send', { to, text: 'say more' })).code, 'agent-removed');
  assert.ok((await ann.ok('agents')).agents.every(({ name }: AgentView) => name !== to));
  const { messages } = await ann.ok('conversation', { id: sent.conversation });
  assert.deepEqual(messages.map(bodyOf), ['say hello', 'hello'], 'what was said stays');
  const back = await ann.ok('register', { url: peer.url });
  assert.equal(back.agent.name, to, 'and it comes back as the same');
});

test('send with a quick answer, or pending', async (t) => {
  const { ann, peer, to } = await pair(t, 'send-ann');
  const quick = await ann.ok('send', { to, text: 'say 42', wait_seconds: 45 });
  assert.deepEqual([quick.request, bodyOf(quick.answer)], ['answered', '42']);

  const slow = await ann.ok('send', { to, text: 'work on it', wait_seconds: 1 });
  assert.equal(slow.request, 'pending');
  assert.match((await ann.call('status', { id: slow.id })).text, /Request: pending/);
  peer.finish('work on it', 'it is done');
  const { messages } = await ann.ok('inbox', { wait_seconds: 45, kind: 'reply', conversation: slow.conversation });
  assert.deepEqual(
    messages.map((message: { from: string; reply_to: string; text: string }) => [
      message.from,
      message.reply_to,
      bodyOf(message),
    ]),
    [[to, slow.id, 'it is done']],
  );
  // A conversation here is a session there: the agent knows what was said before.
  await ann.ok('send', { to, text: 'do more', wait_seconds: 45 });
  assert.equal(new Set(peer.heard.slice(1).map(({ context }) => context)).size, 1);
  const asked = await ann.ok('send', { to, text: 'ask which one?', kind: 'request' });
  const question = await until('it asks back', async () => {
    const mail = await ann.ok('inbox', { kind: 'request', filter: 'all' });
    return mail.messages[0] as { id: string; text: string } | undefined;
  });
  assert.equal(bodyOf(question), 'which one?');
  await ann.ok('send', { reply_to: question.id, text: 'the left one' });
  await until('the answer is there', async () => {
    const { request, answer } = await ann.ok('status', { id: asked.id });
    return request.state === 'answered' && bodyOf(answer) === 'you said: the left one';
  });
});

test('task result', async (t) => {
  const { ann, peer, to } = await pair(t, 'result-ann');
  const sent = await ann.ok('send', { to, text: 'work slowly', kind: 'request' });
  const working = await until('it says that it works', async () => {
    const status = await ann.ok('status', { id: sent.id });
    return status.task?.state === 'working' ? status : undefined;
  });
  assert.deepEqual([working.request.state, working.answer], ['pending', undefined], 'working is not completed');
  peer.finish('work slowly', 'the result');
  const done = await until('it is answered', async () => {
    const status = await ann.ok('status', { id: sent.id });
    return status.request.state === 'answered' ? status : undefined;
  });
  assert.equal(bodyOf(done.answer), 'the result');
  assert.equal(done.recipients[0].step, 'replied');
});

test('list of tasks by state, order and number', async (t) => {
  const { ann, peer, to } = await pair(t, 'tasks-ann');
  const ids: string[] = [];
  for (const text of ['work one', 'work two', 'fail three', 'say four']) {
    const { id } = await ann.ok('send', { to, text, kind: 'request' });
    await until(`"${text}" was heard`, () => peer.heard.some((heard) => heard.text === text));
    ids.push(id);
  }
  const [one = '', two = '', three = '', four = ''] = ids;
  await until('two have ended', async () => (await ann.ok('status', { state: 'pending' })).requests.length === 2);
  const expected: [string, string][] = [
    [four, 'answered'],
    [three, 'failed'],
    [two, 'pending'],
    [one, 'pending'],
  ];
  const look = async (args: object): Promise<[string, string][]> => listed(await ann.ok('status', args));
  assert.deepEqual(await look({}), expected);
  assert.deepEqual(await look({ order: 'oldest' }), expected.toReversed());
  assert.deepEqual(await look({ limit: 2 }), expected.slice(0, 2));
  assert.deepEqual(await look({ limit: 2, cursor: three }), expected.slice(2));
  for (const state of ['answered', 'failed', 'pending'])
    assert.deepEqual(
      await look({ state }),
      expected.filter(([, own]) => own === state),
    );

  // Nothing is forgotten by a kill, and what was pending comes to its end.
  await until('the agent works on both', () => peer.isAtWork('work one') && peer.isAtWork('work two'));
  await until('the bus knows', async () =>
    (await ann.ok('status', { state: 'pending' })).requests.every((request: { task?: object }) => request.task),
  );
  await hub.kill();
  peer.finish('work one', 'finished meanwhile');
  await hub.start();
  const again = await McpAgent.connect(hub, ann.name, ann.token);
  agents.push(again);
  peer.finish('work two', 'finished afterwards');
  await until('both are answered', async () => (await again.ok('status', { state: 'answered' })).requests.length === 3);
  assert.equal(bodyOf((await again.ok('status', { id: one })).answer), 'finished meanwhile');
  assert.equal(bodyOf((await again.ok('status', { id: two })).answer), 'finished afterwards');
  assert.equal(peer.heard.length, 4, 'nothing was asked twice');
});

test('cancel a task', async (t) => {
  const { ann, peer, to } = await pair(t, 'cancel-ann');
  const sent = await ann.ok('send', { to, text: 'work in vain', kind: 'request' });
  await until('it works', async () => (await ann.ok('status', { id: sent.id })).task?.state === 'working');
  const { request } = await ann.ok('status', { id: sent.id, cancel: true });
  assert.equal(request.state, 'cancelled');
  await until('the agent was told', () => peer.cancelled.includes(peer.taskOf('work in vain')));
  assert.equal((await ann.refused('status', { id: sent.id, cancel: true })).code, 'already-ended');
  assert.deepEqual(listed(await ann.ok('status', { state: 'cancelled' })), [[sent.id, 'cancelled']]);
});

test('streaming progress', async (t) => {
  for (const streaming of [true, false]) {
    const { ann, peer, to } = await pair(t, `stream-${streaming}`, { streaming });
    const told: string[] = [];
    const waiting = ann.call('send', { to, text: 'work visibly', wait_seconds: 45 }, (message) => told.push(message));
    await until('it works', () => peer.isAtWork('work visibly'));
    for (const said of ['a third is done', 'nearly there']) {
      peer.progress('work visibly', said);
      await until(`"${said}" came to who waits (${streaming})`, () => told.some((message) => message.includes(said)));
    }
    const { requests } = await ann.ok('status', { state: 'pending' });
    assert.deepEqual([requests[0].task.state, requests[0].task.progress], ['working', 'nearly there']);
    assert.match((await ann.call('status', { id: requests[0].id })).text, /says: working, "nearly there"/);
    peer.finish('work visibly', 'done');
    const { structured, isError } = await waiting;
    assert.deepEqual([isError, structured['request']], [false, 'answered']);
  }
});

test('failures flagged as errors', async (t) => {
  const { ann, to } = await pair(t, 'fail-ann');
  for (const [text, reason] of [
    ['fail the disk is full', 'the disk is full'],
    ['reject not today', 'not today'],
  ] as const) {
    const failed = await ann.call('send', { to, text, wait_seconds: 45 });
    const { id, request, note, answer } = failed.structured as Record<string, string> & { answer: { text: string } };
    assert.deepEqual([failed.isError, request], [true, 'failed'], text);
    assert.match(failed.text, new RegExp(`Request ${id} failed: .*${reason}`));
    assert.match(note ?? '', new RegExp(reason));
    assert.match(bodyOf(answer), new RegExp(reason), 'what the agent said is given, too');
  }
  // The same where an agent of the bus declines.
  const bob = await agent('fail-bob');
  const waiting = ann.call('send', { to: bob.name, text: 'Deploy?', wait_seconds: 45 });
  const { messages } = await bob.ok('inbox', { wait_seconds: 45 });
  await bob.ok('ack', { ids: [messages[0].id], outcome: 'rejected', note: 'the tests are red' });
  const declined = await waiting;
  assert.deepEqual([declined.isError, declined.structured['request']], [true, 'failed']);
  assert.match(declined.text, /failed: the tests are red/);
});
