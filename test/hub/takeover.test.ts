import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { openDatabase } from '../../src/storage/database.ts';
import { migrations } from '../../src/storage/schema.ts';
import { AgentLog, check, storedMessages } from '../support/checker.ts';
import { bundleVersion, HubBundle } from '../support/hubBundle.ts';
import { HubProcess, hubsOf, pause, StartFailed, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

let newer: HubBundle;
before(() => {
  newer = new HubBundle('9.9.9');
});
after(() => newer.dispose());

describe('a newer version', () => {
  test('takes over: waiting calls end in order, everybody comes back, nothing is lost', async () => {
    const hub = await HubProcess.start();
    try {
      const older = { start: true, reconnect: true, version: bundleVersion };
      const clients = await hub.agents(['old-1', 'old-2', 'old-3', 'old-4', 'waiter'], older);
      const waiter = clients[4];
      const mcp = new McpCaller(() => hub.record.mcpUrl, await hub.mint('mcp'));
      const overTcp = waiter.call('inbox', { wait_seconds: 45, kind: 'reply' });
      const overHttp = mcp.call('inbox', { wait_seconds: 45, kind: 'reply' });
      await until('both wait', async () => (await hub.status()).connections.waitingCalls === 2);
      const logs = clients.slice(0, 4).map((client) => new AgentLog(client.agent));
      let busy = true;
      const load = logs.map(async (log, i) => {
        while (busy) {
          const entry = log.invoke(['waiter']);
          log.end(entry, 'ok', (await clients[i]!.call('send', { to: 'waiter', text: entry.text })).data.id);
        }
      });
      const loaded = Promise.all(load);
      // Should something else fail first, that is what is to be told.
      loaded.catch(() => undefined);
      await pause(200);

      const old = hub.record.pid;
      const next = await hub.client({ start: true, version: newer.version, hubScript: newer.script });
      assert.equal(next.hub?.version, '9.9.9');
      assert.notEqual(next.hub.pid, old);
      assert.equal((await overHttp).structured['waited'], true);
      // This one may have waited on with the new hub; a message ends it.
      await next.request('mint', { name: 'newcomer' });
      const newcomer = await hub.client({ as: 'newcomer' });
      const question = (await waiter.call('send', { to: 'newcomer', text: 'still there?', kind: 'request' })).data.id;
      await newcomer.call('send', { reply_to: question, text: 'yes' });
      assert.ok((await overTcp).data.messages.every(({ kind }) => kind === 'reply'));
      await pause(200);
      busy = false;
      await loaded;
      for (const client of clients) {
        await client.call('agents', {});
        assert.equal(client.hub?.pid, next.hub.pid, `${client.agent} is elsewhere`);
      }
      await until('one hub is left', () => hubsOf(hub.home.folder).length === 1);
      await next.request('stop', { reason: 'stop' });
      for (const client of [...clients, next, newcomer]) hub.close(client);
      await until('no hub is left', () => hubsOf(hub.home.folder).length === 0);
      const stored = storedMessages(hub.home.database).filter(
        ({ recipients }) => recipients[0]?.agent === 'waiter' && recipients.length === 1,
      );
      assert.deepEqual(
        check(
          logs,
          stored.filter(({ sender }) => sender.startsWith('old')),
        ),
        [],
      );
      assert.ok(logs.every((log) => log.sends.length > 10));
    } finally {
      await hub.dispose();
    }
  });

  test('is left alone by older clients, and does not start itself for one that must not start hubs', async () => {
    const hub = await HubProcess.start();
    try {
      const lookingOn = await hub.client({ start: false, version: newer.version });
      assert.equal(lookingOn.hub?.version, bundleVersion);
      await hub.kill();
      const record = await hub.start(newer.script);
      const older = await hub.client({ start: true, version: bundleVersion });
      assert.equal(older.hub?.pid, record.pid);
      assert.equal(older.hub.version, '9.9.9');
      assert.equal((await older.request('status', {})).version, '9.9.9');
    } finally {
      await hub.dispose();
    }
  });

  test('and 10 more of it at once take over once', async () => {
    const hub = await HubProcess.start();
    try {
      const crowd = await Promise.all(
        Array.from({ length: 10 }, () => hub.client({ start: true, version: newer.version, hubScript: newer.script })),
      );
      const pids = new Set(crowd.map((client) => client.hub?.pid));
      assert.equal(pids.size, 1);
      for (const client of crowd) assert.equal(client.hub?.version, '9.9.9');
    } finally {
      await hub.dispose();
    }
  });
});

describe('an older hub and a newer database', () => {
  const raise = (path: string): void => {
    const db = new DatabaseSync(path);
    db.exec('CREATE TABLE of_the_future (x); PRAGMA user_version = 9');
    db.close();
  };

  async function refused(hub: HubProcess): Promise<void> {
    const files = ['', '-wal'].map((suffix) => hub.home.database + suffix).filter((path) => fs.existsSync(path));
    const before = files.map((path) => fs.readFileSync(path));
    await assert.rejects(hub.start(), (error) => {
      assert.ok(error instanceof StartFailed);
      assert.equal(error.exitCode, 1);
      assert.equal(error.failure?.code, 'database-newer');
      assert.match(error.failure.next, /Update this installation/);
      return true;
    });
    // Whoever wants the hub is told the same.
    await assert.rejects(hub.client({ start: true }), { code: 'database-newer' });
    for (const [i, path] of files.entries()) assert.ok(fs.readFileSync(path).equals(before[i]!), `${path} was changed`);
    assert.equal(fs.existsSync(hub.home.record), false);
  }

  test('refuses it with advice and does not touch it', async () => {
    const hub = await HubProcess.start();
    try {
      await hub.mint('ann');
      await (await hub.client()).call('send', { to: 'ann', text: 'kept' });
      await hub.stop();
      raise(hub.home.database);
      await refused(hub);
      assert.equal(storedMessages(hub.home.database).length, 1);
    } finally {
      await hub.dispose();
    }
  });

  test('not even if it was left in a hurry', async () => {
    const hub = await HubProcess.start();
    try {
      await hub.mint('ann');
      await (await hub.client()).call('send', { to: 'ann', text: 'kept' });
      // What the newer version did last is only in the log: as if it had been killed.
      const keeper = new DatabaseSync(hub.home.database);
      await hub.stop();
      const writer = new DatabaseSync(hub.home.database);
      writer.exec(
        'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE of_the_future (x); PRAGMA user_version = 9',
      );
      const copies = ['', '-wal'].map(
        (suffix) => [hub.home.database + suffix, fs.readFileSync(hub.home.database + suffix)] as const,
      );
      writer.close();
      keeper.close();
      for (const suffix of ['', '-wal', '-shm']) fs.rmSync(hub.home.database + suffix, { force: true });
      for (const [path, content] of copies) fs.writeFileSync(path, content, { mode: 0o600 });
      fs.rmSync(hub.home.record, { force: true });
      await refused(hub);
    } finally {
      await hub.dispose();
    }
  });
});

describe('an interrupted migration', () => {
  const schema = new URL('../../src/storage/schema.ts', import.meta.url).href;
  const database = new URL('../../src/storage/database.ts', import.meta.url).href;
  // Two more steps, slow enough to be killed in.
  const upgrade = `
    import { migrations } from ${JSON.stringify(schema)};
    import { openDatabase } from ${JSON.stringify(database)};
    const count = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)';
    for (const table of ['second', 'third']) {
      migrations.push('CREATE TABLE ' + table + ' (i INTEGER PRIMARY KEY, t TEXT); ' + count + ' INSERT INTO ' + table +
        " SELECT i, hex(randomblob(40)) FROM n; ALTER TABLE agents ADD COLUMN of_" + table + ' TEXT; CREATE INDEX by_' + table + ' ON ' + table + '(t);');
    }
    console.log('begin');
    openDatabase(process.argv[1]).close();`;

  /** Runs the upgrade; killed so long after it has begun, or not at all. */
  async function migrate(path: string, killAfterMs?: number): Promise<void> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', upgrade, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    if (killAfterMs !== undefined) {
      await pause(killAfterMs);
      child.kill('SIGKILL');
    }
    const [code] = (await exited) as [number | null];
    if (killAfterMs === undefined) assert.equal(code, 0);
  }

  /** The version that the file claims, after making sure that it has all of it and nothing more. */
  function versionOf(path: string): number {
    const db = new DatabaseSync(path);
    try {
      const version = db.prepare('PRAGMA user_version').get()?.['user_version'] as number;
      const names = db
        .prepare('SELECT name FROM sqlite_schema')
        .all()
        .map((row) => row['name']);
      const columns = db
        .prepare('PRAGMA table_info(agents)')
        .all()
        .map((row) => row['name']);
      for (const [step, table] of [
        [migrations.length + 1, 'second'],
        [migrations.length + 2, 'third'],
      ] as const) {
        const there = version >= step;
        assert.equal(names.includes(table), there);
        assert.equal(names.includes(`by_${table}`), there);
        assert.equal(columns.includes(`of_${table}`), there);
        if (there) assert.equal(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'], 60_000);
      }
      assert.ok(names.includes('messages'));
      assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
      return version;
    } finally {
      db.close();
    }
  }

  test('leaves the old schema or the new one, never something between', async () => {
    const random = seededRandom(testSeed());
    const folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-migration-'));
    const seen = new Set<number>();
    try {
      for (let round = 0; round < 15; round++) {
        const path = join(folder, `${round}.db`);
        openDatabase(path).close();
        for (let kills = 0; kills < 2; kills++) {
          await migrate(path, random() * 400);
          seen.add(versionOf(path));
        }
        await migrate(path);
        assert.equal(versionOf(path), migrations.length + 2);
      }
      console.log(`killed at versions ${[...seen].sort().join(', ')}`);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  test('the very first start, killed at any moment, leaves nothing or everything', async () => {
    const random = seededRandom(testSeed());
    for (let round = 0; round < 12; round++) {
      const hub = new HubProcess();
      try {
        hub.spawn();
        await pause(60 + random() * 250);
        await hub.kill();
        if (fs.existsSync(hub.home.database) && fs.statSync(hub.home.database).size > 0) {
          const db = new DatabaseSync(hub.home.database);
          const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
          const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'messages'").get()?.['n'];
          db.close();
          // Each step of the schema is there as a whole, and the first of them has the messages.
          assert.equal(version > 0, tables === 1);
        }
        await hub.start();
        await hub.mint('ann');
      } finally {
        await hub.dispose();
      }
    }
  });
});
