import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BusError } from '../core/errors.ts';
import { openDatabase, pragmaNumber } from './database.ts';
import { findDamage } from './integrity.ts';

/** Parents before children, each with the columns that order it, and since which schema. The search index is built anew. */
const tables: readonly [name: string, order: string, since?: number][] = [
  ['agents', 'id'],
  ['aliases', 'name'],
  ['tokens', 'hash'],
  ['conversations', 'id'],
  ['members', 'agent, conversation'],
  ['messages', 'seq'],
  ['deliveries', 'seq, agent'],
  ['receipts', 'id'],
  ['requests', 'seq'],
  ['expiries', 'at, seq'],
  ['remotes', 'agent'],
  ['remote_tasks', 'seq'],
  ['remote_contexts', 'conversation, agent'],
  ['chats', 'id'],
  ['consents', 'sender, recipient'],
  ['tells', 'id', 2],
];

export interface RepairReport {
  /** Where the damaged files are kept. */
  kept: string;
  rows: Record<string, number>;
  /** Tables of which a part could not be read. */
  incomplete: string[];
}

const suffixes = ['', '-wal', '-shm'];

/**
 * Copies all that can be read into a new database, which then takes the place of the damaged one. The damaged files are
 * kept. Until the very last step the hub refuses to start, so an interrupted repair can't be taken for a database.
 */
export function repairDatabase(path: string, stamp: string, startEmpty: boolean): RepairReport {
  const earlier = interrupted(path);
  const kept = earlier ?? `${path}.damaged-${stamp}`;
  if (!earlier) {
    if (!existsSync(path) && !startEmpty) {
      throw new BusError('bad-data', `There is no database at ${path}.`, {
        next: 'Put a backup made by `agent-bus export` there, or run `agent-bus repair --start-empty`.',
      });
    }
    mkdirSync(`${kept}.unfinished`, { mode: 0o700 });
    for (const suffix of suffixes) copyIfThere(path + suffix, join(`${kept}.unfinished`, basename(path) + suffix));
  }
  const fresh = `${path}.new`;
  for (const suffix of suffixes) rmSync(fresh + suffix, { force: true });
  const report = startEmpty ? emptyReport(kept) : salvage(join(`${kept}.unfinished`, basename(path)), fresh, kept);
  if (startEmpty) openDatabase(fresh).close();
  // The old log goes before the new file comes: SQLite would play it into the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  renameSync(fresh, path);
  renameSync(`${kept}.unfinished`, kept);
  return report;
}

/** A repair that did not get to its end, by where it keeps the damaged files. */
export function interrupted(path: string): string | undefined {
  const folder = join(path, '..');
  const name = readdirSync(folder).find(
    (entry) => entry.startsWith(`${basename(path)}.damaged-`) && entry.endsWith('.unfinished'),
  );
  return name && join(folder, name.slice(0, -'.unfinished'.length));
}

function salvage(source: string, target: string, kept: string): RepairReport {
  // A copy of the copy: opening plays the log into it, and the kept files must stay as they were.
  const scratch = `${target}.scratch`;
  for (const suffix of suffixes) {
    rmSync(scratch + suffix, { force: true });
    copyIfThere(source + suffix, scratch + suffix);
  }
  rmSync(`${scratch}-shm`, { force: true });
  const report: RepairReport = { kept, rows: {}, incomplete: [] };
  const to = openDatabase(target);
  let from: DatabaseSync | undefined;
  try {
    from = new DatabaseSync(scratch);
    const readable = from;
    to.exec('BEGIN');
    const version = pragmaNumber(readable, 'user_version');
    for (const [table, order, since = 1] of tables) if (version >= since) copyTable(readable, to, table, order, report);
    dropOrphans(to);
    keepCounters(readable, to);
    to.exec('COMMIT');
    const problems = findDamage(to);
    if (problems.length > 0) throw new Error(problems.join('; '));
  } catch (error) {
    throw new BusError('database-damaged', `Nothing could be read from the database (${(error as Error).message}).`, {
      next: `The files are kept in ${kept}.unfinished. Put a backup made by \`agent-bus export\` in its place, or run \`agent-bus repair --start-empty\`.`,
      cause: error,
    });
  } finally {
    from?.close();
    to.close();
    for (const suffix of suffixes) rmSync(scratch + suffix, { force: true });
  }
  return report;
}

/** From the front until something can't be read, then from the back until it can't: what is left out lies between. */
function copyTable(from: DatabaseSync, to: DatabaseSync, table: string, order: string, report: RepairReport): void {
  let copied = 0;
  const copyAll = (direction: 'ASC' | 'DESC'): boolean => {
    const sorted = order
      .split(', ')
      .map((column) => `${column} ${direction}`)
      .join(', ');
    let insert: ReturnType<DatabaseSync['prepare']> | undefined;
    try {
      for (const row of from.prepare(`SELECT * FROM ${table} ORDER BY ${sorted}`).iterate()) {
        const columns = Object.keys(row);
        insert ??= to.prepare(
          `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        );
        const { changes } = insert.run(...(Object.values(row) as (string | number | null)[]));
        if (Number(changes) === 0 && direction === 'DESC') return true;
        copied += Number(changes);
      }
      return true;
    } catch {
      return false;
    }
  };
  if (!copyAll('ASC')) {
    report.incomplete.push(table);
    copyAll('DESC');
  }
  if (copied === 0 && report.incomplete.includes('agents')) throw new Error(`${table} can’t be read`);
  report.rows[table] = copied;
}

function dropOrphans(db: DatabaseSync): void {
  db.exec(`
    DELETE FROM messages WHERE sender NOT IN (SELECT id FROM agents) OR conversation NOT IN (SELECT id FROM conversations);
    DELETE FROM deliveries WHERE seq NOT IN (SELECT seq FROM messages) OR agent NOT IN (SELECT id FROM agents);
    DELETE FROM receipts WHERE seq NOT IN (SELECT seq FROM messages) OR agent NOT IN (SELECT id FROM agents);
    DELETE FROM requests WHERE seq NOT IN (SELECT seq FROM messages);
    DELETE FROM expiries WHERE seq NOT IN (SELECT seq FROM messages);
    DELETE FROM members WHERE agent NOT IN (SELECT id FROM agents) OR conversation NOT IN (SELECT id FROM conversations);
    DELETE FROM aliases WHERE agent NOT IN (SELECT id FROM agents);
    DELETE FROM tokens WHERE agent NOT IN (SELECT id FROM agents);
    DELETE FROM chats WHERE agent NOT IN (SELECT id FROM agents);
    DELETE FROM tells WHERE agent NOT IN (SELECT id FROM agents)
      OR (what = 'idle' AND about NOT IN (SELECT id FROM agents))
      OR (what = 'ended' AND about NOT IN (SELECT seq FROM requests WHERE state = 'pending'));
  `);
}

/** Order numbers are never used again, even if their messages could not be read; a pause stays a pause. The epoch is new: cursors start over. */
function keepCounters(from: DatabaseSync, to: DatabaseSync): void {
  for (const key of ['last_seq', 'last_receipt', 'paused']) {
    let value: unknown;
    try {
      value = from.prepare('SELECT value FROM meta WHERE key = ?').get(key)?.['value'];
    } catch {
      continue;
    }
    if (typeof value === 'string') to.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(key, value);
  }
}

function emptyReport(kept: string): RepairReport {
  return { kept, rows: {}, incomplete: tables.map(([name]) => name) };
}

function copyIfThere(from: string, to: string): void {
  if (existsSync(from)) copyFileSync(from, to);
}
