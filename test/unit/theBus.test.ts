/** The bus itself on its roster: also in a database of before, and beside an agent that has its name. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { Bus } from '../../src/core/bus.ts';
import { defaultTunables } from '../../src/core/limits.ts';
import { repairDatabase } from '../../src/storage/repair.ts';
import { applicationId, migrations } from '../../src/storage/schema.ts';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import { tempFolder } from '../support/tempFolder.ts';

/** As the first version made it, with the person and an agent of this name. */
function oldDatabase(t: TestContext, name: string): string {
  const path = join(tempFolder(t), 'bus.db');
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA application_id = ${applicationId}; ${migrations[0] ?? ''}; PRAGMA user_version = 1`);
  const insert = db.prepare('INSERT INTO agents (name, kind, created, last_seen) VALUES (?, ?, 1, 1)');
  insert.run('person', 'person');
  insert.run(name, 'agent');
  db.close();
  return path;
}

async function open(t: TestContext, path: string): Promise<{ bus: Bus; store: SqliteStore }> {
  const store = new SqliteStore(path);
  t.after(() => store.close());
  const bus = new Bus(store, { now: Date.now }, defaultTunables);
  await bus.load();
  return { bus, store };
}

test('an old database gets the bus itself, once', async (t) => {
  const path = oldDatabase(t, 'ann');
  const first = await open(t, path);
  assert.deepEqual([first.bus.roster.bus.name, first.bus.roster.bus.kind], ['agent-bus', 'bus']);
  assert.deepEqual(
    first.bus.roster.all().map(({ name }) => name),
    ['person', 'ann'],
  );
  assert.equal(first.store.counts().agents, 2);
  first.store.close();
  const again = await open(t, path);
  assert.equal(again.bus.roster.bus.id, first.bus.roster.bus.id);
});

test('an agent that has the name keeps it', async (t) => {
  const { bus } = await open(t, oldDatabase(t, 'agent-bus'));
  assert.equal(bus.roster.bus.name, 'agent-bus-2');
  assert.equal(bus.roster.require('agent-bus').kind, 'agent');
  const ann = await bus.roster.create({ name: 'ann' });
  const caller = { agent: ann.id, via: 'rpc' } as const;
  const sent = await bus.send(caller, { to: ['agent-bus'], text: 'hello' }, 0, { signal: AbortSignal.timeout(1000) });
  assert.deepEqual(sent.to, ['agent-bus']);
  await assert.rejects(
    bus.send(caller, { to: ['agent-bus-2'], text: 'hello' }, 0, { signal: AbortSignal.timeout(1000) }),
  );
});

test('an old database is repaired as a whole', (t) => {
  const path = oldDatabase(t, 'ann');
  assert.deepEqual(repairDatabase(path, 'now', false).incomplete, []);
});

test('what a killed hub left undone with an agent that has gone is done at the next start', async (t) => {
  const path = oldDatabase(t, 'bob');
  const { bus, store } = await open(t, path);
  const ann = await bus.roster.create({ name: 'ann' });
  const bob = bus.roster.require('bob');
  const call = { signal: AbortSignal.timeout(60_000) };
  const caller = { agent: ann.id, via: 'rpc' } as const;
  await bus.send(caller, { to: ['bob'], text: 'there?', kind: 'request' }, 0, call);
  await bus.roster.remove(bob);
  store.close();
  const next = await open(t, path);
  const page = next.bus.reading.inbox(caller, { filter: 'new', limit: 10, budget: 10_000 });
  assert.match(page.messages[0]?.text ?? '', /has failed\.\nReason given: "the agent left the bus"/);
  assert.equal(page.messages.length, 1);
});
