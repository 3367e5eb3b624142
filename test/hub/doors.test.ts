/** Which doors are open, how they are changed, and what keeps one shut. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { DoorName, DoorView } from '../../src/protocol/doorMessages.ts';
import { FramePeer, quietPort } from '../support/agentTool/framePeer.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';

async function view(hub: HubProcess, door: DoorName): Promise<DoorView> {
  const found = (await hub.status()).doors.find((one) => one.door === door);
  assert.ok(found);
  return found;
}

/** Another program that has a port. */
async function squat(port = 0): Promise<{ port: number; end: () => Promise<void> }> {
  const server: Server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const end = async (): Promise<void> => {
    server.close();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, end };
}

async function isOpen(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    const peer = await FramePeer.connect(port, host);
    await peer.ping();
    peer.close();
    return true;
  } catch {
    return false;
  }
}

describe('the doors', () => {
  let hub: HubProcess;
  let person: BusClient;
  before(async () => {
    hub = await HubProcess.start();
    person = await hub.client();
  });
  after(() => hub.dispose());

  test('are shut until somebody opens them', async () => {
    const shut = { on: false, open: false, bind: '127.0.0.1', connections: 0 };
    assert.deepEqual((await hub.status()).doors, [
      { door: 'frames', ...shut, port: 19_900, to: 'person', peers: [] },
      { door: 'broker', ...shut, port: 19_901 },
    ]);
  });

  test('open, move and close at once', async () => {
    const first = await person.request('door', { door: 'frames', on: true, port: 0 });
    assert.equal(first.open, true);
    assert.ok(first.port > 0 && (await isOpen(first.port)));
    // What is left out stays as it is: the port, too.
    const same = await person.request('door', { door: 'frames', on: true, to: 'person' });
    assert.equal(same.port, first.port);
    const port = await quietPort();
    const moved = await person.request('door', { door: 'frames', on: true, port });
    assert.deepEqual([moved.open, moved.port], [true, port]);
    assert.deepEqual([await isOpen(first.port), await isOpen(port)], [false, true]);
    const held = await FramePeer.connect(port);
    await held.ping();
    const off = await person.request('door', { door: 'frames', on: false });
    assert.deepEqual([off.on, off.open, off.port], [false, false, port]);
    await held.gone();
    assert.equal(await isOpen(port), false);
  });

  test('the broker answers as agent-tool’s does', async () => {
    const { port, open } = await person.request('door', { door: 'broker', on: true, port: 0 });
    assert.equal(open, true);
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    let answer = '';
    socket.on('data', (text: string) => (answer += text)).write('{"op":"status"}\n');
    await once(socket, 'end');
    assert.match(answer, /"info":"agent-tool-ipc-broker"/);
    socket.destroy();
    await person.request('door', { door: 'broker', on: false });
  });

  test('a taken port is refused, and everything stays as it was', async () => {
    const { port } = await person.request('door', { door: 'frames', on: true, port: 0 });
    const other = await squat();
    for (const door of ['frames', 'broker'] as const) {
      await assert.rejects(person.request('door', { door, on: true, port: other.port }), {
        code: 'door-taken',
        next: new RegExp(`agent-bus door ${door} on --port`),
      });
    }
    assert.deepEqual([(await view(hub, 'frames')).port, await isOpen(port)], [port, true]);
    assert.equal((await view(hub, 'broker')).on, false);
    await other.end();
  });

  test('what makes no sense is refused, and everything stays as it was', async () => {
    const before = await person.request('door', { door: 'frames', on: true, port: 0 });
    await hub.agents(['ann']);
    await person.call('send', { to: `tcp://127.0.0.1:${await quietPort()}`, text: 'makes an agent' });
    const carried = (await person.call('agents', {})).data.agents.find(({ name }) => name.startsWith('tcp-'));
    const wrong: [params: Record<string, unknown>, code: string, next?: RegExp][] = [
      [{ bind: '0.0.0.0' }, 'invalid-input', /--bind 0\.0\.0\.0 --peer ADDRESS/],
      [{ bind: '::' }, 'invalid-input', /--peer/],
      [{ bind: 'my-machine' }, 'invalid-input'],
      [{ bind: '192.0.2.1', peers: ['192.0.2.2'] }, 'invalid-input', /--bind/],
      [{ peers: ['everybody'] }, 'invalid-input'],
      [{ peers: ['0.0.0.0/0'] }, 'invalid-input'],
      [{ to: 'nobody' }, 'unknown-agent'],
      [{ to: '#nowhere' }, 'unknown-channel'],
      [{ to: carried?.name }, 'invalid-input', /person/],
      [{ door: 'broker', bind: '0.0.0.0' }, 'invalid-input'],
      [{ door: 'broker', to: 'ann' }, 'invalid-input'],
      [{ door: 'broker', peers: ['192.0.2.2'] }, 'invalid-input'],
    ];
    for (const [params, code, next] of wrong) {
      const asked = { door: 'frames' as const, on: true, ...params };
      await assert.rejects(person.request('door', asked), { code, ...(next && { next }) }, JSON.stringify(params));
    }
    assert.deepEqual(await view(hub, 'frames'), before);
    assert.equal((await view(hub, 'broker')).on, false);
    assert.ok(await isOpen(before.port));
  });

  test('another address on the same port, and a list of peers', async () => {
    const { port } = await person.request('door', { door: 'frames', on: true, port: await quietPort() });
    const wide = await person.request('door', {
      door: 'frames',
      on: true,
      bind: '::ffff:0.0.0.0',
      peers: ['::ffff:192.0.2.7', '10.0.0.0/8'],
    });
    assert.deepEqual([wide.open, wide.bind, wide.port], [true, '0.0.0.0', port]);
    assert.deepEqual(wide.peers, ['192.0.2.7', '10.0.0.0/8']);
    // This machine itself needs not be named.
    assert.ok(await isOpen(port));
    await assert.rejects(person.request('door', { door: 'frames', on: true, peers: [] }), { code: 'invalid-input' });
    const narrow = await person.request('door', { door: 'frames', on: true, bind: 'localhost', peers: [] });
    assert.deepEqual([narrow.open, narrow.bind, narrow.port, narrow.peers], [true, '127.0.0.1', port, []]);
    assert.ok(await isOpen(port));
  });
});

describe('a hub that starts', { concurrency: 3 }, () => {
  test('opens what was open; a taken port keeps only that door shut, until it is free', async () => {
    const hub = new HubProcess();
    try {
      await hub.start();
      const person = await hub.client();
      const [frames, broker] = [await quietPort(), await quietPort()];
      await person.request('door', { door: 'frames', on: true, port: frames });
      await person.request('door', { door: 'broker', on: true, port: broker });
      await hub.stop();
      const other = await squat(frames);
      await hub.start();
      const shut = await view(hub, 'frames');
      assert.deepEqual([shut.on, shut.open, shut.trouble?.code], [true, false, 'door-taken']);
      assert.match(shut.trouble?.message ?? '', new RegExp(`agent-tool itself, listens on port ${frames}`));
      assert.equal((await view(hub, 'broker')).open, true);
      // Asking again does not make it better, nor worse.
      const again = await hub.client();
      await assert.rejects(again.request('door', { door: 'frames', on: true }), { code: 'door-taken' });
      await other.end();
      const open = await until('it has opened by itself', async () => {
        const now = await view(hub, 'frames');
        return now.open ? now : undefined;
      });
      assert.equal(open.trouble, undefined);
      assert.ok(await isOpen(frames));
    } finally {
      await hub.dispose();
    }
  });

  test('stays while a door is on, and leaves when it is not', async () => {
    const hub = await HubProcess.start({ settings: { idleMinutes: 0.000_01 } });
    try {
      let person = await hub.client();
      const { port } = await person.request('door', { door: 'frames', on: true, port: 0 });
      hub.close(person);
      // It looks every five seconds whether anybody needs it.
      await pause(11_000);
      assert.ok(await isOpen(port));
      person = await hub.client();
      await person.request('door', { door: 'frames', on: false });
      assert.ok(hub.child);
      const exited = once(hub.child, 'exit');
      hub.close(person);
      assert.equal(((await exited) as [number])[0], 0);
    } finally {
      await hub.dispose();
    }
  });

  test('says so if it can’t read what was stored, and takes nothing for closed that it can’t read', async () => {
    const hub = new HubProcess();
    try {
      await hub.start();
      let person = await hub.client();
      await person.request('door', { door: 'frames', on: true, port: 0 });
      await hub.stop();
      for (const damage of ['{"frames":', '{"frames":{"on":"yes"},"broker":7}']) {
        const database = new DatabaseSync(hub.home.database);
        database.prepare("UPDATE meta SET value = ? WHERE key = 'doors'").run(damage);
        database.close();
        await hub.start();
        for (const { on, open, trouble } of (await hub.status()).doors) {
          assert.deepEqual([on, open, trouble?.code], [false, false, 'bad-data'], damage);
        }
        person = await hub.client();
        // Setting one does not hide the damage of the other, not even over a restart.
        assert.equal((await person.request('door', { door: 'frames', on: true, port: 0 })).trouble, undefined);
        await hub.stop();
        await hub.start();
        assert.equal((await view(hub, 'frames')).open, true);
        assert.equal((await view(hub, 'broker')).trouble?.code, 'bad-data');
        person = await hub.client();
        assert.equal((await person.request('door', { door: 'broker', on: false })).trouble, undefined);
        await hub.stop();
      }
    } finally {
      await hub.dispose();
    }
  });
});
