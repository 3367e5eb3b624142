/** What agent-tool offers, done here. README's table of comparison has a row for each of these tests, by its name. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import type { DoorName } from '../../src/protocol/doorMessages.ts';
import { BrokerClient } from '../support/agentTool/brokerClient.ts';
import { RunningCli } from '../support/cliProcess.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { bodyOf, McpAgent } from '../support/mcpAgent.ts';

let hub: HubProcess;
let broker: BrokerClient;
const agents: McpAgent[] = [];
const ports: Record<DoorName, number> = { frames: 0, broker: 0 };

before(async () => {
  hub = await HubProcess.start();
  const person = await hub.client();
  for (const door of ['frames', 'broker'] as const) {
    const view = await person.request('door', { door, on: true, port: 0 });
    assert.ok(view.open && view.port > 0);
    ports[door] = view.port;
  }
  broker = new BrokerClient(() => ports.broker);
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

function frame(type: number, text = ''): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(6);
  head.writeUInt16BE(type, 0);
  head.writeUInt32BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

const ping = frame(0);
const pong = frame(1);

/** Whatever of whole frames is there. */
function framesIn(bytes: Buffer): { type: number; text: string }[] {
  const found = [];
  for (let at = 0; bytes.length >= at + 6;) {
    const end = at + 6 + bytes.readUInt32BE(at + 2);
    if (bytes.length < end) break;
    found.push({ type: bytes.readUInt16BE(at), text: bytes.toString('utf8', at + 6, end) });
    at = end;
  }
  return found;
}

/** agent-tool's `receive` as it is: it takes one connection, closes the listener, and ends with the first message. */
async function blockedReceive(t: TestContext, port = 0): Promise<{ port: number; text: Promise<string> }> {
  const server = createServer({ noDelay: true });
  t.after(() => server.close());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const text = (async () => {
    const [socket] = (await once(server, 'connection')) as [Socket];
    server.close();
    let bytes = Buffer.alloc(0);
    let answered = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes = Buffer.concat([bytes, chunk]);
      const frames = framesIn(bytes);
      for (; answered < frames.filter(({ type }) => type === 0).length; answered++) socket.write(pong);
      const message = frames.find(({ type }) => type === 2);
      if (!message) continue;
      socket.destroy();
      return message.text;
    }
    throw new Error('the connection ended without a message');
  })();
  // A test that has failed before it came to wait for it says why by itself.
  text.catch(() => undefined);
  return { port: (server.address() as AddressInfo).port, text };
}

async function door(t: TestContext): Promise<Socket> {
  const socket = connect({ port: ports.frames, host: '127.0.0.1', noDelay: true });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('send to an address', async (t) => {
  const ann = await agent('send-ann');
  const receiver = await blockedReceive(t);
  const address = `tcp://127.0.0.1:${receiver.port}`;
  const sent = await ann.ok('send', { to: address, text: 'héllo\n' });
  assert.equal(await receiver.text, 'héllo\n', 'over the one connection that it takes');
  assert.equal(sent.recipients[0].step, 'offered');
  const { recipients } = await ann.ok('status', { id: sent.id });
  assert.deepEqual(
    [recipients[0].step, recipients[0].steps.at(-1).route],
    ['offered', 'frames'],
    'the bytes were taken; more is not known and not said',
  );

  // To a process that is gone: nobody is told that it went well, and it arrives when somebody listens there.
  const late = await ann.call('send', { to: address, text: 'are you there?' });
  const [recipient] = late.structured['recipients'] as [{ step: string; note: string }];
  assert.equal(recipient.step, 'held');
  assert.ok(recipient.note.length > 0);
  assert.match(late.text, /: held \("/);
  const again = await blockedReceive(t, receiver.port);
  assert.equal(await again.text, 'are you there?');
  await until('the receipt says so', async () => {
    const status = await ann.ok('status', { id: late.structured['id'] });
    return status.recipients[0].step === 'offered';
  });
});

test('receive, blocking up to 300 s by repeated waits', async (t) => {
  const bob = await agent('receive-bob');
  const person = await hub.client();
  await person.request('door', { door: 'frames', on: true, to: bob.name });

  const first = await bob.ok('inbox', { wait_seconds: 1 });
  assert.deepEqual([first.messages, first.waited], [[], true], 'the end of one wait is no error: it is called again');
  const waiting = bob.ok('inbox', { wait_seconds: 45 });
  await until(
    'bob waits',
    async () => (await person.call('agents', { query: bob.name })).data.agents[0]?.presence === 'waiting',
  );
  // What aborts a blocked receive of agent-tool: a ping, by whichever way.
  const [one, other] = [await door(t), await door(t)];
  one.write(ping);
  assert.deepEqual((await once(one, 'data'))[0], pong);
  await person.call('ping', { to: bob.name });
  one.write(frame(2, 'from one peer'));
  assert.deepEqual((await waiting).messages.map(bodyOf), ['from one peer']);
  // …and after the first message it hears every other peer as well.
  const next = bob.ok('inbox', { wait_seconds: 45 });
  other.write(frame(2, 'from another'));
  assert.deepEqual((await next).messages.map(bodyOf), ['from another']);

  // The same for 300 s and longer, as a command that an agent leaves running.
  const env = { ...process.env, AGENT_BUS_HOME: hub.home.folder };
  const command = new RunningCli(['wait', '--as', bob.name, '--timeout', '300'], env, {});
  t.after(() => command.child.kill('SIGKILL'));
  await until('the command waits', async () => (await hub.status()).connections.waitingCalls === 1);
  other.write(frame(2, 'for the command'));
  const { code, text } = await command.result;
  assert.equal(code, 0);
  assert.match(text, /for the command/);

  // And over agent-tool's own broker.
  const reply = broker.wait('receive-box', 300);
  await until('the mailbox is waited for', async () => 'receive-box' in (await broker.status()));
  await broker.tell('someone', 'receive-box', 'for the mailbox');
  assert.deepEqual([(await reply).message?.from, (await reply).message?.msg], ['someone', 'for the mailbox']);
});

test('ping with round-trip time', async (t) => {
  const ann = await agent('ping-ann');
  const [bob] = await hub.agents(['ping-bob']);
  const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0;
  const alive = await ann.ok('ping', { to: bob.agent });
  assert.ok(isTime(alive.rtt_ms), 'by name');
  assert.match((await ann.call('ping', { to: bob.agent })).text, /answered in [\d.]+ ms/);
  const address = await ann.ok('ping', { to: `tcp://127.0.0.1:${ports.frames}` });
  assert.ok(isTime(address.rtt_ms), 'by address');
  hub.close(bob);
  await until('bob is gone', async () => (await ann.ok('ping', { to: 'ping-bob' })).rtt_ms === null);
  const gone = await blockedReceive(t);
  await ann.ok('send', { to: `tcp://127.0.0.1:${gone.port}`, text: 'the last one' });
  await gone.text;
  const refusal = await ann.refused('ping', { to: `tcp://127.0.0.1:${gone.port}` });
  assert.equal(refusal.code, 'unreachable');
});

test('messages of 1 MiB', async (t) => {
  const bytes = 1_048_576;
  const ann = await agent('large-ann');
  const [bob] = await hub.agents(['large-bob']);
  const person = await hub.client();
  const text = 'é'.repeat(bytes / 2);
  await ann.ok('send', { to: bob.agent, text });
  assert.equal((await ann.refused('send', { to: bob.agent, text: `${text}x` })).code, 'too-large');

  await person.request('door', { door: 'frames', on: true, to: bob.agent });
  const socket = await door(t);
  socket.write(frame(2, text));
  const receiver = await blockedReceive(t);
  await ann.ok('send', { to: `tcp://127.0.0.1:${receiver.port}`, text });
  assert.ok((await receiver.text) === text);

  // agent-tool's broker deletes all of them and then fails, since the reply would have more than 4 MiB.
  for (let i = 0; i < 6; i++) await broker.tell('large-peer', 'large-box', text);
  await broker.tell('large-peer', bob.agent, text);
  const fetched: string[] = [];
  let fetches = 0;
  for (let texts = await broker.texts('large-box'); texts.length > 0; texts = await broker.texts('large-box')) {
    fetched.push(...texts);
    fetches++;
  }
  assert.equal(fetched.length, 6);
  assert.ok(fetches > 1 && fetched.every((one) => one === text));

  const mail = await until('all three are there', async () => {
    const { messages } = (await bob.call('inbox', {})).data;
    return messages.length === 3 ? messages : undefined;
  });
  assert.ok(mail.every((message) => message.text === text));
});

test('named mailboxes', async () => {
  const ann = await agent('box-ann');
  assert.equal((await broker.post('Box B', 'Box A', 'first')).info, 'queued');
  await broker.tell('Box B', 'Box A', 'second');
  // A waiter that vanishes takes nothing with it.
  const gone = await broker.open();
  gone.write('{"op":"wait","mailbox":"Box C","timeout":60}\n');
  await until('it waits', async () => 'Box C' in (await broker.status()));
  gone.destroy();
  await broker.tell('Box B', 'Box C', 'not swallowed');

  await hub.kill();
  await hub.start();
  ports.broker = (await hub.status()).doors.find((view) => view.door === 'broker')?.port ?? 0;
  assert.deepEqual(
    (await broker.fetch('Box A')).map(({ from, msg }) => [from, msg]),
    [
      ['Box B', 'first'],
      ['Box B', 'second'],
    ],
    'queued means on disk',
  );
  assert.deepEqual(await broker.texts('Box A'), [], 'each once');
  assert.deepEqual(await broker.texts('Box C'), ['not swallowed']);

  // A mailbox is an agent like any other, both ways.
  const { agents: found } = await ann.ok('agents', { query: 'box-a' });
  const box = found.find(({ about }: { about: string }) => about?.includes('"Box A"'));
  await ann.ok('send', { to: box.name, text: 'from the bus' });
  assert.deepEqual(
    (await broker.fetch('Box A')).map(({ from, msg }) => [from, msg]),
    [[ann.name, 'from the bus']],
  );
  await broker.tell('Box A', ann.name, 'to the bus');
  const { messages } = await ann.ok('inbox');
  assert.deepEqual([messages[0].from, bodyOf(messages[0])], [box.name, 'to the bus']);

  // `from` is free text there; here nobody takes an agent's name, or reads its mail.
  assert.equal((await broker.post(ann.name, 'Box A', 'as ann')).ok, false);
  assert.equal((await broker.call({ op: 'fetch', mailbox: ann.name })).ok, false);
});

test('broker status', async () => {
  await broker.tell('status-b', 'status-a', 'one', 'two');
  const reply = await broker.call({ op: 'status' });
  assert.deepEqual([reply.ok, reply.info, reply.mailboxes?.['status-a']], [true, 'agent-tool-ipc-broker', 2]);
  const { doors } = await hub.status();
  const view = doors.find((one) => one.door === 'broker');
  assert.deepEqual([view?.on, view?.open, view?.port], [true, true, ports.broker]);
  const env = { ...process.env, AGENT_BUS_HOME: hub.home.folder };
  const { code, text } = await new RunningCli(['status', '--json'], env, {}).result;
  assert.equal(code, 0);
  assert.match(text, new RegExp(`"door": ?"broker"[^}]*"port": ?${ports.broker}\\b`));
});
