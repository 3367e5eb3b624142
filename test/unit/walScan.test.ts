import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { scanWal } from '../../src/storage/walScan.ts';

const pageSize = 512;
const frameBytes = 24 + pageSize;

describe('scanWal', () => {
  let folder: string;
  let wal: Buffer;
  let database: Buffer;
  /** Index of each commit's last frame. */
  let commits: number[];
  let scratch: string;

  before(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-wal-'));
    scratch = join(folder, 'scratch.db-wal');
    const path = join(folder, 'made.db');
    const db = openDatabase(path);
    db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY, x BLOB); PRAGMA wal_checkpoint(TRUNCATE)');
    for (let n = 1; n <= 6; n++) insert(db, n, n % 3 === 0 ? 3_000 : 20);
    database = fs.readFileSync(path);
    wal = fs.readFileSync(`${path}-wal`);
    db.close();
    commits = commitFrames(wal);
    assert.equal(commits.length, 6);
  });

  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  const scan = (bytes: Uint8Array) => {
    fs.writeFileSync(scratch, bytes);
    return scanWal(scratch);
  };

  it('finds an intact log, an empty one and a missing one in order', () => {
    const frames = (wal.length - 32) / frameBytes;
    assert.deepEqual(scan(wal), { frames, committedFrames: frames });
    assert.deepEqual(scan(new Uint8Array()), { frames: 0, committedFrames: 0 });
    assert.deepEqual(scanWal(join(folder, 'none-wal')), { frames: 0, committedFrames: 0 });
  });

  it('agrees with what SQLite itself recovers', () => {
    for (let at = 0; at < wal.length; at += 97) {
      const bytes = flipped(wal, at, 0xff);
      assert.equal(recoveredRows(folder, database, bytes), expectedRows(at), `byte ${at}`);
      const found = scan(bytes);
      assert.equal(commits.filter((frame) => frame < found.committedFrames).length, expectedRows(at), `byte ${at}`);
    }
  });

  /** Rows that are left when the byte at this place is wrong: those of the commits before its frame. */
  const expectedRows = (at: number): number => {
    const frame = Math.floor((at - 32) / frameBytes);
    return at < 32 ? 0 : commits.filter((last) => last < frame).length;
  };

  it('reports every flip that loses a commit followed by another one, and no flip in the last', () => {
    fs.writeFileSync(scratch, wal);
    const file = fs.openSync(scratch, 'r+');
    for (let at = 0; at < wal.length; at++) {
      const inHeader = at < 32 || (at - 32) % frameBytes < 24;
      for (const mask of inHeader ? [1, 2, 4, 8, 16, 32, 64, 128, 0xff] : [1 << (at % 8)]) {
        const bytes = flipped(wal, at, mask);
        // The one case that cannot be told from a torn frame.
        if (bytes.readUInt32BE(32 + (commits[4] as number) * frameBytes + 4) === 0) continue;
        fs.writeSync(file, bytes, at, 1, at);
        const { damage } = scanWal(scratch);
        fs.writeSync(file, wal, at, 1, at);
        const rows = expectedRows(at);
        assert.equal(damage !== undefined, rows < commits.length - 1, `byte ${at} mask ${mask}`);
        if (!damage) continue;
        assert.equal(damage.atFrame, at < 32 ? -1 : Math.floor((at - 32) / frameBytes), `byte ${at}`);
        assert.ok(damage.lostCommits >= 1 && damage.lostCommits <= commits.length - rows, `byte ${at}`);
      }
    }
    fs.closeSync(file);
  });

  it('reports a block of zeros in front of two commits, also over the header', () => {
    for (let at = 0; at < 32 + (commits[2] as number) * frameBytes; at += 64) {
      const bytes = Buffer.from(wal);
      bytes.fill(0, at, at + 700);
      assert.ok(scan(bytes).damage, `zeros from ${at}`);
    }
  });

  it('never reports a plain truncation', () => {
    fs.writeFileSync(scratch, wal);
    for (let length = wal.length; length >= 0; length--) {
      fs.truncateSync(scratch, length);
      assert.equal(scanWal(scratch).damage, undefined, `${length} bytes`);
    }
  });

  it('never reports a last transaction of which any part did not reach the disk', () => {
    const start = 32 + ((commits[4] as number) + 1) * frameBytes;
    const sector = fc.record({
      at: fc.integer({ min: Math.floor(start / 256), max: Math.floor(wal.length / 256) }),
      garbage: fc.uint8Array({ minLength: 256, maxLength: 256 }),
    });
    const property = fc.property(fc.array(sector, { minLength: 1, maxLength: 12 }), (sectors) => {
      const bytes = Buffer.from(wal);
      for (const { at, garbage } of sectors) bytes.set(garbage, Math.min(Math.max(start, at * 256), wal.length - 256));
      assert.equal(scan(bytes).damage, undefined);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('is not misled by frames of an earlier round of the log', () => {
    const path = join(folder, 'rounds.db');
    const db = openDatabase(path);
    db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY, x BLOB)');
    for (let n = 1; n <= 20; n++) insert(db, n, 400);
    db.exec('PRAGMA wal_checkpoint(RESTART)');
    insert(db, 21, 20);
    insert(db, 22, 20);
    insert(db, 23, 20);
    const bytes = fs.readFileSync(`${path}-wal`);
    db.close();
    const found = scan(bytes);
    assert.equal(found.damage, undefined);
    assert.ok(found.frames > 0 && found.frames < (bytes.length - 32) / frameBytes / 2);
    assert.equal(scan(flipped(bytes, bytes.length - 100, 0xff)).damage, undefined, 'in what is left over');
    assert.ok(scan(flipped(bytes, 32 + 100, 0xff)).damage, 'in the first transaction of this round');
    const lastFrame = 32 + (found.frames - 1) * frameBytes;
    assert.equal(scan(flipped(bytes, lastFrame + 100, 0xff)).damage, undefined, 'in the last of this round');
  });

  it('is not misled by what a rolled-back transaction spilled', () => {
    const path = join(folder, 'spilled.db');
    const db = openDatabase(path);
    db.exec('PRAGMA cache_size = 5; CREATE TABLE t (n INTEGER PRIMARY KEY, x BLOB)');
    insert(db, 1, 20);
    db.exec('BEGIN');
    for (let n = 2; n <= 60; n++) insert(db, n, 1_000);
    db.exec('ROLLBACK');
    insert(db, 2, 20);
    const bytes = fs.readFileSync(`${path}-wal`);
    db.close();
    const found = scan(bytes);
    assert.equal(found.damage, undefined);
    assert.ok((bytes.length - 32) / frameBytes > found.frames + 20, 'something was spilled');
    const lastCommit = 32 + (found.committedFrames - 1) * frameBytes;
    for (let at = lastCommit; at < lastCommit + frameBytes; at++) {
      assert.equal(scan(flipped(bytes, at, 0xff)).damage, undefined, `byte ${at - lastCommit} of the torn commit`);
    }
  });

  it('finds the log of a killed process in order', async () => {
    const path = join(folder, 'killed.db');
    const script = `
      import { DatabaseSync } from 'node:sqlite';
      const db = new DatabaseSync(${JSON.stringify(path)});
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (n INTEGER PRIMARY KEY, x BLOB)');
      const insert = db.prepare('INSERT INTO t (x) VALUES (?)');
      for (let n = 0; ; n++) { insert.run(Buffer.alloc(n % 50000)); if (n === 30) console.log('on the way'); }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const found = scanWal(`${path}-wal`);
    assert.equal(found.damage, undefined);
    assert.ok(found.committedFrames > 0);
  });

  it('takes any bytes', () => {
    const random = fc.uint8Array({ maxLength: 3_000 });
    fc.assert(
      fc.property(random, (bytes) => assert.equal(scan(bytes).damage, undefined)),
      { numRuns: 100 },
    );
  });
});

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA page_size = ${pageSize}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
  db.exec('PRAGMA wal_autocheckpoint = 0');
  return db;
}

function insert(db: DatabaseSync, n: number, bytes: number): void {
  db.prepare('INSERT INTO t (n, x) VALUES (?, ?)').run(n, Buffer.alloc(bytes, n));
}

function commitFrames(wal: Buffer): number[] {
  const found: number[] = [];
  for (let at = 32, frame = 0; at < wal.length; at += frameBytes, frame++) {
    if (wal.readUInt32BE(at + 4) !== 0) found.push(frame);
  }
  return found;
}

function flipped(bytes: Buffer, at: number, mask: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] as number) ^ mask;
  return copy;
}

function recoveredRows(folder: string, database: Buffer, wal: Buffer): number {
  const path = join(folder, 'recovered.db');
  fs.rmSync(`${path}-shm`, { force: true });
  fs.writeFileSync(path, database);
  fs.writeFileSync(`${path}-wal`, wal);
  const db = new DatabaseSync(path);
  try {
    return (db.prepare('SELECT count(*) AS n FROM t').get() as { n: number }).n;
  } finally {
    db.close();
  }
}
