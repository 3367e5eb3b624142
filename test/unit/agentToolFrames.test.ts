import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeFrame, FrameReader, FrameType, maxPayload } from '../../src/transports/agentTool/frames.ts';
import { isLoopback, PeerList, plainAddress } from '../../src/transports/agentTool/peerAddresses.ts';
import { hostAndPort, parseTcpAddress } from '../../src/transports/agentTool/tcpAddress.ts';

interface Read {
  type: number;
  payload: string;
}

function read(chunks: Iterable<Buffer>): Read[] {
  const reader = new FrameReader();
  const found: Read[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let frame = reader.next(); frame; frame = reader.next()) {
      found.push({ type: frame.type, payload: frame.payload.toString('hex') });
    }
  }
  return found;
}

/** Cuts at the given points, taken modulo the length; equal points give empty chunks. */
function cut(bytes: Buffer, points: number[]): Buffer[] {
  const at = points.map((point) => point % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length));
}

const anyFrame = fc.record({
  type: fc.oneof(fc.constantFrom(0, 1, 2), fc.integer({ min: 0, max: 0xffff })),
  payload: fc.uint8Array({ maxLength: 400 }),
});

describe('frames', () => {
  test('are the bytes of agent-tool', () => {
    assert.equal(encodeFrame(FrameType.ping).toString('hex'), '000000000000');
    assert.equal(encodeFrame(FrameType.pong).toString('hex'), '000100000000');
    assert.equal(encodeFrame(FrameType.message, Buffer.from('héllo\n')).toString('hex'), '00020000000768c3a96c6c6f0a');
  });

  test('any split of any frames gives the same frames', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 40 }), (frames, points) => {
        const wanted = frames.map(({ type, payload }) => ({ type, payload: Buffer.from(payload).toString('hex') }));
        const bytes = Buffer.concat(frames.map(({ type, payload }) => encodeFrame(type, payload)));
        assert.deepEqual(read([bytes]), wanted);
        assert.deepEqual(read(cut(bytes, points)), wanted);
        assert.deepEqual(read(Array.from(bytes, (byte) => Buffer.of(byte))), wanted);
      }),
      { numRuns: 300 },
    );
  });

  test('chunks that come while frames wait are kept in order', () => {
    const reader = new FrameReader();
    const bytes = Buffer.concat(['a', 'bc', '', 'def'].map((text) => encodeFrame(2, Buffer.from(text))));
    for (const byte of bytes) reader.push(Buffer.of(byte));
    const texts = [1, 2, 3, 4].map(() => reader.next()?.payload.toString());
    assert.deepEqual(texts, ['a', 'bc', '', 'def']);
    assert.equal(reader.next(), undefined);
    assert.equal(reader.isMidFrame, false);
  });

  test('a payload of 1 MiB is whole, and a large one also byte for byte', () => {
    const most = Buffer.alloc(maxPayload, 'é');
    assert.deepEqual(read(cut(encodeFrame(2, most), [5, 70_000, 900_000])), [
      { type: 2, payload: most.toString('hex') },
    ]);
    const payload = most.subarray(0, 100_000);
    const bytes = encodeFrame(2, payload);
    const reader = new FrameReader();
    for (const byte of bytes.subarray(0, -1)) {
      reader.push(Buffer.of(byte));
      if (reader.next()) assert.fail('a frame before its end');
    }
    assert.equal(reader.isMidFrame, true);
    reader.push(bytes.subarray(-1));
    assert.ok(reader.next()?.payload.equals(payload));
  });

  test('one byte more is refused by the header alone, and for good', () => {
    assert.throws(() => encodeFrame(2, Buffer.alloc(maxPayload + 1)), { code: 'too-large' });
    for (const header of ['000200100001', '0002ffffffff', 'ffff80000000']) {
      const bytes = Buffer.from(header, 'hex');
      assert.throws(() => read([bytes]), { code: 'too-large' }, header);
      const reader = new FrameReader();
      for (const byte of bytes.subarray(0, 5)) {
        reader.push(Buffer.of(byte));
        assert.equal(reader.next(), undefined);
      }
      reader.push(bytes.subarray(5));
      assert.throws(() => reader.next(), { code: 'too-large' });
      reader.push(encodeFrame(FrameType.ping));
      assert.throws(() => reader.next(), { code: 'too-large' });
    }
  });

  test('an announced length costs nothing before its bytes come', () => {
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 1_000 }, () => {
      const reader = new FrameReader();
      reader.push(Buffer.from('00020010000061', 'hex'));
      assert.equal(reader.next(), undefined);
      return reader;
    });
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < 64 * 1_048_576, `${readers.length} readers hold ${grown} bytes`);
  });

  test('random bytes give frames or one clear error, never anything else', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (chunks) => {
        try {
          const frames = read(chunks.map((chunk) => Buffer.from(chunk)));
          const bytes = frames.reduce((sum, { payload }) => sum + 6 + payload.length / 2, 0);
          assert.ok(bytes <= chunks.reduce((sum, chunk) => sum + chunk.length, 0));
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'too-large');
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('addresses', () => {
  test('tcp:// addresses have one spelling each', () => {
    const spellings: [given: string, kept: string][] = [
      ['tcp://127.0.0.1:19950', '127.0.0.1:19950'],
      ['TCP://LocalHost', '127.0.0.1:19900'],
      ['tcp://Build-Box.LAN.:7/', 'build-box.lan:7'],
      ['tcp://[::1]:19950', '[::1]:19950'],
      ['tcp://[0:0:0:0:0:0:0:1]', '[::1]:19900'],
      ['tcp://[2001:DB8::0:1]:80', '[2001:db8::1]:80'],
      ['tcp://[::ffff:127.0.0.1]:80', '127.0.0.1:80'],
    ];
    for (const [given, kept] of spellings) assert.equal(hostAndPort(parseTcpAddress(given)), kept, given);
    const wrong = [
      'tcp://',
      'tcp://:19900',
      'tcp://user@host:1',
      'tcp://user:pass@host:1',
      'tcp://host:1/path',
      'tcp://host:1?query',
      'tcp://host:1#part',
      'tcp://host:0',
      'tcp://host:65536',
      'tcp://host:-1',
      'tcp://host:x',
      'tcp://[::1',
      'tcp://[fe80::1%25eth0]:1',
      'tcp://[not:an:address]:1',
      'tcp://ho st:1',
      `tcp://${'a'.repeat(300)}:1`,
      'http://host:1',
    ];
    for (const given of wrong) assert.throws(() => parseTcpAddress(given), { code: 'invalid-input' }, given);
  });

  test('wrapped and long forms are the same address', () => {
    assert.equal(plainAddress('::ffff:192.168.1.5'), '192.168.1.5');
    assert.equal(plainAddress('::FFFF:c0a8:0105'), '192.168.1.5');
    assert.equal(plainAddress('fe80::1%eth0'), 'fe80::1');
    assert.equal(plainAddress('example.org'), undefined);
    for (const here of ['127.0.0.1', '127.255.0.7', '::1', '::ffff:127.0.0.1']) assert.ok(isLoopback(here), here);
    for (const elsewhere of ['128.0.0.1', '::2', '0.0.0.0', '::', 'localhost', '']) {
      assert.ok(!isLoopback(elsewhere), elsewhere);
    }
  });

  test('a list of peers allows what it names and this machine, nothing else', () => {
    const list = new PeerList(['192.168.1.5', '10.1.0.0/16', '::ffff:172.16.0.9', '2001:DB8::/48', '192.168.1.5']);
    assert.deepEqual(list.entries, ['192.168.1.5', '10.1.0.0/16', '172.16.0.9', '2001:db8::/48']);
    const allowed = ['192.168.1.5', '::ffff:192.168.1.5', '10.1.255.1', '172.16.0.9', '2001:db8:0:1::7', '127.9.9.9'];
    for (const address of allowed) assert.ok(list.allows(address), address);
    for (const address of ['192.168.1.6', '10.2.0.1', '2001:db8:1::1', '0.0.0.0', '::', 'localhost', '']) {
      assert.ok(!list.allows(address), address);
    }
    for (const entry of ['', 'build-box', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.0/7', '::/0', '1.2.3.4:80', '1.2.3.4/']) {
      assert.throws(() => new PeerList([entry]), { code: 'invalid-input' }, entry);
    }
    assert.ok(new PeerList([]).allows('::1'));
    assert.ok(!new PeerList([]).allows('192.168.1.5'));
  });
});
