import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BusError } from '../../src/core/errors.ts';
import {
  encodeLetter,
  errorReply,
  fetchReply,
  lettersBytes,
  queuedReply,
  statusReply,
  waitReply,
} from '../../src/transports/agentTool/brokerReply.ts';

const ts = '2026-01-02T03:04:05.678Z';
const letter = (msg: string): string => encodeLetter({ from: 'B', msg, ts }, '[cut]').json;

describe('a reply', () => {
  test('has its keys in the order of the original, and no empty ones', () => {
    assert.equal(queuedReply, '{"ok":true,"info":"queued"}');
    assert.equal(fetchReply([]), '{"ok":true}');
    assert.equal(fetchReply([letter('hi')]), `{"ok":true,"messages":[{"from":"B","msg":"hi","ts":"${ts}"}]}`);
    assert.equal(
      fetchReply([letter('a'), letter('b')]),
      `{"ok":true,"messages":[{"from":"B","msg":"a","ts":"${ts}"},{"from":"B","msg":"b","ts":"${ts}"}]}`,
    );
    assert.equal(waitReply(letter('')), `{"ok":true,"message":{"from":"B","msg":"","ts":"${ts}"}}`);
  });

  test('to status lists the mailboxes by the bytes of their names', () => {
    assert.equal(statusReply(new Map()), '{"ok":true,"info":"agent-tool-ipc-broker"}');
    const names = ['a', '\u{1f600}', '10', '\uffee', '9', '__proto__', 'Z', '"'];
    assert.equal(
      statusReply(new Map(names.map((name, i) => [name, i]))),
      '{"ok":true,"mailboxes":{"\\"":7,"10":2,"9":4,"Z":6,"__proto__":5,"a":0,"\uffee":3,"\u{1f600}":1},"info":"agent-tool-ipc-broker"}',
    );
  });

  test('to an error says what happened and what to do, in one string', () => {
    const next = 'do that';
    assert.equal(
      errorReply(new BusError('invalid-input', 'to is required', { next })),
      '{"ok":false,"error":"to is required; do that"}',
    );
    assert.equal(
      errorReply(new BusError('mailbox-full', 'It is full.', { next: 'Wait.' })),
      '{"ok":false,"error":"It is full. Wait."}',
    );
    const internal = errorReply(new Error('secret detail'));
    assert.match(internal, /^\{"ok":false,"error":"The hub failed on this call\. Try once more/);
    assert.doesNotMatch(internal, /secret/);
  });
});

describe('a letter', () => {
  test('carries its text unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (text, from) => {
        const msg = text.toWellFormed();
        const { json, bytes } = encodeLetter({ from, msg, ts }, '[cut]');
        assert.deepEqual(JSON.parse(json), { from, msg, ts });
        assert.equal(bytes, Buffer.byteLength(json));
        assert.ok(!json.includes('\n'));
      }),
    );
  });

  test('of a mebibyte is whole, unless JSON makes too much of it; then its beginning comes, with a note', () => {
    for (const msg of ['é'.repeat(524_288), '"'.repeat(1_048_576), '\u{1f600}'.repeat(262_144)])
      assert.equal((JSON.parse(letter(msg)) as { msg: string }).msg, msg);
    for (const unit of ['\u0001', '\u0001\u{1f600}', '\u0001"\u0002']) {
      const msg = unit.repeat(1_048_576 / Buffer.byteLength(unit));
      const { json, bytes } = encodeLetter({ from: 'B', msg, ts }, '[cut]');
      const got = (JSON.parse(json) as { msg: string }).msg;
      if (got === msg) continue;
      assert.ok(bytes <= lettersBytes, `${bytes}`);
      assert.ok(got.endsWith('[cut]') && got.isWellFormed());
      assert.ok(msg.startsWith(got.slice(0, -5)) && got.length > 600_000);
    }
    assert.ok(letter('\u0001'.repeat(1_048_576)).endsWith(`[cut]","ts":"${ts}"}`));
  });
});
