import type { DatabaseSync } from 'node:sqlite';
import type { SearchQuery } from '../core/ports.ts';
import { Statements } from './statements.ts';

/**
 * Full-text search. Indexing costs more than storing, so it runs behind: in small steps while the hub is quiet, and for
 * whatever is left right before a search. `meta.indexed_seq` moves in the same transaction as the index itself.
 */
export class SearchIndex {
  private readonly db: DatabaseSync;
  readonly sql: Statements;
  private indexed: number;

  constructor(db: DatabaseSync) {
    this.db = db;
    this.sql = new Statements(db);
    this.indexed = Number(this.sql.get("SELECT value FROM meta WHERE key = 'indexed_seq'")?.['value'] ?? 0);
  }

  /** Indexes up to `limit` messages; true when there is more to do. */
  step(limit: number): boolean {
    const rows = this.sql.all(
      `SELECT m.seq, m.text, m.sender, m.conversation, a.kind AS writer FROM messages m JOIN agents a ON a.id = m.sender
       WHERE m.seq > ? ORDER BY m.seq LIMIT ?`,
      this.indexed,
      limit,
    );
    const last = rows.at(-1)?.['seq'] as number | undefined;
    if (last === undefined) return false;
    this.db.exec('BEGIN IMMEDIATE');
    try {
      for (const row of rows) {
        const seq = row['seq'] as number;
        const who = this.sql
          .all('SELECT agent FROM deliveries WHERE seq = ?', seq)
          .map((d) => `a${String(d['agent'])}`);
        who.push(`a${String(row['sender'])}`);
        // A notice is for its recipient alone, not for all of its conversation.
        if (row['writer'] !== 'bus') who.push(`c${String(row['conversation'])}`);
        this.sql.run(
          'INSERT OR REPLACE INTO search (rowid, text, who) VALUES (?, ?, ?)',
          seq,
          row['text'] as string,
          who.join(' '),
        );
      }
      this.sql.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('indexed_seq', ?)", String(last));
      this.db.exec('COMMIT');
      this.indexed = last;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw error;
    }
    return rows.length === limit;
  }

  /** Newest first. The last word may be unfinished: where whole words do not fill the page, its continuations do. */
  find(query: SearchQuery): number[] {
    const words = query.terms.match(/[\p{L}\p{N}\p{M}_]+/gu)?.slice(0, 20);
    if (!words) return [];
    while (this.step(2_000));
    // A prefix makes FTS5 merge the lists of all its words before the first hit, so it is tried second.
    // The first page decides for all that follow, so that pages fit together.
    const first = this.match({ ...query, before: undefined }, words, false);
    const prefix = first.length < query.limit && (words.at(-1)?.length ?? 0) > 2;
    return query.before === undefined && !prefix ? first : this.match(query, words, prefix);
  }

  private match(query: SearchQuery, words: readonly string[], prefix: boolean): number[] {
    return this.sql
      .all(
        'SELECT rowid AS seq FROM search WHERE search MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?',
        matchExpression(query, words, prefix),
        query.before ?? Number.MAX_SAFE_INTEGER,
        query.limit,
      )
      .map((row) => row['seq'] as number);
  }
}

/** The person's words as quoted strings: no operator, column name or quote in them means anything to FTS5. */
function matchExpression(query: SearchQuery, words: readonly string[], prefix: boolean): string {
  let match = `text : (${words.map((word) => `"${word}"`).join(' AND ')}${prefix ? ' *' : ''})`;
  if (query.visibleTo) {
    const who = [`"a${query.visibleTo.agent}"`, ...query.visibleTo.channels.map((channel) => `"c${channel}"`)];
    match += ` AND who : (${who.join(' OR ')})`;
  }
  if (query.conversation !== undefined) match += ` AND who : ("c${query.conversation}")`;
  return match;
}
