import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { loop, type Probe } from '../rounds.ts';
import { temporaryFolder } from '../support/processes.ts';
import { nextText } from '../support/texts.ts';

/** One row, one table, one commit that is synced. */
export function sqliteCommit(owned: AsyncDisposableStack): Probe {
  const db = new DatabaseSync(join(temporaryFolder('sqlite'), 'floor.db'));
  owned.defer(() => db.close());
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE messages (seq INTEGER PRIMARY KEY, text TEXT)',
  );
  const insert = db.prepare('INSERT INTO messages (text) VALUES (?)');
  return loop('floor_sqlite_commit', 1, () => {
    insert.run(nextText());
  });
}
