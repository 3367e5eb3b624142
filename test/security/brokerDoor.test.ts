/** The broker's door has no authentication: what anybody on this machine can do to it, and what not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, test } from 'node:test';
import { brokerMark } from '../../src/transports/agentTool/brokerReply.ts';
import { requestBytes } from '../../src/transports/agentTool/brokerRequest.ts';
import { BrokerWorld } from '../support/agentTool/brokerWorld.ts';
import { until } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

describe('connections', () => {
  test('come from this machine only', async (t) => {
    const { door } = await BrokerWorld.open(t);
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((address) => address && !address.internal && address.family === 'IPv4');
    for (const address of others) {
      const socket = connect(door.port, address?.address);
      const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNREFUSED');
    }
  });

  test('are 200 at most; the next one is closed, and there is room again when one leaves', async (t) => {
    const { client, door } = await BrokerWorld.open(t);
    const sockets = await Promise.all(Array.from({ length: 200 }, () => client.open()));
    await until('all are in', () => door.connections() === 200);
    await assert.rejects(client.status(), /without response|ECONNRESET/);
    sockets[0]?.destroy();
    await until('one has left', () => door.connections() === 199);
    assert.deepEqual(await client.status(), {});
    for (const socket of sockets) socket.destroy();
    await until('all have left', () => door.connections() === 0);
  });

  test('that dribble or say nothing are told so and closed', async (t) => {
    const { client, door } = await BrokerWorld.open(t, { transferMs: 300 });
    const silent = client.transcript([]);
    const socket = await client.open();
    const dribble = setInterval(() => socket.write(' '), 50);
    socket.once('close', () => clearInterval(dribble));
    const [told] = (await once(socket, 'data')) as [Buffer];
    const refusal =
      '{"ok":false,"error":"invalid JSON: the time was over before the request was complete; send one whole JSON object"}\n';
    assert.equal(told.toString(), refusal);
    assert.equal(await silent, refusal);
    socket.destroy();
    await until('both are gone', () => door.connections() === 0);
  });

  test('that do not hang up are hung up on', async (t) => {
    const { client, door } = await BrokerWorld.open(t, { partingMs: 200 });
    const socket = await client.open();
    socket.resume().write('{"op":"status"}');
    await once(socket, 'end');
    await until('it is gone', () => door.connections() === 0);
    socket.destroy();
  });

  test('get an error for a request that is too large, and may send what they like after it', async (t) => {
    const { client } = await BrokerWorld.open(t);
    const large = Buffer.from(`{"op":"post","to":"a","msg":"${'x'.repeat(4 * requestBytes)}"}`);
    const reply = JSON.parse(await client.line(large)) as { ok: boolean; error: string };
    assert.match(reply.error, /^invalid JSON: the request is larger than 1052672 bytes; split/);
  });
});

describe('mail', () => {
  test('of a reader that does not read, or does not hang up, is unread again', async (t) => {
    const { client, door, host } = await BrokerWorld.open(t, { transferMs: 800, partingMs: 800 });
    const texts = Array.from({ length: 8 }, (_, i) => `${i}`.repeat(500_000));
    for (const text of texts) await host.post('a', 'slow', text);
    const deaf = await client.open();
    deaf.pause().write('{"op":"fetch","mailbox":"slow"}');
    await until('it is on its way', async () => !('slow' in (await client.status())));
    await until('the hub has given up', () => door.connections() === 0);
    assert.deepEqual(await client.status(), { slow: 8 });
    deaf.destroy();
    const lingering = await client.open();
    lingering.resume().write('{"op":"fetch","mailbox":"slow"}');
    await until('the hub has given up', async () => (await client.status())['slow'] === 8);
    lingering.destroy();
    const { letters } = await host.fetch('slow');
    assert.deepEqual(
      letters.map((letter) => (JSON.parse(letter) as { msg: string }).msg),
      texts,
    );
  });

  test('on its way to many slow readers is given one message at a time', async (t) => {
    const { client, bus } = await BrokerWorld.open(t);
    for (let i = 0; i < 30; i++) await client.tell('a', 'crowd', '"'.repeat(500_000));
    const deaf: Socket[] = [];
    const left = async (): Promise<number> => (await client.status())['crowd'] ?? 0;
    for (const expected of [26, 22, 18, 14, 10, 9, 8]) {
      const socket = await client.open();
      socket.pause().write('{"op":"fetch","mailbox":"crowd"}');
      deaf.push(socket);
      await until('it has its share', async () => (await left()) === expected);
    }
    for (const socket of deaf) socket.resetAndDestroy();
    await until('nothing is lost', async () => (await left()) === 30);
    assert.equal(bus.waiting.size, 0);
  });

  test('is for at most a hundred waiters of a mailbox', async (t) => {
    const { client, bus } = await BrokerWorld.open(t);
    const waiters = Array.from({ length: 100 }, () => client.wait('full', 60));
    await until('all wait', () => bus.waiting.size === 100);
    assert.deepEqual(await client.wait('full', 60), {
      ok: false,
      error: 'too many waiters on mailbox "full" (100 max); let one of them end first',
    });
    const other = client.wait('other', 60);
    await until('another may', () => bus.waiting.size === 101);
    for (let i = 0; i < 100; i++) await client.tell('a', 'full', `${i}`);
    await client.tell('a', 'other', 'x');
    const got = (await Promise.all([...waiters, other])).map(({ message }) => message?.msg);
    assert.equal(new Set(got).size, 101);
    assert.equal(bus.waiting.size, 0);
  });
});

describe('names that nobody knows', () => {
  test('exhaust nothing', async (t) => {
    const { client, host, bus, mailboxes } = await BrokerWorld.open(t);
    for (let i = 0; i < 1_500; i++) (await host.fetch(`fetched ${i}`)).arrived();
    assert.equal(mailboxes().length, 0);
    const waiter = client.wait('really waits', 60);
    await until('it waits', () => bus.waiting.size === 1);
    const none = AbortSignal.abort();
    const give = (i: number): Promise<unknown> => host.wait(`waited ${i}`, 60, none).catch(() => undefined);
    for (let i = 0; i < 1_200; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => give(i + k)));
    assert.equal(mailboxes().length, 1_000);
    assert.ok(bus.roster.find('waited-0') && bus.roster.find('really-waits'), 'whoever came first has stayed');

    // Those that have mail stay, and make a limit of it.
    for (let i = 0; i < 998; i += 50) {
      const some = Array.from({ length: Math.min(50, 998 - i) }, (_, k) => host.post('poster', `posted ${i + k}`, 'x'));
      await Promise.all(some);
    }
    assert.deepEqual(await client.post('poster', 'one too many', 'x'), {
      ok: false,
      error:
        'mailbox limit reached (1000 max), cannot create "one too many"; use a mailbox that exists, or ask the person to remove some: `agent-bus register NAME --remove`',
    });
    assert.match((await client.wait('me too', 1)).error ?? '', /^mailbox limit reached/);
    await client.tell('poster', 'posted 5', 'y');
    assert.deepEqual(await client.texts('posted 5'), ['x', 'y']);
    await client.tell('poster', 'really waits', 'still there');
    assert.equal((await waiter).message?.msg, 'still there');
    await bus.remove(bus.roster.require('posted-7'));
    await client.tell('poster', 'one too many', 'x');
    assert.equal(mailboxes().length, 1_000);
  });
});

describe('garbage', () => {
  test('is answered with one line or none, and leaves the door as it was', async (t) => {
    const { client, door, bus } = await BrokerWorld.open(t, { transferMs: 500, partingMs: 500 });
    const random = seededRandom(testSeed());
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const seeds = [
      '{"op":"status"}',
      '{"op":"post","to":"A","from":"B","msg":"hi"}',
      '{"op":"fetch","mailbox":"A"}',
      '{"op":"wait","mailbox":"A","timeout":1}',
      '{"op":"post","to":"#x","from":"\\ud800","msg":"\\u0000"}',
      `{"x":${'[{"a":'.repeat(200)}`,
      'GET / HTTP/1.1\r\n\r\n',
      '\u0000\u0002\u0000\u0000\u0000\u0001x',
    ];
    const garbage = (): Buffer => {
      const bytes = Buffer.from(pick(seeds));
      for (let n = Math.floor(random() * 4); n > 0; n--) bytes[Math.floor(random() * bytes.length)] = random() * 256;
      const cut = random() < 0.3 ? Math.floor(random() * bytes.length) : bytes.length;
      return Buffer.concat([bytes.subarray(0, cut), ...(random() < 0.2 ? [Buffer.from(pick(seeds))] : [])]);
    };
    const attack = async (): Promise<void> => {
      const socket = await client.open();
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      const over = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
      socket.write(garbage());
      const manner = random();
      if (manner < 0.2) socket.end();
      else if (manner < 0.3) socket.resetAndDestroy();
      // A request that became a long wait is left.
      const leave = setTimeout(() => socket.destroy(), 1_000);
      await over;
      clearTimeout(leave);
      socket.destroy();
      const said = Buffer.concat(chunks).toString();
      if (said.trim() === '') return;
      assert.match(said, /^ *\{"ok":(true|false)[^\n]*\}\n$/);
      assert.equal(typeof (JSON.parse(said) as { ok: unknown }).ok, 'boolean');
    };
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 40 }, attack));
    await until('all are gone', () => door.connections() === 0);
    assert.equal(bus.waiting.size, 0);
    await until('it answers as ever', async () => (await client.call({ op: 'status' })).info === brokerMark);
  });
});
