import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { GroupCommit } from '../../src/storage/groupCommit.ts';
import { tempFolder } from '../support/tempFolder.ts';

function open(t: TestContext) {
  const path = join(tempFolder(t), 'x.db');
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (n INTEGER UNIQUE)');
  let changes = 0;
  const lost: unknown[] = [];
  const group = new GroupCommit(db, {
    asError: (error) => error,
    changes: () => changes,
    afterCommit: () => undefined,
    afterRollback: () => undefined,
    onLost: (error) => lost.push(error),
  });
  const put = (n: number): number => {
    changes++;
    db.prepare('INSERT INTO rows VALUES (?)').run(n);
    return n;
  };
  const other = new DatabaseSync(path, { readOnly: true });
  t.after(() => other.close());
  /** As another connection sees it: committed rows only. */
  const stored = (): number[] =>
    other
      .prepare('SELECT n FROM rows ORDER BY n')
      .all()
      .map((row) => row['n'] as number);
  return { db, group, put, stored, lost };
}

test('writes of one turn share a commit, and each resolves only after it', async (t) => {
  const { group, put, stored } = open(t);
  const seen: number[][] = [];
  const writes = [1, 2, 3].map((n) => group.write(() => put(n)).then(() => seen.push(stored())));
  assert.deepEqual(stored(), []);
  await Promise.all(writes);
  assert.equal(group.commits, 1);
  assert.deepEqual(seen, [
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

test('a work that fails before it changed anything fails alone', async (t) => {
  const { group, put, stored } = open(t);
  const results = await Promise.allSettled([
    group.write(() => put(1)),
    group.write(() => {
      throw new Error('no such agent');
    }),
    group.write(() => put(2)),
  ]);
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(stored(), [1, 2]);
});

test('a work that fails halfway leaves nothing of itself, and everything of the others', async (t) => {
  const { group, put, stored } = open(t);
  const results = await Promise.allSettled([
    group.write(() => put(1)),
    group.write(() => {
      put(2);
      put(3);
      put(1);
    }),
    group.write(() => put(4)),
  ]);
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(stored(), [1, 4]);
});

test('when the commit itself fails, everybody in it hears so', async (t) => {
  const { db, group, put, stored } = open(t);
  db.exec('PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);');
  db.exec('CREATE TABLE child (p INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)');
  const results = await Promise.allSettled([
    group.write(() => put(1)),
    group.write(() => db.prepare('INSERT INTO child VALUES (7)').run()),
  ]);
  assert.deepEqual(
    results.map((result) => result.status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(stored(), []);
  assert.equal(await group.write(() => put(5)), 5);
});

test('notes go before what must not overtake them, and otherwise together a moment later', async (t) => {
  const { group, put, stored } = open(t);
  const settled: boolean[] = [];
  const note = (n: number): Promise<void> =>
    new Promise((resolve) =>
      group.later(
        () => void put(n),
        (ok) => {
          settled.push(ok);
          resolve();
        },
      ),
    );
  void note(1);
  await group.write(() => assert.deepEqual(put(2), 2));
  assert.deepEqual([stored(), settled], [[2], []]);
  await group.write(() => put(3), true);
  assert.deepEqual([stored(), settled], [[1, 2, 3], [true]]);
  const before = group.commits;
  await Promise.all([note(4), note(5)]);
  assert.deepEqual([stored(), group.commits - before], [[1, 2, 3, 4, 5], 1]);
});

test('a note that can not be stored is reported and takes nobody with it', async (t) => {
  const { group, put, stored, lost } = open(t);
  const settled: boolean[] = [];
  await group.write(() => put(1));
  group.later(
    () => void put(1),
    (ok) => settled.push(ok),
  );
  await group.write(() => put(2), true);
  assert.deepEqual([stored(), settled, lost.length], [[1, 2], [false], 1]);
});

test('a long queue is stored in several commits, in order, and nobody is forgotten', async (t) => {
  const { group, put, stored } = open(t);
  const order: number[] = [];
  const writes = Array.from({ length: 200 }, (_, n) => group.write(() => put(n)).then((value) => order.push(value)));
  await Promise.all(writes);
  assert.ok(group.commits > 1);
  assert.deepEqual(order, stored());
  const last = Array.from({ length: 100 }, (_, n) => group.write(() => put(1_000 + n)));
  group.drain();
  await Promise.all(last);
  assert.equal(stored().length, 300);
});
