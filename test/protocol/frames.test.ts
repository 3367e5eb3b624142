import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BusError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';
import { parseJson } from '../../src/protocol/depth.ts';
import { FrameDecoder, encodeFrame } from '../../src/protocol/frames.ts';
import type { FrameDecoderOptions } from '../../src/protocol/frames.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });
const anyHeader = fc.constantFrom(
  (n: number) => `Content-Length: ${n}\r\n\r\n`,
  (n: number) => `content-length:${n}\r\n\r\n`,
  (n: number) => `Content-Length: ${n}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n`,
  (n: number) => `Content-Type: application/json\r\nCONTENT-LENGTH:  00${n} \r\n\r\n`,
);

function decode(chunks: Iterable<Buffer>, options?: FrameDecoderOptions): string[] {
  const payloads: string[] = [];
  const decoder = new FrameDecoder((text) => payloads.push(text), options);
  for (const chunk of chunks) decoder.push(chunk);
  return payloads;
}

/** Cuts at the given points, taken modulo the length; equal points give empty chunks. */
function cut(bytes: Buffer, points: number[]): Buffer[] {
  const at = points.map((point) => point % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length));
}

function isBusError(...codes: ErrorCode[]) {
  return (error: unknown) => error instanceof BusError && codes.includes(error.code) && error.next !== '';
}

test('any split of any frames gives the same payloads', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyText, anyHeader), { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 40 }),
      (frames, points) => {
        const texts = frames.map(([text]) => Buffer.from(text).toString());
        const bytes = Buffer.concat(
          frames.flatMap(([text, header]) => [Buffer.from(header(Buffer.byteLength(text))), Buffer.from(text)]),
        );
        assert.deepEqual(decode([bytes]), texts);
        assert.deepEqual(decode(cut(bytes, points)), texts);
        assert.deepEqual(decode(Array.from(bytes, (byte) => Buffer.of(byte))), texts);
      },
    ),
    { numRuns: 300 },
  );
});

test('what is encoded is decoded, with its length in bytes', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (json) => assert.deepEqual(decode([Buffer.from(encodeFrame(json))]), [json])),
  );
  assert.equal(encodeFrame('"é🚌"'), 'Content-Length: 8\r\n\r\n"é🚌"');
});

test('a character split over two chunks stays whole', () => {
  const bytes = Buffer.from(encodeFrame('"aé漢🚌\uFFFD"'));
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(decode([bytes.subarray(0, at), bytes.subarray(at)]), ['"aé漢🚌\uFFFD"']);
  }
});

test('payloads before a broken frame are delivered, then the decoder is dead', () => {
  const payloads: string[] = [];
  const decoder = new FrameDecoder((text) => payloads.push(text));
  assert.throws(
    () => decoder.push(Buffer.from(encodeFrame('1') + encodeFrame('2') + 'oops\r\n\r\n')),
    isBusError('invalid-input'),
  );
  assert.deepEqual(payloads, ['1', '2']);
  assert.throws(() => decoder.push(Buffer.from(encodeFrame('3'))), isBusError('invalid-input'));
  assert.deepEqual(payloads, ['1', '2']);
});

test('an oversized frame is refused by its header, whichever way it comes', () => {
  const options = { maxFrame: 100 };
  assert.deepEqual(decode([Buffer.from(encodeFrame('x'.repeat(100)))], options), ['x'.repeat(100)]);
  for (const header of ['Content-Length: 101\r\n\r\n', 'A: b\r\nContent-Length: 999999999999999\r\n\r\n']) {
    assert.throws(() => decode([Buffer.from(header)], options), isBusError('too-large'));
    assert.throws(
      () =>
        decode(
          Array.from(Buffer.from(header), (byte) => Buffer.of(byte)),
          options,
        ),
      isBusError('too-large'),
    );
  }
});

test('broken headers are refused', () => {
  const broken = [
    'GET / HTTP/1.1\r\n',
    '\r\n\r\n',
    '\n',
    'Content-Type: x\r\n\r\n',
    'Content-Length\r\n\r\n',
    'Content-Length: \r\n\r\n',
    'Content-Length: -1\r\n\r\n',
    'Content-Length: 1.5\r\n\r\n',
    'Content-Length: 0x10\r\n\r\n',
    'Content-Length: 9999999999999999\r\n\r\n',
    'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}',
    'Content-Length: 2\n\n{}',
    ': 2\r\n\r\n{}',
    'x'.repeat(5000),
    `A: ${'x'.repeat(5000)}`,
    'A: b\r\n'.repeat(1000),
  ];
  for (const text of broken) {
    const bytes = Buffer.from(text, 'latin1');
    assert.throws(() => decode([bytes]), isBusError('invalid-input'), JSON.stringify(text.slice(0, 50)));
    assert.throws(() => decode(Array.from(bytes, (byte) => Buffer.of(byte))), isBusError('invalid-input'));
  }
});

test('broken UTF-8 is refused instead of being replaced', () => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
    const frame = Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), Buffer.from(bytes)]);
    assert.throws(() => decode([frame]), isBusError('invalid-input'));
    assert.throws(() => decode(cut(frame, [frame.length - 1])), isBusError('invalid-input'));
  }
});

test('random bytes are decoded, waited on or refused, the same for every split', () => {
  const pieces = fc.constantFrom(
    'Content-Length: ',
    'content-length:',
    '3',
    '12',
    '\r\n',
    '\r\n\r\n',
    '\n',
    ':',
    '{}',
    ' ',
    'é',
    '\0',
  );
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    fc.array(pieces, { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
  );
  const outcome = (chunks: Buffer[]) => {
    const payloads: string[] = [];
    const decoder = new FrameDecoder((text) => payloads.push(text), { maxFrame: 1000, maxHeader: 64 });
    try {
      for (const chunk of chunks) decoder.push(chunk);
      return { payloads, code: 'none' };
    } catch (error) {
      assert.ok(error instanceof BusError, String(error));
      return { payloads, code: error.code };
    }
  };
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(), { maxLength: 20 }), (bytes, points) => {
      assert.deepEqual(outcome(cut(bytes, points)), outcome([bytes]));
    }),
    { numRuns: 3000 },
  );
});

test('a dribbled 8 MiB frame costs time in proportion, and an announced one no memory', () => {
  const text = 'é'.repeat(4 * 1024 * 1024 - 8);
  const bytes = Buffer.from(encodeFrame(text));
  const started = performance.now();
  const chunks = function* () {
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
  };
  assert.ok(decode(chunks())[0] === text);
  assert.ok(performance.now() - started < 5_000);

  const before = process.memoryUsage().arrayBuffers;
  const waiting = Array.from({ length: 200 }, () => {
    const decoder = new FrameDecoder(() => assert.fail());
    decoder.push(Buffer.from('Content-Length: 8388608\r\n\r\n{'));
    return decoder;
  });
  assert.equal(waiting.length, 200);
  assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
});

test('JSON is parsed up to its depth and refused beyond', () => {
  const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);
  assert.deepEqual(JSON.stringify(parseJson(nested(64), 64)), nested(64));
  assert.throws(() => parseJson(nested(65), 64), isBusError('too-deep'));
  assert.throws(() => parseJson('{"a":'.repeat(65) + '1' + '}'.repeat(65), 64), isBusError('too-deep'));
  assert.throws(() => parseJson('['.repeat(4_000_000), 64), isBusError('too-deep'));
  assert.doesNotThrow(() => parseJson(`[${'[],{},'.repeat(500)}1]`, 2));
  const brackets = JSON.stringify({ text: '\\"[{'.repeat(1000), more: '\\' });
  assert.deepEqual(parseJson(brackets, 1), JSON.parse(brackets));
  for (const text of ['', '{', '"', '[1,]', 'undefined', `"${'[{'.repeat(100)}`, `${']'.repeat(300)}`]) {
    assert.throws(() => parseJson(text, 64), isBusError('invalid-input'), text);
  }
});

test('the depth of any JSON is told exactly', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  const nasty = fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', ']', '}', 'a') });
  const { value: anyValue } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'large', withCrossShrink: true }, nasty, fc.integer(), tie('list'), tie('record')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    record: fc.dictionary(nasty, tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(anyValue, fc.integer({ min: 0, max: 6 }), (value, most) => {
      const text = JSON.stringify(value);
      const parsed = JSON.parse(text) as unknown;
      if (depthOf(parsed) > most) assert.throws(() => parseJson(text, most), isBusError('too-deep'));
      else assert.deepEqual(parseJson(text, most), parsed);
    }),
    { numRuns: 1000 },
  );
});
