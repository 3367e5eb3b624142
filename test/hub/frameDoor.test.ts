/** agent-tool's sessions that send to the bus over its frames: real sockets, a real hub. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { FramePeer, frame, message, pingBytes, pongBytes } from '../support/agentTool/framePeer.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;
let person: BusClient;
let port: number;

async function openDoor(options: { to?: string } = {}): Promise<number> {
  return (await person.request('door', { door: 'frames', on: true, port: 0, ...options })).port;
}

async function texts(reader: BusClient): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ;) {
    const { data } = await reader.call('inbox', { filter: 'all', limit: 100, ...(cursor && { cursor }) });
    found.push(...data.messages.map(({ text }) => text));
    cursor = data.next;
    if (cursor === undefined) return found;
  }
}

before(async () => {
  hub = await HubProcess.start();
  person = await hub.client();
  port = await openDoor();
});
after(() => hub.dispose());

describe('the frame door', () => {
  test('speaks the bytes of agent-tool', async () => {
    const peer = await FramePeer.connect(port);
    await peer.write(Buffer.from(pingBytes, 'hex'));
    await until('the PONG came', () => peer.received.length === 6);
    await peer.write(Buffer.from('00020000000768c3a96c6c6f0a', 'hex'));
    await peer.write(Buffer.from(pingBytes, 'hex'));
    await until('the second PONG came', () => peer.received.length === 12);
    assert.equal(peer.received.toString('hex'), pongBytes + pongBytes);
    const [got] = await until('it is in the inbox', async () => {
      const { messages } = (await person.call('inbox', {})).data;
      return messages.length > 0 ? messages : undefined;
    });
    assert.equal(got?.text, 'héllo\n');
    assert.equal(got.from, 'tcp-127-0-0-1');
    assert.equal(got.kind, 'inform');
    assert.deepEqual(got.data, { peer: `127.0.0.1:${peer.port}` });
    peer.close();
    const { agents } = (await person.call('agents', {})).data;
    const sender = agents.find(({ name }) => name === 'tcp-127-0-0-1');
    assert.equal(sender?.product, 'agent-tool');
    assert.match(sender.about ?? '', /127\.0\.0\.1.*names no sender/);
  });

  test('hears many at once, and answers PING while others are in the middle of a frame', async () => {
    const [bob] = await hub.agents(['bob']);
    await openDoor({ to: 'bob' });
    const peers = await Promise.all(Array.from({ length: 50 }, () => FramePeer.connect(port)));
    const bytes = peers.map((_, i) => message(`from ${i} ${'x'.repeat(i * 100)}`));
    await Promise.all(peers.map((peer, i) => peer.write(bytes[i]!.subarray(0, 7))));
    const other = await FramePeer.connect(port);
    await other.ping();
    const status = await hub.status();
    assert.equal(status.doors.find(({ door }) => door === 'frames')?.connections, 51);
    await Promise.all(peers.map((peer, i) => peer.write(bytes[i]!.subarray(7))));
    const found = await until('all have come', async () => {
      const all = await texts(bob);
      return all.length === 50 ? all : undefined;
    });
    assert.deepEqual(
      found.map((text) => Number(text.split(' ')[1])).sort((a, b) => a - b),
      peers.map((_, i) => i),
    );
    await Promise.all(peers.map((peer) => peer.ping()));
    for (const peer of [...peers, other]) peer.close();
  });

  test('keeps the order of what is pipelined, and forgets nothing of a peer that hangs up', async () => {
    const [cy] = await hub.agents(['cy']);
    await openDoor({ to: 'cy' });
    const wanted = Array.from({ length: 300 }, (_, i) => `message ${i}`);
    const stream = wanted.flatMap((text, i) => [
      message(text),
      ...(i % 10 === 0 ? [frame(0), frame(7, 'unknown'), message('')] : []),
    ]);
    const peer = await FramePeer.connect(port);
    // Hung up before anything can have been stored: what was sent is stored all the same.
    peer.socket.end(Buffer.concat(stream));
    assert.equal(await peer.gone(), 'closed');
    assert.equal(peer.received.toString('hex'), pongBytes.repeat(30));
    assert.deepEqual(await texts(cy), wanted);
  });

  test('takes 1 MiB and not a byte more', async () => {
    const [dan] = await hub.agents(['dan']);
    await openDoor({ to: 'dan' });
    const whole = 'é'.repeat(524_288);
    const peer = await FramePeer.connect(port);
    await peer.send(whole);
    await peer.send('after');
    await until('both are there', async () => (await texts(dan)).length === 2);
    assert.deepEqual(await texts(dan), [whole, 'after']);
    await peer.write(Buffer.from('000200100001', 'hex'));
    assert.equal(await peer.gone(), 'reset');
  });

  test('posts into a channel, if that is its recipient', async () => {
    const [eve] = await hub.agents(['eve']);
    await eve.call('channel', { action: 'create', name: 'release' });
    await openDoor({ to: '#release' });
    const peer = await FramePeer.connect(port);
    await peer.send('frozen');
    const [got] = await until('it came', async () => {
      const { messages } = (await eve.call('inbox', {})).data;
      return messages.length > 0 ? messages : undefined;
    });
    assert.deepEqual([got?.text, got?.channel, got?.from], ['frozen', 'release', 'tcp-127-0-0-1']);
    // The protocol has no way back: what is said in the channel does not pile up for a sender who can't read it.
    const { id } = (await eve.call('send', { to: '#release', text: 'heard' })).data;
    const said = await until('it was returned', async () => {
      const { recipients } = (await eve.call('status', { id })).data;
      return recipients.find(({ agent, step }) => agent === 'tcp-127-0-0-1' && step === 'undeliverable');
    });
    assert.match(said.steps.at(-1)?.note ?? '', /tcp:\/\/host:port/);
    peer.close();
  });

  test('a question to a sender of frames fails at once, with the reason', async () => {
    const [fay] = await hub.agents(['fay']);
    const result = (await fay.call('send', { to: 'tcp-127-0-0-1', text: 'who are you?', wait_seconds: 30 })).data;
    assert.equal(result.request, 'failed');
    assert.match(result.note ?? '', /names no sender/);
  });

  test('a recipient that is gone: the person gets it', async () => {
    await hub.agents(['gus']);
    await openDoor({ to: 'gus' });
    await person.request('remove', { name: 'gus' });
    const peer = await FramePeer.connect(port);
    await peer.send('for gus');
    await until('the person has it', async () => (await texts(person)).includes('for gus'));
    peer.close();
  });
});

describe('what a hub that is killed had taken', () => {
  test('is there afterwards: all that a reader had seen, in order, each once', async () => {
    const faults = await HubProcess.start();
    try {
      let owner = await faults.client();
      const door = await owner.request('door', { door: 'frames', on: true, port: 0 });
      const peer = await FramePeer.connect(door.port);
      const wanted: string[] = [];
      const sending = (async () => {
        while (peer.end === undefined) await peer.send(wanted[wanted.push(`durable ${wanted.length}`) - 1] ?? '');
      })();
      const seen = await until('some are stored', async () => {
        const found = await texts(owner);
        return found.length >= 20 ? found : undefined;
      });
      await faults.kill('SIGKILL');
      await sending;
      await faults.start();
      owner = await faults.client();
      const found = await texts(owner);
      assert.ok(found.length >= seen.length, `${found.length} of ${seen.length}`);
      assert.deepEqual(found, wanted.slice(0, found.length));
      // The door is open again, without anybody asking for it.
      const [view] = (await faults.status()).doors;
      assert.equal(view?.open, true);
      const next = await FramePeer.connect(view.port);
      await next.send('later');
      await until('it came', async () => (await texts(owner)).at(-1) === 'later');
      next.close();
    } finally {
      await faults.dispose();
    }
  });
});

describe('brakes', () => {
  test('a sender that is too fast, or a full mailbox, is cut off; nobody else is', async () => {
    const braked = await HubProcess.start({ settings: { limits: { rateBurst: 5, ratePerSecond: 0.01 } } });
    try {
      const owner = await braked.client();
      const door = await owner.request('door', { door: 'frames', on: true, port: 0 });
      const fast = await FramePeer.connect(door.port);
      const quiet = await FramePeer.connect(door.port);
      await quiet.ping();
      for (let i = 0; i < 5; i++) await fast.send(`${i}`);
      await until('five are there', async () => (await texts(owner)).length === 5);
      await fast.send('5');
      assert.equal(await fast.gone(), 'reset');
      await quiet.ping();
      assert.deepEqual(await texts(owner), ['0', '1', '2', '3', '4']);
      quiet.close();
    } finally {
      await braked.dispose();
    }
  });
});
