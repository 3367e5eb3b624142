import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { UnixWebSocket } from '../../src/connect/routes/unixWebSocket.ts';
import { until } from '../support/hubProcess.ts';
import { frame, ScriptedWebSocket, type Scripted } from '../support/scriptedWebSocket.ts';
import { tempFolder } from '../support/tempFolder.ts';

const skip = process.platform === 'win32' ? 'Unix sockets are not for Node on Windows' : false;

interface Line {
  server: ScriptedWebSocket;
  socket: UnixWebSocket;
  texts: string[];
  closed: (Error | undefined)[];
}

async function listen(t: TestContext, scripted?: Scripted): Promise<{ path: string; server: ScriptedWebSocket }> {
  const path = join(tempFolder(t), 'socket');
  const server = await ScriptedWebSocket.listen(path, scripted);
  t.after(() => server.close());
  return { path, server };
}

async function line(t: TestContext, scripted?: Scripted): Promise<Line> {
  const { path, server } = await listen(t, scripted);
  const texts: string[] = [];
  const closed: (Error | undefined)[] = [];
  const listener = { onText: (text: string) => texts.push(text), onClose: (why?: Error) => closed.push(why) };
  const socket = await UnixWebSocket.open(path, 10_000, listener);
  t.after(() => socket.close());
  return { server, socket, texts, closed };
}

describe('a WebSocket on a Unix socket', { skip }, () => {
  for (const size of [0, 1, 125, 126, 65_535, 65_536, 300_000]) {
    test(`carries ${size} bytes both ways`, async (t) => {
      const text = 'ä'.repeat(Math.floor(size / 2)) + 'x'.repeat(size % 2);
      const { server, socket, texts } = await line(t, { onText: (heard, at) => at.say(heard) });
      socket.send(text);
      assert.equal(
        await until('the echo', () => (texts.length > 0 ? texts : undefined)).then(([first]) => first),
        text,
      );
      assert.ok(server.frames.every(({ masked }) => masked));
    });
  }

  test('puts a message together from frames in any pieces, with a ping in between', async (t) => {
    const { server, texts } = await line(t);
    const bytes = Buffer.concat([
      frame(0x01, Buffer.from('one ')),
      frame(0x89, Buffer.from('are you there')),
      frame(0x00, Buffer.from('two ')),
      frame(0x80, Buffer.from('three')),
      frame(0x81, Buffer.from('next')),
    ]);
    for (const byte of bytes) server.write(Buffer.from([byte]));
    await until('both messages', () => texts.length === 2);
    assert.deepEqual(texts, ['one two three', 'next']);
    const pong = await until('the pong', () => server.frames.find(({ code }) => code === 10));
    assert.equal(pong.body.toString(), 'are you there');
  });

  test('is over when the other side says so, or is cut off, and tells it once', async (t) => {
    const first = await line(t);
    first.server.write(frame(0x88, Buffer.from([3, 232])));
    await until('the end', () => first.closed.length > 0);
    assert.deepEqual(first.closed, [undefined]);
    first.socket.send('too late');
    assert.equal(first.socket.isOpen, false);
    const second = await line(t);
    second.server.cut();
    await until('the end', () => second.closed.length > 0);
    assert.equal(second.socket.isOpen, false);
  });

  const faults: Record<string, Buffer> = {
    'a masked frame': Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5]),
    'an extension that nobody asked for': Buffer.from([0xc1, 0x01, 0x41]),
    'a binary message': frame(0x82, Buffer.from('x')),
    'an unknown kind of frame': frame(0x83, Buffer.from('x')),
    'a continuation of nothing': frame(0x80, Buffer.from('x')),
    'a new message inside of another': Buffer.concat([frame(0x01, Buffer.from('x')), frame(0x81, Buffer.from('y'))]),
    'a ping in pieces': frame(0x09, Buffer.from('x')),
    'a ping that is too long': frame(0x89, Buffer.alloc(126)),
    'bytes that are no text': frame(0x81, Buffer.from([0xff, 0xfe])),
    'a length beyond all bounds': Buffer.from([0x81, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
  };
  for (const [what, bytes] of Object.entries(faults)) {
    test(`ends at ${what}`, async (t) => {
      const { server, texts, closed, socket } = await line(t);
      server.write(Buffer.concat([bytes, frame(0x81, Buffer.from('not heard any more'))]));
      await until('the end', () => closed.length > 0);
      assert.ok(closed[0] instanceof Error);
      assert.equal(socket.isOpen, false);
      assert.deepEqual(texts, []);
    });
  }

  const refusals: Record<string, NonNullable<Scripted['greet']>> = {
    'a wrong proof': (good) => good.replace(/Accept: .{4}/, 'Accept: AAAA'),
    'no upgrade': () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
    'something else altogether': () => 'SSH-2.0-OpenSSH_9.9\r\n',
  };
  for (const [what, greet] of Object.entries(refusals)) {
    test(`does not open at ${what}`, async (t) => {
      const { path } = await listen(t, { greet });
      await assert.rejects(UnixWebSocket.open(path, 10_000, deaf));
    });
  }

  test('does not wait for ever for one who says nothing, nor for nobody', async (t) => {
    const { path } = await listen(t, { greet: () => undefined });
    await assert.rejects(UnixWebSocket.open(path, 50, deaf), /does not answer/);
    await assert.rejects(UnixWebSocket.open(`${path}-nobody`, 10_000, deaf), /ENOENT/);
  });
});

const deaf = { onText: () => undefined, onClose: () => undefined };
