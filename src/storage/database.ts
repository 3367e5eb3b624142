import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BusError } from '../core/errors.ts';
import { applicationId, migrations } from './schema.ts';

/**
 * Opens the database for writing. Throws `database-newer` for a file that a later version wrote and
 * `database-damaged` for one that is not (or no longer) ours; it never answers either with an empty database.
 */
export function openDatabase(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    lookFirst(path);
    db = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: false });
    if (assertOurs(db) === 'empty') {
      // Both take effect only now. Small pages: a message changes a few bytes on each of seven, and whole pages are synced.
      db.exec('PRAGMA page_size = 2048');
      // Lets retention give space back.
      db.exec('PRAGMA auto_vacuum = INCREMENTAL');
    }
    db.exec('PRAGMA journal_mode = WAL');
    // FULL syncs the log at every commit: what was acknowledged survives a power cut, not just a crash.
    db.exec('PRAGMA synchronous = FULL');
    db.exec('PRAGMA wal_autocheckpoint = 1000');
    db.exec('PRAGMA journal_size_limit = 67108864');
    db.exec('PRAGMA cache_size = -65536');
    db.exec('PRAGMA temp_store = MEMORY');
    migrate(db);
    return db;
  } catch (error) {
    db?.close();
    throw asStorageError(error, path);
  }
}

/** A file that is not for us stays as it is, to the byte: even closing a writer would play its log into it. */
function lookFirst(path: string): void {
  if (!existsSync(path)) return;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    assertOurs(db);
  } finally {
    db.close();
  }
}

function assertOurs(db: DatabaseSync): 'empty' | 'ours' {
  const tables = (db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }).n;
  if (tables === 0) return 'empty';
  if (pragmaNumber(db, 'application_id') !== applicationId) {
    throw new BusError(
      'database-damaged',
      'The database file does not belong to Agent Bus, or its header is damaged.',
      {
        next: 'The file was left untouched. Move it away, or run `agent-bus repair` to copy out what can be read.',
      },
    );
  }
  const version = pragmaNumber(db, 'user_version');
  if (version > migrations.length) {
    throw new BusError(
      'database-newer',
      `The database was written by a newer Agent Bus (schema ${version}; this one knows ${migrations.length}).`,
      { next: 'Update this installation of Agent Bus; the database was not touched.' },
    );
  }
  return 'ours';
}

function migrate(db: DatabaseSync): void {
  const version = pragmaNumber(db, 'user_version');
  for (let next = version; next < migrations.length; next++) {
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec(`PRAGMA application_id = ${applicationId}`);
      db.exec(migrations[next] ?? '');
      db.exec(`PRAGMA user_version = ${next + 1}`);
      db.exec('COMMIT');
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  }
}

export function pragmaNumber(db: DatabaseSync, name: string): number {
  const row = db.prepare(`PRAGMA ${name}`).get() as Record<string, number> | undefined;
  return row ? Number(Object.values(row)[0]) : 0;
}

/** SQLite's own result codes, as the errors of the bus. */
export function asStorageError(error: unknown, path: string): unknown {
  if (error instanceof BusError) return error;
  const code = (error as { errcode?: number }).errcode;
  if (code === undefined) return error;
  const detail = (error as Error).message;
  switch (code & 0xff) {
    case 13: // SQLITE_FULL
      return new BusError('disk-full', 'The disk is full; nothing was stored.', {
        next: 'Free some space; reading still works, and sending works again as soon as there is room.',
        cause: error,
      });
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return new BusError('database-damaged', `The database ${path} is damaged (${detail}).`, {
        next: 'Nothing was deleted. Run `agent-bus repair`: it keeps the damaged file and copies out all that can be read.',
        cause: error,
      });
    case 10: // SQLITE_IOERR
    case 8: // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
      return new BusError(
        'disk-failed',
        `The disk refused the database (${detail}); what was being stored may or may not be there.`,
        {
          next: 'Check the disk and the permissions of the data folder, then `agent-bus stop` and start again; repeat with the same key.',
          cause: error,
        },
      );
    default:
      return error;
  }
}
