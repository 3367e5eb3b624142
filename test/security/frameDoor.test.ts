/** The frame door has no authentication: what strangers can do to it, and that it stays with them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { FrameHost } from '../../src/transports/agentTool/frameConnection.ts';
import { openFrameDoor, type DoorLimits, type FrameDoor } from '../../src/transports/agentTool/frameDoor.ts';
import { frame, FramePeer, message } from '../support/agentTool/framePeer.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

describe('a hub behind its frame door', () => {
  let hub: HubProcess;
  let person: BusClient;
  let port: number;
  let friend: FramePeer;
  before(async () => {
    hub = await HubProcess.start();
    person = await hub.client();
    port = (await person.request('door', { door: 'frames', on: true, port: 0 })).port;
    friend = await FramePeer.connect(port);
  });
  after(() => hub.dispose());

  const broken: Record<string, Buffer> = {
    'a frame of 1 MiB and one byte': Buffer.from('000200100001', 'hex'),
    'a frame of 4 GiB': Buffer.from('0002ffffffff', 'hex'),
    'an unknown type that is too large': Buffer.from('cafe80000000', 'hex'),
    'half of a letter': frame(2, Buffer.from([0x68, 0xc3])),
    'a lone surrogate': frame(2, Buffer.from([0xed, 0xa0, 0x80])),
    'an HTTP request': Buffer.from('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
    'a TLS greeting': Buffer.from('160301020001000001fc0303', 'hex'),
  };
  for (const [what, bytes] of Object.entries(broken)) {
    test(`${what} closes that connection, and what came before it is kept`, async () => {
      const peer = await FramePeer.connect(port);
      await peer.write(Buffer.concat([message(`before ${what}`), bytes, message('never')]));
      assert.equal(await peer.gone(), 'reset');
      await friend.ping();
      const { messages } = (await person.call('inbox', { filter: 'all', limit: 100 })).data;
      assert.equal(messages.filter(({ text }) => text === `before ${what}`).length, 1);
      assert.equal(messages.filter(({ text }) => text === 'never').length, 0);
    });
  }

  test('random bytes, cut anywhere: the hub lives and others are served', async () => {
    const random = seededRandom(testSeed());
    const whole = (most: number): number => Math.floor(random() * most);
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const peer = await FramePeer.connect(port);
          const pieces = Array.from({ length: 1 + whole(5) }, () => {
            const noise = Buffer.from(Array.from({ length: whole(200) }, () => whole(256)));
            return random() < 0.5 ? noise : frame(whole(4), noise);
          });
          const bytes = Buffer.concat(pieces);
          const at = whole(bytes.length + 1);
          await peer.write(bytes.subarray(0, at));
          await peer.write(bytes.subarray(at));
          if (random() < 0.5) peer.socket.resetAndDestroy();
          else peer.close();
        }),
      );
      await friend.ping();
    }
    await until('nobody but the friend is there', async () => (await hub.status()).doors[0]?.connections === 1);
    await friend.send('still here');
    await until(
      'it came',
      async () => (await person.call('inbox', { filter: 'all', from: 'tcp-127-0-0-1' })).data.messages.length > 0,
    );
    assert.ok(hub.running);
    // However many came and went: one agent for all of this machine.
    const { agents } = (await person.call('agents', {})).data;
    assert.deepEqual(
      agents.map(({ name }) => name).filter((name) => name.startsWith('tcp-')),
      ['tcp-127-0-0-1'],
    );
  });

  test('more than 200 connections are not taken, and there is room again when some leave', async () => {
    const peers = await Promise.all(Array.from({ length: 230 }, () => FramePeer.connect(port)));
    await until('those over the limit are cut', () => peers.filter(({ end }) => end !== undefined).length === 31);
    await friend.ping();
    for (const peer of peers) peer.close();
    await until('they are gone', async () => (await hub.status()).doors[0]?.connections === 1);
    const next = await FramePeer.connect(port);
    await next.ping();
    next.close();
  });
});

describe('a frame door', () => {
  /** A host whose disk is as slow as a test wants it to be. */
  class SlowHost implements FrameHost {
    readonly stored: string[] = [];
    readonly asked: string[] = [];
    readonly turnedAway: string[] = [];
    readonly failures: unknown[] = [];
    admitted = true;
    private readonly waiting: (() => void)[] = [];

    admits(): boolean {
      return this.admitted;
    }

    refused(address: string): void {
      this.turnedAway.push(address);
    }

    failed(_peer: unknown, error: unknown): void {
      this.failures.push(error);
    }

    async deliver(_peer: unknown, text: string): Promise<void> {
      this.asked.push(text);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      if (text === 'poison') throw new Error('the disk is full');
      this.stored.push(text);
    }

    async storeNext(): Promise<void> {
      const next = await until('a message waits', () => this.waiting.shift());
      next();
    }
  }

  async function withDoor(limits: Partial<DoorLimits>, use: (door: FrameDoor, host: SlowHost) => Promise<void>) {
    const host = new SlowHost();
    const door = await openFrameDoor(host, { port: 0, bind: '127.0.0.1', limits });
    try {
      await use(door, host);
    } finally {
      await door.close();
    }
  }

  test('a peer that is not admitted is cut before a byte of it is read', () =>
    withDoor({}, async (door, host) => {
      host.admitted = false;
      const peer = await FramePeer.connect(door.port);
      peer.socket.write(message('let me in'));
      await peer.gone();
      assert.deepEqual([host.turnedAway, host.asked, door.connections()], [['127.0.0.1'], [], 0]);
    }));

  test('a peer that is taken off the list while it is connected is cut with its next byte', () =>
    withDoor({}, async (door, host) => {
      const peer = await FramePeer.connect(door.port);
      await peer.ping();
      host.admitted = false;
      peer.socket.write(message('too late'));
      await peer.gone();
      assert.deepEqual([host.turnedAway, host.asked], [['127.0.0.1'], []]);
    }));

  test('reads no faster than it stores: a flood stays with its sender', () =>
    withDoor({}, async (door, host) => {
      const peer = await FramePeer.connect(door.port);
      const flood = Buffer.concat(Array.from({ length: 64 }, () => message('x'.repeat(1_000_000))));
      let written = false;
      peer.socket.write(flood, () => (written = true));
      await until('the first is being stored', () => host.asked.length === 1);
      const other = await FramePeer.connect(door.port);
      await other.ping();
      assert.deepEqual([host.asked.length, written], [1, false]);
      peer.close();
      await host.storeNext();
      other.close();
    }));

  test('a peer that asks and asks and never reads is not read either', () =>
    withDoor({}, async (door) => {
      const peer = await FramePeer.connect(door.port);
      peer.socket.pause();
      const pings = Buffer.alloc(6 * 1_000_000);
      let taken = 0;
      const ask = (): void => {
        peer.socket.write(pings, () => {
          taken++;
          if (taken < 20) ask();
        });
      };
      ask();
      // 120 MB of questions: more than the system itself would buffer in both directions.
      await until('it is stuck', async () => {
        const before = taken;
        const { bytesWritten } = peer.socket;
        const other = await FramePeer.connect(door.port);
        for (let i = 0; i < 50; i++) await other.ping();
        other.close();
        return taken < 20 && taken === before && bytesWritten === peer.socket.bytesWritten;
      });
      peer.close();
    }));

  test('a message that can’t be stored resets its connection, and nothing after it is stored', () =>
    withDoor({}, async (door, host) => {
      const peer = await FramePeer.connect(door.port);
      await peer.write(Buffer.concat(['first', 'poison', 'second'].map(message)));
      await host.storeNext();
      await host.storeNext();
      assert.equal(await peer.gone(), 'reset');
      await until('the door has forgotten it', () => door.connections() === 0);
      assert.deepEqual([host.stored, host.asked, host.failures.length], [['first'], ['first', 'poison'], 1]);
    }));

  test('a peer that is gone: what has come from it is stored', () =>
    withDoor({}, async (door, host) => {
      const peer = await FramePeer.connect(door.port);
      await peer.write(Buffer.concat(['one', 'two', 'three'].map(message)));
      await until('the first is being stored', () => host.asked.length === 1);
      peer.socket.resetAndDestroy();
      for (let i = 0; i < 3; i++) await host.storeNext();
      await until('the door has forgotten it', () => door.connections() === 0);
      assert.deepEqual(host.stored, ['one', 'two', 'three']);
    }));

  test('closing waits for what is being stored, and takes nothing more', () =>
    withDoor({}, async (door, host) => {
      const peer = await FramePeer.connect(door.port);
      await peer.write(Buffer.concat(['last', 'not taken'].map(message)));
      await until('the first is being stored', () => host.asked.length === 1);
      let closed = false;
      const closing = door.close().then(() => (closed = true));
      await assert.rejects(FramePeer.connect(door.port), { code: 'ECONNREFUSED' });
      assert.equal(closed, false);
      await host.storeNext();
      await closing;
      assert.deepEqual([host.stored, host.asked], [['last'], ['last']]);
      await peer.gone();
    }));

  test('idle connections and frames that never end are closed', () =>
    withDoor({ idleMs: 200, frameMs: 100, checkMs: 20 }, async (door) => {
      const idle = await FramePeer.connect(door.port);
      assert.equal(await idle.gone(), 'closed');
      const dribbling = await FramePeer.connect(door.port);
      await dribbling.write(message('x'.repeat(1_000)).subarray(0, 10));
      const drops = setInterval(() => dribbling.socket.write('x'), 20);
      await dribbling.gone();
      clearInterval(drops);
      assert.equal(door.connections(), 0);
    }));
});
