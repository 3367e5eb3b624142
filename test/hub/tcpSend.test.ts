/** Sending to agent-tool's sessions that wait in `receive`: real sockets, a real hub. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { Bus } from '../../src/core/bus.ts';
import { defaultTunables } from '../../src/core/limits.ts';
import type { Log } from '../../src/hub/log.ts';
import { TcpCourier } from '../../src/hub/doors/tcpCourier.ts';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import { PeerList } from '../../src/transports/agentTool/peerAddresses.ts';
import { frame, type FramePeer, OneShotReceiver, pingBytes, quietPort } from '../support/agentTool/framePeer.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { tempFolder } from '../support/tempFolder.ts';

let hub: HubProcess;
let ann: BusClient;

before(async () => {
  hub = await HubProcess.start();
  [ann] = await hub.agents(['ann']);
});
after(() => hub.dispose());

const stepOf = async (id: string, client = ann) => (await client.call('status', { id })).data.recipients[0];

describe('send to tcp://host:port', () => {
  test('gives PING and MESSAGE to a blocked receiver over one connection, and says offered, no more', async () => {
    const receiver = await OneShotReceiver.listen();
    const [text, sent] = await Promise.all([
      receiver.receive(),
      ann.call('send', { to: receiver.address.toUpperCase(), text: 'héllo\n' }),
    ]);
    assert.equal(text, 'héllo\n');
    const peer = await receiver.connection();
    assert.equal(peer.received.toString('hex').slice(0, 38), `${pingBytes}00020000000768c3a96c6c6f0a`);
    const name = `tcp-127-0-0-1-${receiver.port}`;
    const [told] = sent.data.recipients;
    assert.deepEqual([told?.agent, told?.step, told?.reach], [name, 'offered', ['TCP, when it listens']]);
    const steps = (await stepOf(sent.data.id))?.steps.map(({ step, route }) => [step, route]);
    assert.deepEqual(steps, [['offered', 'frames']]);
    const agent = (await ann.call('agents', {})).data.agents.find((one) => one.name === name);
    assert.equal(agent?.address, receiver.address);
    assert.equal(agent.product, 'agent-tool');
    receiver.close();
    // The same address is the same agent, by its name as well; and what was taken is not sent again.
    const next = await OneShotReceiver.listen(receiver.port);
    const [second] = await Promise.all([next.receive(), ann.call('send', { to: name, text: 'by name' })]);
    assert.equal(second, 'by name');
    next.close();
  });

  test('1 MiB arrives whole', async () => {
    const receiver = await OneShotReceiver.listen();
    const text = 'é'.repeat(524_288);
    const [got] = await Promise.all([receiver.receive(), ann.call('send', { to: receiver.address, text })]);
    assert.ok(got === text);
    receiver.close();
  });

  test('says what this way does not carry', async () => {
    const receiver = await OneShotReceiver.listen();
    const input = { to: receiver.address, text: 'go?', kind: 'request' as const, data: { a: 1 }, files: ['x'] };
    const [, sent] = await Promise.all([receiver.receive(), ann.call('send', input)]);
    assert.equal(sent.data.request, 'pending');
    assert.match(
      sent.data.recipients[0]?.note ?? '',
      /only the text was sent, without its data and files; .*no answer/,
    );
    receiver.close();
  });

  test('nobody listens: held with the reason, tried again, delivered once somebody does, in order', async () => {
    const port = await quietPort();
    const to = `tcp://127.0.0.1:${port}`;
    const first = (await ann.call('send', { to, text: 'first' })).data;
    assert.equal(first.recipients[0]?.step, 'held');
    assert.equal(first.recipients[0].note, `Nobody listens at 127.0.0.1:${port}.`);
    const second = (await ann.call('send', { to, text: 'second' })).data;
    assert.equal(second.recipients[0]?.step, 'held');
    const texts: string[] = [];
    for (let i = 0; i < 2; i++) {
      const receiver = await OneShotReceiver.listen(port);
      texts.push(await receiver.receive());
      receiver.close();
    }
    assert.deepEqual(texts, ['first', 'second']);
    for (const { id } of [first, second]) {
      await until('it is offered', async () => (await stepOf(id))?.step === 'offered');
    }
    const steps = (await stepOf(first.id))?.steps.map(({ step }) => step);
    // However often it was tried: each reason is told once.
    assert.deepEqual(steps, ['held', 'offered']);
  });

  for (const [how, hangUp] of [
    ['closes the connection', (peer: FramePeer) => peer.socket.destroy()],
    ['resets the connection', (peer: FramePeer) => peer.socket.resetAndDestroy()],
  ] as const) {
    test(`a receiver that ${how} after its PONG has not got it; the next one has, once`, async () => {
      const dying = await OneShotReceiver.listen();
      const sending = ann.call('send', { to: dying.address, text: `survives: ${how}` });
      const peer = await dying.connection();
      assert.equal((await peer.next()).type, 0);
      await peer.write(frame(1));
      hangUp(peer);
      const sent = (await sending).data;
      assert.equal(sent.recipients[0]?.step, 'held');
      dying.close();
      const next = await OneShotReceiver.listen(dying.port);
      assert.equal(await next.receive(), `survives: ${how}`);
      await until('it is offered', async () => (await stepOf(sent.id))?.step === 'offered');
      next.close();
      // A message that follows shows that nothing was sent a second time in between.
      const last = await OneShotReceiver.listen(dying.port);
      const [text] = await Promise.all([last.receive(), ann.call('send', { to: dying.address, text: 'follows' })]);
      assert.equal(text, 'follows');
      last.close();
    });
  }

  test('a receiver that takes the message and hangs up has got it', async () => {
    const receiver = await OneShotReceiver.listen();
    const sending = ann.call('send', { to: receiver.address, text: 'bye' });
    assert.equal(await receiver.receive(), 'bye');
    receiver.close();
    assert.equal((await sending).data.recipients[0]?.step, 'offered');
  });

  test('something else than agent-tool gets no message', async () => {
    const got: string[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined).on('data', (chunk) => got.push(chunk.toString('hex')));
      socket.write('220 mail.example ESMTP\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const to = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sent = (await ann.call('send', { to, text: 'secret' })).data;
    assert.equal(sent.recipients[0]?.step, 'held');
    assert.match(sent.recipients[0].note ?? '', /not agent-tool’s protocol/);
    assert.deepEqual(got.join('').replaceAll(pingBytes, ''), '');
    server.close();
  });

  test('a cancelled request and an expired message are not sent any more', async () => {
    const port = await quietPort();
    const to = `tcp://127.0.0.1:${port}`;
    const { id } = (await ann.call('send', { to, text: 'cancelled', kind: 'request' })).data;
    await ann.call('status', { id, cancel: true });
    const brief = (await ann.call('send', { to, text: 'expired', expires_seconds: 1 })).data;
    await until('it has expired', async () => (await stepOf(brief.id))?.step === 'expired');
    const receiver = await OneShotReceiver.listen(port);
    const [text] = await Promise.all([receiver.receive(), ann.call('send', { to, text: 'current' })]);
    assert.equal(text, 'current');
    receiver.close();
  });

  test('a pause holds it, the end of the pause sends it', async () => {
    const person = await hub.client();
    const receiver = await OneShotReceiver.listen();
    await person.request('pause', { on: true });
    const sent = (await ann.call('send', { to: receiver.address, text: 'later' })).data;
    assert.deepEqual([sent.recipients[0]?.step, sent.recipients[0]?.note], ['held', 'paused by the person']);
    await person.request('pause', { on: false });
    assert.equal(await receiver.receive(), 'later');
    receiver.close();
  });
});

describe('addresses that are not sent to', () => {
  test('other machines, unless they are peers of the frame door', async () => {
    for (const to of ['tcp://192.0.2.7:19900', 'tcp://[2001:db8::1]', 'tcp://0.0.0.0:1']) {
      await assert.rejects(ann.call('send', { to, text: 'x' }), {
        code: 'refused-address',
        next: /agent-bus door frames on --peer/,
      });
      await assert.rejects(ann.call('ping', { to }), { code: 'refused-address' });
    }
  });

  test('anything that is not host and port', async () => {
    for (const to of ['tcp://user@127.0.0.1:1', 'tcp://127.0.0.1:1/path', 'tcp://127.0.0.1:0']) {
      await assert.rejects(ann.call('send', { to, text: 'x' }), { code: 'invalid-input' });
    }
    await assert.rejects(ann.call('send', { to: 'tcp://no-such-host.invalid', text: 'x' }), { code: 'unreachable' });
  });

  test('the bus’s own frame door, which would send it round in circles', async () => {
    const person = await hub.client();
    const { port } = await person.request('door', { door: 'frames', on: true, port: 0 });
    await assert.rejects(ann.call('send', { to: `tcp://127.0.0.1:${port}`, text: 'x' }), { code: 'refused-address' });
    // Asking whether it is there does no harm.
    assert.equal(typeof (await ann.call('ping', { to: `tcp://localhost:${port}` })).data.rtt_ms, 'number');
    await person.request('door', { door: 'frames', on: false });
  });
});

describe('ping', () => {
  test('times an address and an agent by its name; a receiver that is gone is named as the trouble', async () => {
    const receiver = await OneShotReceiver.listen();
    const [, answer] = await Promise.all([
      receiver.connection().then((peer) => peer.next().then(() => peer.write(frame(1)))),
      ann.call('ping', { to: receiver.address }),
    ]);
    assert.ok(typeof answer.data.rtt_ms === 'number' && answer.data.rtt_ms > 0);
    assert.equal(answer.data.address, receiver.address);
    receiver.close();
    await assert.rejects(ann.call('ping', { to: receiver.address }), {
      code: 'unreachable',
      message: `Nobody listens at 127.0.0.1:${receiver.port}.`,
    });
    const there = (await ann.call('agents', {})).data.agents.map(({ name }) => name);
    assert.ok(!there.includes(`tcp-127-0-0-1-${receiver.port}`), 'asking gives nobody a name');

    const named = await OneShotReceiver.listen(receiver.port);
    await Promise.all([named.receive(), ann.call('send', { to: named.address, text: 'hello' })]);
    named.close();
    const again = await OneShotReceiver.listen(receiver.port);
    const [, byName] = await Promise.all([
      again.connection().then((peer) => peer.next().then(() => peer.write(frame(1)))),
      ann.call('ping', { to: `tcp-127-0-0-1-${receiver.port}` }),
    ]);
    assert.ok(typeof byName.data.rtt_ms === 'number');
    again.close();
    const silent = (await ann.call('ping', { to: `tcp-127-0-0-1-${receiver.port}` })).data;
    assert.equal(silent.rtt_ms, null);
    assert.match(silent.trouble ?? '', /Nobody listens/);
  });
});

describe('a hub that ends in between', () => {
  test('its successor goes on with what could not be sent', async () => {
    const own = await HubProcess.start();
    try {
      const port = await quietPort();
      let [bob] = await own.agents(['bob']);
      const { id } = (await bob.call('send', { to: `tcp://127.0.0.1:${port}`, text: 'patient' })).data;
      await own.kill('SIGKILL');
      const receiver = await OneShotReceiver.listen(port);
      await own.start();
      assert.equal(await receiver.receive(), 'patient');
      [bob] = await own.agents(['bob']);
      await until('it is offered', async () => (await stepOf(id, bob))?.step === 'offered');
      receiver.close();
    } finally {
      await own.dispose();
    }
  });
});

describe('giving up', () => {
  test('after ten minutes it is undeliverable, with the reason, and a request has failed', async (t) => {
    const folder = tempFolder(t);
    const store = new SqliteStore(join(folder, 'bus.db'));
    let now = 1_000_000;
    const clock = { now: () => now };
    const bus = new Bus(store, clock, defaultTunables);
    await bus.load();
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined, close: () => undefined };
    const courier = new TcpCourier({
      isPaused: () => false,
      bus,
      store,
      clock,
      log: log satisfies Log,
      peers: () => new PeerList([]),
      ownPort: () => undefined,
    });
    bus.couriers.add(courier);
    t.after(async () => {
      await courier.close();
      store.close();
    });
    const caller = { agent: (await bus.roster.create({ name: 'cy' })).id, via: 'rpc' } as const;
    const to = [`tcp://127.0.0.1:${await quietPort()}`];
    const signal = new AbortController();
    const asked = await bus.send(caller, { to, text: 'old', kind: 'request' }, 0, signal);
    assert.equal(asked.recipients[0]?.step, 'held');
    assert.equal(courier.isBusy, true);
    now += 10 * 60_000 - 1;
    await bus.send(caller, { to, text: 'young' }, 0, signal);
    assert.equal(bus.status(caller, asked.id).request?.state, 'pending');
    now += 1;
    const ended = await until('it was given up', () => {
      const status = bus.status(caller, asked.id);
      return status.request?.state === 'failed' ? status : undefined;
    });
    assert.equal(ended.recipients[0]?.step, 'undeliverable');
    assert.match(ended.request?.note ?? '', /10 minutes: Nobody listens/);
    assert.equal(store.unreadCount(bus.roster.require(asked.to[0] ?? '').id, 10), 1, 'the younger one has time left');
  });
});
