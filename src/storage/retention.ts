import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from './statements.ts';

export interface RetentionLimits {
  /** Messages sent before this time may go; 0 keeps all. */
  olderThan: number;
  /** Above this size the oldest go first; 0 for no bound. */
  maxBytes: number;
}

const chunk = 500;

/**
 * Deletes at most one chunk of the oldest messages. Unread mail and pending requests always stay, whatever their age.
 * True when another chunk may be waiting.
 */
export function deleteOld(db: DatabaseSync, sql: Statements, limits: RetentionLimits, usedBytes: number): boolean {
  const tooBig = limits.maxBytes > 0 && usedBytes > limits.maxBytes;
  if (!tooBig && limits.olderThan <= 0) return false;
  const rows = sql.all(
    `SELECT seq FROM messages m
     WHERE (? OR sent_at < ?)
       AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.seq = m.seq AND d.phase = 0)
       AND NOT EXISTS (SELECT 1 FROM remote_tasks t WHERE t.seq = m.seq AND t.stage <> 'over')
       AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.seq = m.seq AND r.state = 'pending')
       AND seq <= (SELECT CAST(coalesce((SELECT value FROM meta WHERE key = 'indexed_seq'), '0') AS INTEGER))
     ORDER BY seq LIMIT ?`,
    tooBig ? 1 : 0,
    limits.olderThan,
    chunk,
  );
  if (rows.length === 0) return false;
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const row of rows) {
      const seq = row['seq'] as number;
      for (const table of ['receipts', 'deliveries', 'requests', 'remote_tasks', 'expiries', 'messages']) {
        sql.run(`DELETE FROM ${table} WHERE seq = ?`, seq);
      }
      sql.run('DELETE FROM search WHERE rowid = ?', seq);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
  db.exec('PRAGMA incremental_vacuum(2000)');
  return rows.length === chunk;
}
