import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AgentLog, check, checkComesAgain, checkOpen, type StoredMessage } from '../support/checker.ts';

// A checker that cannot fail proves nothing: each kind of harm, fed to it, has to be named.

/** Two agents that did everything right: ann sent three to bob, bob read all and acknowledged the first. */
function peace(): { ann: AgentLog; bob: AgentLog; stored: StoredMessage[] } {
  const ann = new AgentLog('ann');
  const bob = new AgentLog('bob');
  const stored: StoredMessage[] = [];
  for (const seq of [1, 2, 3]) {
    const entry = ann.invoke(['bob'], `key-${seq}`);
    const recipients = [{ agent: 'bob', closed: seq === 1 }];
    stored.push({ id: `m${seq}`, seq, sender: 'ann', text: entry.text, key: `key-${seq}`, recipients });
    ann.end(entry, 'ok', `m${seq}`);
  }
  bob.delivered(stored.map(({ id, sender, text }) => ({ id, from: sender, text })));
  bob.acking(['m1']);
  bob.ackedOk(['m1']);
  return { ann, bob, stored };
}

function row(stored: StoredMessage[], index: number): StoredMessage {
  return stored[index] as StoredMessage;
}

const harms: Record<string, { says: RegExp; harm: (world: ReturnType<typeof peace>) => void }> = {
  'a lost message': { says: /^lost: "ann says 2/, harm: ({ stored }) => stored.splice(1, 1) },
  'a duplicated message': {
    says: /^duplicated: "ann says 2/,
    harm: ({ stored }) => stored.push({ ...row(stored, 1), id: 'm4', seq: 4, key: null }),
  },
  'a key that is two rows': {
    says: /^key used twice: m2, m4/,
    harm: ({ stored }) => stored.push({ ...row(stored, 1), id: 'm4', seq: 4 }),
  },
  'a message nobody sent': {
    says: /^unsent: m9/,
    harm: ({ stored }) => stored.push({ id: 'm9', seq: 9, sender: 'ann', text: 'what?', key: null, recipients: [] }),
  },
  'a refused message that is stored': {
    says: /^stored although refused/,
    harm: ({ ann }) => void (ann.sends[0]!.outcome = 'failed'),
  },
  'a message under another id': { says: /^wrong id/, harm: ({ stored }) => void (row(stored, 1).id = 'm7') },
  'a message to somebody else': {
    says: /^wrong recipients/,
    harm: ({ stored }) => row(stored, 1).recipients.push({ agent: 'ann', closed: false }),
  },
  'a delivery that is not stored': {
    says: /^foreign: bob was handed m8/,
    harm: ({ bob }) => bob.delivered([{ id: 'm8', from: 'ann', text: 'x' }]),
  },
  'a delivery that is for somebody else': {
    says: /^foreign: ann was handed m1, which is not for it/,
    harm: ({ ann, stored }) => ann.delivered([{ id: 'm1', from: 'ann', text: row(stored, 0).text }]),
  },
  'a delivery in other words': {
    says: /^changed: bob was handed m1/,
    harm: ({ bob }) => bob.delivered([{ id: 'm1', from: 'ann', text: 'other words' }]),
  },
  'messages stored in another order': {
    says: /^reordered: "ann says 3/,
    harm: ({ stored }) => {
      [row(stored, 1).seq, row(stored, 2).seq] = [3, 2];
    },
  },
  'messages handed over in another order': {
    says: /^reordered: bob was handed m2 of ann too late/,
    harm: ({ bob }) => bob.deliveries.splice(0, 3, bob.deliveries[0]!, bob.deliveries[2]!, bob.deliveries[1]!),
  },
  'a lost acknowledgement': {
    says: /^acknowledgement lost: bob has acked m1/,
    harm: ({ stored }) => void (row(stored, 0).recipients[0]!.closed = false),
  },
  'a message closed by nobody': {
    says: /^closed by nobody: m2/,
    harm: ({ stored }) => void (row(stored, 1).recipients[0]!.closed = true),
  },
};

describe('the checker', () => {
  test('has nothing to say when all is well', () => {
    const { ann, bob, stored } = peace();
    assert.deepEqual(check([ann, bob], stored), []);
    assert.deepEqual(checkOpen(bob, ['m2', 'm3'], stored), []);
  });

  for (const [name, { says, harm }] of Object.entries(harms)) {
    test(`sees ${name}`, () => {
      const world = peace();
      harm(world);
      const complaints = check([world.ann, world.bob], world.stored);
      assert.ok(
        complaints.some((complaint) => says.test(complaint)),
        `said only: ${complaints.join('; ') || 'nothing'}`,
      );
    });
  }

  test('an unanswered send may be there once or not at all', () => {
    for (const there of [0, 1, 2]) {
      const { ann, bob, stored } = peace();
      const entry = ann.invoke(['bob']);
      ann.end(entry, 'unknown');
      for (let copy = 0; copy < there; copy++) {
        stored.push({
          id: `m${4 + copy}`,
          seq: 4 + copy,
          sender: 'ann',
          text: entry.text,
          key: null,
          recipients: [{ agent: 'bob', closed: false }],
        });
      }
      assert.equal(check([ann, bob], stored).length > 0, there === 2);
    }
  });

  test('concurrent sends may be stored in any order', () => {
    const ann = new AgentLog('ann');
    const entries = [ann.invoke(['bob']), ann.invoke(['bob'])];
    const stored = entries.toReversed().map(({ text }, i): StoredMessage => ({
      id: `m${i + 1}`,
      seq: i + 1,
      sender: 'ann',
      text,
      key: null,
      recipients: [{ agent: 'bob', closed: false }],
    }));
    for (const entry of entries) ann.end(entry, 'ok');
    assert.deepEqual(check([ann], stored), []);
  });

  test('sees what does not come again, and what comes for nothing', () => {
    const { bob, stored } = peace();
    assert.deepEqual(checkComesAgain(bob, ['m3']), ['not offered again: m2 to bob']);
    assert.ok(checkOpen(bob, ['m1', 'm2', 'm3'], stored).includes('offered for nothing: m1 to bob'));
    bob.deliveries.length = 0;
    assert.ok(checkOpen(bob, ['m2'], stored).includes('not offered: m3 to bob'));
  });
});
