import type { DatabaseSync } from 'node:sqlite';

/** What is wrong with a database, in SQLite's words; nothing if it is sound. */
export function findDamage(db: DatabaseSync): string[] {
  try {
    const rows = db.prepare('PRAGMA quick_check(20)').all();
    return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== 'ok');
  } catch (error) {
    return [(error as Error).message];
  }
}
