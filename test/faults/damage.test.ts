import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { InboxPage } from '../../src/core/reading.ts';
import { busHome } from '../../src/hub/home.ts';
import { storedMessages } from '../support/checker.ts';
import { HubProcess, pause, StartFailed, until } from '../support/hubProcess.ts';
import { Injection, withoutStrace } from '../support/strace.ts';

const count = 300;
let folder: string;

/** Copies of the same data, as a hub leaves it that was stopped, and as one leaves it that was killed. */
const sound = { stopped: '', killed: '' };

before(async () => {
  folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-damage-'));
  for (const end of ['stopped', 'killed'] as const) {
    sound[end] = join(folder, end);
    fs.mkdirSync(sound[end], { mode: 0o700 });
    const hub = await HubProcess.start({ folder: sound[end] });
    try {
      const [ann, bob] = await hub.agents(['ann', 'bob']);
      for (let i = 0; i < count; i++) await ann.call('send', { to: bob.agent, text: `${i} ${'text '.repeat(300)}` });
      if (end === 'stopped') {
        // The background check of the first start must not come in between.
        await until('the first check is done', async () => (await hub.status()).health === 'ok');
        await pause(100);
        await hub.stop();
      } else await hub.kill();
    } finally {
      await hub.dispose();
    }
    fs.rmSync(busHome({ AGENT_BUS_HOME: sound[end] }).record, { force: true });
  }
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

async function withCopy(end: 'stopped' | 'killed', work: (hub: HubProcess) => Promise<void>): Promise<void> {
  const hub = new HubProcess();
  try {
    fs.cpSync(sound[end], hub.home.folder, { recursive: true });
    await work(hub);
  } finally {
    await hub.dispose();
  }
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = fs.openSync(path, 'r+');
  fs.writeSync(file, bytes, 0, bytes.length, at);
  fs.closeSync(file);
}

function flip(path: string, at: number, length = 1): void {
  const content = fs.readFileSync(path);
  overwrite(path, at, Buffer.from(content.subarray(at, at + length).map((byte) => byte ^ 0xff)));
}

const pageBytes = 2_048;

/** Where pages of a table or index are. */
function pagesOf(path: string, name: string, type: 'leaf' | 'internal'): number[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db
      .prepare('SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno')
      .all(name, type);
    const size = db.prepare('PRAGMA page_size').get()?.['page_size'];
    assert.equal(size, pageBytes, 'the offsets in this file are of pages of this size');
    return rows.map((row) => ((row['pageno'] as number) - 1) * pageBytes);
  } finally {
    db.close();
  }
}

/** It does not start, says why, what to do, and leaves the files as they were. */
async function assertRefused(hub: HubProcess): Promise<void> {
  const files = ['', '-wal'].map((suffix) => hub.home.database + suffix).filter((path) => fs.existsSync(path));
  const before = files.map((path) => fs.readFileSync(path));
  await assert.rejects(hub.start(), (error) => {
    assert.ok(error instanceof StartFailed, String(error));
    assert.equal(error.failure?.code, 'database-damaged');
    assert.match(error.failure.next, /agent-bus repair/);
    return true;
  });
  await assert.rejects(hub.client({ start: true }), { code: 'database-damaged' });
  for (const [i, path] of files.entries()) assert.ok(fs.readFileSync(path).equals(before[i]!), `${path} was changed`);
}

/** It may start, since nobody waits for the check, but then it says what is wrong and takes nothing more. */
async function assertNoticed(hub: HubProcess): Promise<void> {
  await hub.start();
  const client = await hub.client({ as: 'ann' });
  await until('the damage is noticed', async () => typeof (await hub.status()).health === 'object');
  const { health, messages } = await hub.status();
  assert.ok(typeof health === 'object');
  assert.equal(health.code, 'database-damaged');
  assert.match(health.next, /agent-bus repair/);
  assert.ok(messages > 0, 'it does not pretend to be empty');
  await assert.rejects(client.call('send', { to: 'bob', text: 'on top of it' }), { code: 'database-damaged' });
  await assert.rejects(client.call('channel', { action: 'create', name: 'new' }), { code: 'database-damaged' });
  assert.match(fs.readFileSync(hub.home.log, 'utf8'), /database-damaged/);
}

describe('bytes that changed in the database', () => {
  const header: Record<string, (path: string) => void> = {
    'its first bytes flipped': (path) => flip(path, 0, 16),
    'its page size flipped': (path) => flip(path, 16, 2),
    'its mark of ownership flipped': (path) => flip(path, 68, 4),
    'the root of its schema flipped': (path) => flip(path, 100, 8),
    'its first page zeroed': (path) => overwrite(path, 0, Buffer.alloc(pageBytes)),
    'all of it garbage': (path) => fs.writeFileSync(path, Buffer.alloc(100_000, 'garbage ')),
    'cut off in the middle': (path) => fs.truncateSync(path, Math.floor(fs.statSync(path).size / 2)),
    'cut off in the first page': (path) => fs.truncateSync(path, 1_000),
    'cut off to nothing': (path) => fs.truncateSync(path, 0),
    gone: (path) => fs.rmSync(path),
  };

  for (const [what, harm] of Object.entries(header)) {
    test(`${what}: refused, kept`, () =>
      withCopy('stopped', async (hub) => {
        harm(hub.home.database);
        await assertRefused(hub);
      }));
  }

  test('emptied or gone while its log is still there: refused, and the log is kept', async () => {
    for (const harm of [(path: string) => fs.truncateSync(path, 0), (path: string) => fs.rmSync(path)]) {
      await withCopy('killed', async (hub) => {
        assert.ok(fs.statSync(`${hub.home.database}-wal`).size > 0);
        harm(hub.home.database);
        await assertRefused(hub);
      });
    }
  });

  const body: Record<string, (path: string) => void> = {
    'a page of messages zeroed': (path) =>
      overwrite(path, pagesOf(path, 'messages', 'leaf')[5] ?? 0, Buffer.alloc(pageBytes)),
    'the kind of a page flipped': (path) => flip(path, pagesOf(path, 'messages', 'leaf')[6] ?? 0),
    'the pointers of an inner page flipped': (path) =>
      flip(path, (pagesOf(path, 'messages', 'internal')[0] ?? 0) + 12, 40),
    'a page of an index flipped': (path) => flip(path, pagesOf(path, 'deliveries_by_agent', 'leaf')[0] ?? 0, 64),
    'torn: a stretch of it from another time': (path) =>
      overwrite(path, pagesOf(path, 'messages', 'leaf')[10] ?? 0, Buffer.alloc(20 * pageBytes, 7)),
  };

  for (const [what, harm] of Object.entries(body)) {
    test(`${what}, after an unclean end: the check in the background stops the hub`, () =>
      withCopy('stopped', async (hub) => {
        harm(hub.home.database);
        // A log with one frame that nobody committed, as a kill leaves it.
        const wal = fs.readFileSync(`${busHome({ AGENT_BUS_HOME: sound.killed }).database}-wal`).subarray(0, 33);
        fs.writeFileSync(`${hub.home.database}-wal`, wal, { mode: 0o600 });
        await assertNoticed(hub);
      }));
  }

  test('a page of messages zeroed, after a clean end: whoever comes across it is told, and nothing more is taken', () =>
    withCopy('stopped', async (hub) => {
      const pages = pagesOf(hub.home.database, 'messages', 'leaf');
      for (const page of pages.slice(10, 20)) overwrite(hub.home.database, page, Buffer.alloc(pageBytes));
      await hub.start();
      const bob = await hub.client({ as: 'bob' });
      await assert.rejects(
        async () => {
          for (let cursor: string | undefined = 'm0'; cursor !== undefined;) {
            cursor = (await bob.call('inbox', { cursor, limit: 100 })).data.next;
          }
        },
        { code: 'database-damaged' },
      );
      const { health } = await hub.status();
      assert.equal(typeof health === 'object' && health.code, 'database-damaged');
      await assert.rejects(bob.call('send', { to: 'ann', text: 'x' }), { code: 'database-damaged' });
    }));
});

describe('bytes that changed in its log', () => {
  test('the sound one is taken as it is', () =>
    withCopy('killed', async (hub) => {
      await hub.start();
      assert.equal((await hub.status()).messages, count);
    }));

  const harms: Record<string, (path: string, size: number) => void> = {
    'a bit in the middle': (path, size) => flip(path, Math.floor(size / 2)),
    'a page in the middle zeroed': (path, size) => overwrite(path, Math.floor(size / 2), Buffer.alloc(pageBytes)),
    'its header flipped': (path) => flip(path, 0, 32),
    'its salts flipped': (path) => flip(path, 16, 8),
    'the first frame': (path) => flip(path, 32 + 24 + 100, 10),
    'a tenth of it garbage': (path, size) =>
      overwrite(path, Math.floor(size / 3), Buffer.alloc(Math.floor(size / 10), 'x')),
  };

  for (const [what, harm] of Object.entries(harms)) {
    test(`${what}: refused, kept, not read as less`, () =>
      withCopy('killed', async (hub) => {
        const wal = `${hub.home.database}-wal`;
        harm(wal, fs.statSync(wal).size);
        await assertRefused(hub);
      }));
  }

  test('a torn end is what a crash leaves: all that was acknowledged before it is there', () =>
    withCopy('killed', async (hub) => {
      const wal = `${hub.home.database}-wal`;
      const size = fs.statSync(wal).size;
      fs.truncateSync(wal, size - 2_000);
      await hub.start();
      assert.ok((await hub.status()).messages >= count - 1);
    }));
});

describe('a full disk', () => {
  const mounted = mountable();

  test(
    'sending fails with a code, nothing is half written, reading works, and it heals',
    { skip: mounted },
    async () => {
      const place = fs.mkdtempSync(join(tmpdir(), 'agent-bus-full-'));
      assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', place]).status, 0);
      const data = join(place, 'data');
      fs.mkdirSync(data, { mode: 0o700 });
      const hub = await HubProcess.start({ folder: data });
      try {
        const [ann, bob] = await hub.agents(['ann', 'bob']);
        const acknowledged: string[] = [];
        const send = async (text: string): Promise<void> => {
          acknowledged.push((await ann.call('send', { to: 'bob', text })).data.id);
        };
        await send('while there is room');
        fs.writeFileSync(join(place, 'ballast'), Buffer.alloc(7 * 1_048_576));
        const big = 'x'.repeat(200_000);
        let failed = 0;
        for (let i = 0; i < 60 && failed < 5; i++) {
          await send(`${i} ${big}`).catch((error: { code?: string; next?: string }) => {
            assert.equal(error.code, 'disk-full', JSON.stringify(error));
            assert.match(error.next ?? '', /Free some space/);
            failed++;
          });
        }
        assert.equal(failed, 5, 'the disk never became full');
        const read = async (): Promise<string[]> => {
          const ids: string[] = [];
          let cursor: string | undefined = 'm0';
          while (cursor !== undefined) {
            const page: InboxPage = (await bob.call('inbox', { filter: 'all', limit: 100, cursor })).data;
            ids.push(...page.messages.map(({ id }) => id));
            cursor = page.next;
          }
          return ids;
        };
        assert.deepEqual(await read(), acknowledged);
        await assert.rejects(
          hub.mint('carl-is-new').then(() => send(big)),
          { code: 'disk-full' },
        );
        assert.equal((await hub.status()).health, 'ok', 'a full disk heals');
        fs.rmSync(join(place, 'ballast'));
        for (let i = 0; i < 10; i++) await send(`${i} again ${big}`);
        assert.deepEqual(await read(), acknowledged);
        await hub.kill();
        await hub.start();
        assert.equal((await hub.status()).messages, acknowledged.length);
        await hub.stop();
        assert.deepEqual(
          storedMessages(hub.home.database).map(({ id }) => id),
          acknowledged,
        );
      } finally {
        await hub.dispose();
        spawnSync('umount', ['-l', place]);
        fs.rmSync(place, { recursive: true, force: true });
      }
    },
  );
});

describe('a disk that fails', () => {
  test('at a sync: nothing is acknowledged from then on, and the hub says so', { skip: withoutStrace() }, async () => {
    const hub = await HubProcess.start();
    let injection: Injection | undefined;
    try {
      const [ann, bob] = await hub.agents(['ann', 'bob']);
      const acknowledged: string[] = [];
      for (let i = 0; i < 10; i++)
        acknowledged.push((await ann.call('send', { to: 'bob', text: `sound ${i}` })).data.id);
      injection = await Injection.into(hub.record.pid, 'fdatasync,fsync', 'error=EIO');
      await assert.rejects(ann.call('send', { to: 'bob', text: 'on a bad disk' }), { code: 'disk-failed' });
      await injection.stop();
      // The disk answers again, but what it has lost in between nobody knows.
      await assert.rejects(ann.call('send', { to: 'bob', text: 'later' }), { code: 'disk-failed' });
      await assert.rejects(bob.call('ack', { ids: [acknowledged[0] ?? ''] }), { code: 'disk-failed' });
      const { health } = await hub.status();
      assert.equal(typeof health === 'object' && health.code, 'disk-failed');
      assert.deepEqual(
        (await bob.call('inbox', {})).data.messages.slice(0, 10).map(({ id }) => id),
        acknowledged,
      );
      await hub.kill();
      await hub.start();
      const again = await hub.client({ as: 'bob' });
      const { messages } = (await again.call('inbox', {})).data;
      assert.deepEqual(
        messages.slice(0, 10).map(({ id }) => id),
        acknowledged,
      );
      assert.ok(messages.length <= 11 && messages.every(({ text }) => text !== 'later'));
    } finally {
      await injection?.stop();
      await hub.dispose();
    }
  });
});

function mountable(): string | false {
  if (process.getuid?.() !== 0) return 'mounting a small disk needs root';
  const place = fs.mkdtempSync(join(tmpdir(), 'agent-bus-mount-'));
  const done = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]).status === 0;
  if (done) spawnSync('umount', [place]);
  fs.rmSync(place, { recursive: true, force: true });
  return done ? false : 'no small disk can be mounted here';
}
