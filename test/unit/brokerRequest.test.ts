import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BusError } from '../../src/core/errors.ts';
import {
  parseRequest,
  requestBytes,
  RequestScanner,
  type BrokerRequest,
} from '../../src/transports/agentTool/brokerRequest.ts';

const empty: BrokerRequest = { op: '', to: '', from: '', msg: '', mailbox: '', timeout: 0 };

/** What comes of a stream in these pieces: the object's bytes, or undefined if it is not complete. */
function scan(pieces: readonly Buffer[]): Buffer | undefined {
  const scanner = new RequestScanner();
  for (const piece of pieces) {
    const found = scanner.push(piece);
    if (found) return found;
  }
  return undefined;
}

function read(text: string | Buffer): BrokerRequest {
  return parseRequest(scan([Buffer.from(text)]) ?? assert.fail('not complete'));
}

const refusal = (pattern: RegExp) => (error: unknown) =>
  error instanceof BusError &&
  error.message.startsWith('invalid JSON: ') &&
  pattern.test(error.message) &&
  !!error.next;

/** The bytes cut at these places, taken as they come. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((start, i) => bytes.subarray(start, cuts[i] ?? bytes.length));
}

const anyRequest = fc.record(
  {
    op: fc.constantFrom('post', 'fetch', 'wait', 'status', 'nonsense'),
    to: fc.string({ unit: 'grapheme' }),
    from: fc.string({ unit: 'grapheme' }),
    msg: fc.string({ unit: 'binary' }),
    mailbox: fc.string(),
    timeout: fc.integer(),
    other: fc.jsonValue({ maxDepth: 5 }),
  },
  { requiredKeys: ['op'] },
);
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

describe('a request', () => {
  test('is one JSON object: keys in any case, unknown ones and null passed over', () => {
    assert.deepEqual(read('{"op":"status"}'), { ...empty, op: 'status' });
    assert.deepEqual(read(' \r\n\t{ "OP" : "post", "To":"A", "FROM":"B", "Msg":"hi", "x": [{"op":"no"}] }'), {
      ...empty,
      op: 'post',
      to: 'A',
      from: 'B',
      msg: 'hi',
    });
    assert.deepEqual(read('{"op":"wait","mailbox":"A","timeout":7,"to":null,"timeouts":"x"}'), {
      ...empty,
      op: 'wait',
      mailbox: 'A',
      timeout: 7,
    });
    assert.deepEqual(read('{"__proto__":{"op":"status"},"constructor":1}'), empty);
  });

  test('of a wrong type is refused, and says which field', () => {
    for (const [text, pattern] of [
      ['{"op":1}', /"op" is not a string/],
      ['{"op":"post","MSG":{}}', /"msg" is not a string/],
      ['{"mailbox":["a"]}', /"mailbox" is not a string/],
      ['{"timeout":"60"}', /"timeout" is not a whole number/],
      ['{"timeout":1.5}', /"timeout"/],
      ['{"timeout":1e300}', /"timeout"/],
      ['{"op":}', /./],
      ['{"op":"status"]', /./],
      ["{'op':'status'}", /./],
      [`{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, /nested/],
    ] as const)
      assert.throws(() => read(text), refusal(pattern), text);
  });

  test('that can become none is refused with its first wrong byte', () => {
    for (const text of ['GET / HTTP/1.1', '[', '"op"', 'null', '5', '\ufeff{', '\0', '{"op":"sta\n'])
      assert.throws(() => scan([Buffer.from(text)]), refusal(/./), text);
  });

  test('holds well-formed text, whatever came', () => {
    assert.equal(read('{"msg":"half \\ud83d of a pair"}').msg, 'half \ufffd of a pair');
    assert.equal(read(Buffer.from([...Buffer.from('{"msg":"'), 0xff, 0xc3, ...Buffer.from('"}')])).msg, '\ufffd\ufffd');
    assert.equal(read('{"msg":"\\u0000 \\"}{ \\\\"}').msg, '\0 "}{ \\');
  });
});

describe('the scanner', () => {
  test('finds the same object however the bytes come, and nothing before its last one', () => {
    fc.assert(
      fc.property(
        anyRequest,
        space,
        fc.boolean(),
        fc.array(fc.nat()),
        fc.string(),
        (request, lead, pretty, cuts, rest) => {
          const object = Buffer.from(lead + JSON.stringify(request, null, pretty ? 2 : undefined));
          const found = scan(cutAt(Buffer.concat([object, Buffer.from(rest)]), cuts));
          assert.deepEqual(found, object);
          assert.equal(scan(cutAt(object.subarray(0, -1), cuts)), undefined);
          const { op, to = '', from = '', msg = '', mailbox = '', timeout = 0 } = request;
          const wellFormed = { op, to, from, msg: msg.toWellFormed(), mailbox, timeout };
          assert.deepEqual(parseRequest(object), wellFormed);
        },
      ),
    );
  });

  test('takes a request of the largest size a byte at a time, and not one byte more', () => {
    const around = '{"op":"post","to":"A","msg":""}'.length;
    const largest = Buffer.from(`{"op":"post","to":"A","msg":"${'m'.repeat(requestBytes - around)}"}`);
    assert.equal(largest.length, requestBytes);
    const scanner = new RequestScanner();
    for (let at = 0; at < largest.length - 1; at++) assert.equal(scanner.push(largest.subarray(at, at + 1)), undefined);
    assert.deepEqual(scanner.push(largest.subarray(-1)), largest);
    const larger = Buffer.concat([Buffer.from(' '), largest]);
    assert.throws(() => scan([larger]), refusal(/larger than 1052672 bytes/));
    assert.throws(() => scan(cutAt(larger, [1_000, 500_000])), refusal(/larger than/));
    assert.throws(() => scan([Buffer.alloc(requestBytes + 1, ' ')]), refusal(/larger than/));
  });

  test('meets any bytes with an object, patience or a refusal', () => {
    const jsonish = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '"op"', '"post"', '1', 'null', ' ', '\n', '\\u00', 'é'),
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      jsonish.map((parts) => Buffer.from(`{${parts.join('')}`)),
    );
    fc.assert(
      fc.property(bytes, fc.array(fc.nat()), (stream, cuts) => {
        const outcome = (pieces: readonly Buffer[]): unknown => {
          try {
            const found = scan(pieces);
            return found && parseRequest(found);
          } catch (error) {
            assert.ok(refusal(/./)(error), String(error));
            return (error as BusError).message;
          }
        };
        assert.deepEqual(outcome(cutAt(stream, cuts)), outcome([stream]));
      }),
      { numRuns: 2_000 },
    );
  });
});
