import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SteadyClock } from '../../src/core/clock.ts';
import { BusError, errorShape } from '../../src/core/errors.ts';
import { limits, namePattern } from '../../src/core/limits.ts';
import { conversationId, messageId } from '../../src/core/model.ts';
import { assertFreeForm, assertNotReserved, closestName, freeName, suggestName } from '../../src/core/names.ts';
import { Policy } from '../../src/core/policy.ts';
import { PresenceBoard } from '../../src/core/presence.ts';
import { assertText, cut, firstLine, snippet } from '../../src/core/text.ts';
import { folderName } from '../../src/core/views.ts';
import { WaitingRoom } from '../../src/core/waiting.ts';

const code = (expected: string) => (error: unknown) =>
  error instanceof BusError && error.code === expected && error.next.length > 0;

describe('ids', () => {
  test('survive the way out and back, and nothing else parses', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        (n) => messageId.parse(messageId.format(n)) === n && conversationId.parse(conversationId.format(n)) === n,
      ),
    );
    for (const bad of ['', 'm', 'c1', 'M1', 'm01', 'm-1', 'm1 ', 'mzzzzzzzzzzz', "m1' OR 1=1"])
      assert.equal(messageId.parse(bad), undefined, bad);
  });
});

describe('names', () => {
  test('any text becomes a valid, unreserved name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const name = suggestName(text);
        assert.match(name, namePattern);
        assertNotReserved(name);
      }),
    );
    assert.equal(suggestName('Shop API (v2)'), 'shop-api-v2');
    assert.equal(suggestName('Größe'), 'gro-e');
    assert.equal(suggestName('person'), 'agent');
  });
  test('taken names get a number and stay within the length', () => {
    const taken = new Set(['a'.repeat(40), `${'a'.repeat(38)}-2`]);
    assert.equal(
      freeName('a'.repeat(40), (name) => taken.has(name)),
      `${'a'.repeat(38)}-3`,
    );
  });
  test('look-alikes and reserved names are refused', () => {
    for (const bad of ['Alice', 'аlice', 'al ice', '-a', 'a_b', '', 'a'.repeat(41), 'a\u200db'])
      assert.throws(() => assertFreeForm(bad), code('invalid-name'), bad);
    for (const bad of ['person', 'system', 'hub', 'everyone'])
      assert.throws(() => assertNotReserved(bad), code('name-reserved'));
  });
  test('the closest name is offered, and none that is far off', () => {
    const names = ['shop-api-copilot', 'shop-web-claude', 'bob'];
    assert.equal(closestName('shop-api-copilt', names), 'shop-api-copilot');
    assert.equal(closestName('bbo', names), 'bob');
    assert.equal(closestName('shop-api', names), 'shop-api-copilot');
    assert.equal(closestName('zebra-crossing', names), undefined);
  });
});

describe('text', () => {
  test('is measured in bytes of UTF-8, to the byte', () => {
    assertText('a'.repeat(limits.textBytes), 'text');
    assert.throws(() => assertText('a'.repeat(limits.textBytes + 1), 'text'), code('too-large'));
    assertText('é'.repeat(limits.textBytes / 2), 'text');
    assert.throws(() => assertText(`${'é'.repeat(limits.textBytes / 2)}a`, 'text'), code('too-large'));
    assert.throws(() => assertText('half \ud83d of a pair', 'text'), code('invalid-input'));
  });
  test('is never cut in the middle of a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        assert.ok(cut(text, max).isWellFormed());
        assert.ok(firstLine(text, max).isWellFormed());
        assert.ok(snippet(text, 'a b', max).isWellFormed());
      }),
    );
    assert.equal(firstLine('\n\n first\nsecond', 20), 'first');
    assert.match(snippet(`${'x '.repeat(200)}needle${' y'.repeat(200)}`, 'needle', 40), /^….*needle.*…$/);
  });
  test('a path shows its last folder only, whatever the platform', () => {
    assert.equal(folderName('/home/ada/shop-api/'), 'shop-api');
    assert.equal(folderName('C:\\Users\\ada\\shop'), 'shop');
    assert.equal(folderName(''), '');
  });
});

describe('clock', () => {
  const sources = () => {
    const at = { wall: 1_000_000, monotonic: 0, uptime: 500_000 };
    return {
      at,
      clock: new SteadyClock({ wall: () => at.wall, monotonic: () => at.monotonic, uptime: () => at.uptime }),
    };
  };
  const pass = (at: { wall: number; monotonic: number; uptime: number }, ms: number): void => {
    at.wall += ms;
    at.monotonic += ms;
    at.uptime += ms;
  };
  test('a wall clock set a day ahead or back moves nothing and is reported', () => {
    for (const jump of [86_400_000, -86_400_000]) {
      const { at, clock } = sources();
      pass(at, 10_000);
      at.wall += jump;
      assert.equal(clock.now(), 1_010_000);
      assert.deepEqual(clock.settle(), { jumpedBy: jump });
      pass(at, 10_000);
      assert.equal(clock.now(), 1_020_000);
    }
  });
  test('after a sleep it catches up', () => {
    const { at, clock } = sources();
    at.wall += 3_600_000;
    at.uptime += 3_600_000;
    assert.equal(clock.settle(), undefined);
    assert.equal(clock.now(), 4_600_000);
  });
  test('it follows small corrections and never runs backwards', () => {
    const { at, clock } = sources();
    pass(at, 60_000);
    const before = clock.now();
    at.wall -= 500;
    assert.equal(clock.settle(), undefined);
    assert.equal(clock.now(), before);
    pass(at, 1_000);
    assert.equal(clock.now(), 1_060_500);
  });
  test('it starts no earlier than the newest message', () => {
    const clock = new SteadyClock({ wall: () => 5, monotonic: () => 0, uptime: () => 0 }, 1_000);
    assert.equal(clock.now(), 1_000);
  });
});

describe('policy', () => {
  const at = { now: 0 };
  const policy = () =>
    new Policy({ rateBurst: 3, ratePerSecond: 1, mailbox: 2, hops: 2, wakeHops: 1 }, { now: () => at.now });
  test('the rate runs out, says for how long, and comes back', () => {
    const p = policy();
    for (let i = 0; i < 3; i++) p.spend(1);
    assert.throws(() => p.spend(1), code('rate-limited'));
    p.spend(2);
    at.now += 1_000;
    p.spend(1);
    assert.throws(() => p.spend(1), code('rate-limited'));
  });
  test('a mailbox is full at its limit, counted only when it could be', () => {
    const p = policy();
    let unread = 0;
    let counted = 0;
    const send = (): void => {
      p.checkMailbox(1, 'bob', () => (counted++, unread));
      unread++;
    };
    send();
    send();
    assert.throws(send, code('mailbox-full'));
    unread = 0;
    send();
    assert.ok(counted <= 4, `${counted} counts`);
  });
  test('a chain of replies ends', () => {
    policy().checkHops(2);
    assert.throws(() => policy().checkHops(3), code('hop-limit'));
  });
});

describe('waiting', () => {
  test('ends by news, deadline, leaving and stopping, each exactly once', async () => {
    const room = new WaitingRoom();
    const leaving = new AbortController();
    const news = room.wait('a', 1, 60_000, new AbortController().signal);
    const late = room.wait('b', 1, 1, new AbortController().signal);
    const gone = room.wait('c', 1, 60_000, leaving.signal);
    assert.equal(room.size, 3);
    room.wake('a');
    room.wake('a');
    leaving.abort();
    assert.deepEqual(await Promise.all([news, late, gone]), ['news', 'timeout', 'gone']);
    const stopped = room.wait('d', 1, 60_000, new AbortController().signal);
    room.stop();
    assert.equal(await stopped, 'stopping');
    assert.equal(await room.wait('e', 1, 60_000, new AbortController().signal), 'stopping');
    assert.equal(room.size, 0);
  });
  test('one agent can not fill the room', () => {
    const room = new WaitingRoom();
    const { signal } = new AbortController();
    for (let i = 0; i < limits.waitsPerAgent; i++) void room.wait('x', 1, 60_000, signal);
    assert.throws(() => room.wait('x', 1, 60_000, signal), code('too-many-waits'));
    void room.wait('x', 2, 60_000, signal);
    room.stop();
  });
});

describe('presence', () => {
  test('comes from connections, waiting calls and recent calls; goes when they go', () => {
    const at = { now: 1_000_000 };
    const told: string[] = [];
    const board: PresenceBoard = new PresenceBoard({ now: () => at.now }, (agent) => told.push(board.of(agent)));
    assert.equal(board.of(1), 'offline');
    board.touch(1);
    assert.equal(board.of(1), 'idle');
    at.now += 121_000;
    board.sweep();
    assert.equal(board.of(1), 'offline');
    const connection = board.connect(1);
    connection.set('working');
    const done = board.waiting(1);
    assert.equal(board.of(1), 'waiting');
    done();
    assert.equal(board.of(1), 'working');
    connection.close();
    connection.close();
    assert.equal(board.of(1), 'offline');
    assert.deepEqual(told, ['idle', 'offline', 'idle', 'working', 'waiting', 'working', 'offline']);
  });
});

test('an error of ours never looks like the caller’s fault and leaks nothing', () => {
  const shape = errorShape(new TypeError('secret detail'));
  assert.equal(shape.code, 'internal');
  assert.ok(!JSON.stringify(shape).includes('secret'));
});
