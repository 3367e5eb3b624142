import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { BusError } from '../../src/core/errors.ts';
import type { MessageRecord } from '../../src/core/model.ts';
import { interrupted, repairDatabase } from '../../src/storage/repair.ts';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import { migrations } from '../../src/storage/schema.ts';
import { tempFolder } from '../support/tempFolder.ts';

const code = (expected: string) => (error: unknown) => error instanceof BusError && error.code === expected;

async function storeWith(
  t: TestContext,
  texts: string[],
): Promise<{ path: string; store: SqliteStore; seqs: number[] }> {
  const path = join(tempFolder(t), 'bus.db');
  const store = new SqliteStore(path);
  t.after(() => store.close());
  const seqs = await store.write((tx) => {
    const agent = {
      kind: 'agent' as const,
      about: '',
      workspace: '',
      product: '',
      skills: [],
      open: false,
      identity: null,
      created: 1,
      lastSeen: 1,
      removed: false,
    };
    const [a, b] = [tx.insertAgent({ ...agent, name: 'a' }), tx.insertAgent({ ...agent, name: 'b' })];
    const c = tx.insertConversation('direct', `${a} ${b}`, '', 1);
    tx.insertMember(c, a, 1);
    tx.insertMember(c, b, 1);
    return texts.map((text, i) => {
      const record = message(c, a, text, i + 1);
      const seq = tx.insertMessage(record) ?? assert.fail('no key was used');
      tx.insertDelivery({ seq, ...record }, b);
      return seq;
    });
  });
  return { path, store, seqs };
}

function message(conversation: number, sender: number, text: string, sentAt: number): Omit<MessageRecord, 'seq'> {
  return {
    conversation,
    sender,
    kind: 'inform',
    text,
    data: null,
    files: [],
    options: [],
    replyTo: null,
    priority: 'normal',
    key: null,
    hop: 0,
    sentAt,
    expiresAt: null,
  };
}

test('search finds words, prefixes and other scripts, for those who may see', async (t) => {
  const { store, seqs } = await storeWith(t, [
    'the quick brown fox',
    'Größenordnung der Füchse',
    'quick answer',
    'русский текст',
    '日本語 テキスト',
  ]);
  const find = (terms: string, visibleTo?: { agent: number; channels: number[] }): number[] =>
    store.search({ terms, visibleTo, limit: 10 }).map((found) => found.seq);
  assert.deepEqual(find('quick'), [seqs[2], seqs[0]]);
  assert.deepEqual(find('qui'), [seqs[2], seqs[0]]);
  assert.deepEqual(find('quick fox'), [seqs[0]]);
  assert.deepEqual(find('grosse'), []);
  assert.deepEqual(find('größ'), [seqs[1]]);
  assert.deepEqual(find('русский'), [seqs[3]]);
  assert.deepEqual(find('日本語'), [seqs[4]]);
  assert.deepEqual(find('quick', { agent: 2, channels: [] }), [seqs[2], seqs[0]]);
  assert.deepEqual(find('quick', { agent: 3, channels: [] }), []);
  for (const hostile of ['" OR *', 'text: a', 'NEAR(', "'; DROP TABLE messages; --", '*', ''])
    assert.doesNotThrow(() => find(hostile));
});

test('retention takes old read mail and never unread mail or pending requests', async (t) => {
  const { store, seqs } = await storeWith(t, ['old read', 'old unread', 'old request', 'new read']);
  const [read, unread, request, fresh] = seqs as [number, number, number, number];
  await store.write((tx) => {
    tx.insertRequest(request);
    for (const seq of [read, request, fresh]) tx.moveDelivery(seq, 2, 1, 'shown', 5);
  });
  store.search({ terms: 'old', limit: 1 });
  const before = store.lastSeq();
  store.retain({ olderThan: 4, maxBytes: 0 });
  assert.deepEqual(
    store.messagesAfter(0, 10).map((left) => left.seq),
    [unread, request, fresh],
  );
  assert.deepEqual(
    store.search({ terms: 'old', limit: 10 }).map((left) => left.seq),
    [request, unread],
  );
  store.retain({ olderThan: 0, maxBytes: 1 });
  assert.deepEqual(
    store.messagesAfter(0, 10).map((left) => left.seq),
    [unread, request],
  );
  assert.equal(store.lastSeq(), before, 'order numbers are not used again');
});

test('a closed delivery stays closed, and the first end of a request counts', async (t) => {
  const { store, seqs } = await storeWith(t, ['one']);
  const seq = seqs[0] as number;
  await store.write((tx) => {
    tx.insertRequest(seq);
    assert.equal(tx.endRequest(seq, { state: 'answered', resultSeq: null, at: 1, note: null }), true);
    assert.equal(tx.endRequest(seq, { state: 'cancelled', resultSeq: null, at: 2, note: null }), false);
    assert.equal(tx.moveDelivery(seq, 2, 2, 'acked', 1), true);
    assert.equal(tx.moveDelivery(seq, 2, 1, 'shown', 2), false);
  });
  assert.equal(store.request(seq)?.state, 'answered');
  assert.equal(store.delivery(seq, 2)?.step, 'acked');
});

test('a newer database is refused and left as it was', async (t) => {
  const { path, store } = await storeWith(t, ['x']);
  store.close();
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA user_version = ${migrations.length + 1}`);
  db.close();
  const before = readFileSync(path);
  assert.throws(() => new SqliteStore(path), code('database-newer'));
  assert.deepEqual(readFileSync(path), before);
});

test('a file that is not ours is refused and left as it was', (t) => {
  const folder = tempFolder(t);
  const foreign = join(folder, 'foreign.db');
  const db = new DatabaseSync(foreign);
  db.exec('CREATE TABLE theirs (x)');
  db.close();
  assert.throws(() => new SqliteStore(foreign), code('database-damaged'));
  const garbage = join(folder, 'garbage.db');
  writeFileSync(garbage, 'this is not a database at all '.repeat(500));
  const before = readFileSync(garbage);
  assert.throws(() => new SqliteStore(garbage), code('database-damaged'));
  assert.deepEqual(readFileSync(garbage), before);
});

test('repair keeps the damaged files and copies out what can be read', async (t) => {
  const texts = Array.from({ length: 3_000 }, (_, i) => `message ${i} ${'x'.repeat(200)}`);
  const { path, store } = await storeWith(t, texts);
  store.close();
  const bytes = readFileSync(path);
  // Somewhere in the middle of the messages.
  const at = bytes.indexOf('message 1500 ');
  bytes.fill(0xff, at - (at % 4096), at - (at % 4096) + 4096);
  writeFileSync(path, bytes);
  const report = repairDatabase(path, 'now', false);
  assert.deepEqual(readFileSync(join(report.kept, 'bus.db')), bytes);
  assert.deepEqual(report.incomplete, ['messages']);
  const repaired = new SqliteStore(path);
  t.after(() => repaired.close());
  const left = repaired.messagesAfter(0, 5_000);
  assert.ok(left.length > 2_900 && left.length < 3_000, `${left.length} of 3000`);
  assert.equal(left[0]?.text, texts[0]);
  assert.equal(left.at(-1)?.text, texts.at(-1));
  assert.equal(repaired.agents().length, 2);
});

test('an interrupted repair is known, and goes on from the kept files', async (t) => {
  const { path, store } = await storeWith(t, ['precious']);
  store.close();
  const whole = join(path, '..', 'whole.db');
  copyFileSync(path, whole);
  assert.equal(interrupted(path), undefined);
  writeFileSync(path, 'garbage');
  assert.throws(() => repairDatabase(path, 'first', false), code('database-damaged'));
  assert.ok(interrupted(path));
  // As if the kept copy had been readable and the first try had died in the middle.
  copyFileSync(whole, join(`${path}.damaged-first.unfinished`, 'bus.db'));
  const report = repairDatabase(path, 'second', false);
  assert.equal(report.rows['messages'], 1);
  assert.equal(interrupted(path), undefined);
  assert.ok(existsSync(`${path}.damaged-first`));
  assert.deepEqual(
    readdirSync(join(path, '..')).filter((name) => /new|scratch|second/.test(name)),
    [],
  );
});

test('the last activity of a conversation is right at once, and after a crash', async (t) => {
  const { path, store, seqs } = await storeWith(t, ['one', 'two']);
  const last = seqs.at(-1);
  assert.equal(store.conversation(1)?.lastSeq, last);
  // As a crash at this moment would leave it: nothing but the files.
  const folder = tempFolder(t);
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, join(folder, `bus.db${suffix}`));
  const stale = new DatabaseSync(join(folder, 'bus.db'));
  assert.equal(stale.prepare('SELECT last_seq FROM conversations').get()?.['last_seq'], 0, 'not in the row yet');
  stale.close();
  const after = new SqliteStore(join(folder, 'bus.db'));
  t.after(() => after.close());
  assert.equal(after.conversation(1)?.lastSeq, last);
  assert.deepEqual(
    after.conversations({ limit: 5 }).map((conversation) => conversation.lastSeq),
    [last],
  );
  assert.equal(store.conversations({ agent: 1, limit: 5 })[0]?.lastSeq, last);
});
