import type { DatabaseSync } from 'node:sqlite';
import type { ChatRecord, ConsentRecord, TellRecord } from '../core/model.ts';
import type { MessageBeginning } from '../core/ports.ts';
import { chatRow, consentRow, tellRow, type Row } from './rows.ts';
import { Statements } from './statements.ts';

interface Tally {
  unread?: ReadonlyMap<number, number>;
  waiting?: ReadonlyMap<number, number>;
}

const talliesKept = 50;

/** Reads that answer for many conversations, messages or chats with one statement, and the hub's own notes. */
export class BulkReads {
  protected readonly sql: Statements;
  /** Counted before, and nothing of it has changed: counting reads all of an agent's unread mail. */
  private readonly tallies = new Map<number, Tally>();

  constructor(db: DatabaseSync) {
    this.sql = new Statements(db);
  }

  /** Whatever was counted for this agent, or for anybody, does not hold any more. */
  protected recount(agent?: number): void {
    if (this.tallies.size === 0) return;
    if (agent === undefined) this.tallies.clear();
    else this.tallies.delete(agent);
  }

  unreadByConversation(agent: number): ReadonlyMap<number, number> {
    return (this.tally(agent).unread ??= this.countUnread(agent));
  }

  waitingByConversation(agent: number): ReadonlyMap<number, number> {
    return (this.tally(agent).waiting ??= this.countWaiting(agent));
  }

  private tally(agent: number): Tally {
    const known = this.tallies.get(agent);
    if (known) return known;
    if (this.tallies.size >= talliesKept) this.tallies.clear();
    const tally: Tally = {};
    this.tallies.set(agent, tally);
    return tally;
  }

  private countUnread(agent: number): ReadonlyMap<number, number> {
    const rows = this.sql.all(
      `SELECT m.conversation AS c, count(*) AS n FROM deliveries d JOIN messages m ON m.seq = d.seq
       WHERE d.agent = ? AND d.phase = 0 GROUP BY m.conversation`,
      agent,
    );
    return counted(rows);
  }

  /** Two arms, since what was shown has an index of its own: an inbox may be full of notes that nobody acknowledges. */
  private countWaiting(agent: number): ReadonlyMap<number, number> {
    const rows = this.sql.all(
      `SELECT m.conversation AS c, count(*) AS n FROM (
         SELECT seq FROM deliveries WHERE agent = ?1 AND phase = 0 AND asks = 1
         UNION ALL
         SELECT seq FROM deliveries WHERE agent = ?1 AND phase = 1 AND asks = 1
       ) d JOIN requests r ON r.seq = d.seq JOIN messages m ON m.seq = d.seq
       WHERE r.state = 'pending' GROUP BY m.conversation`,
      agent,
    );
    return counted(rows);
  }

  conversationCount(): number {
    return this.sql.get('SELECT count(*) AS n FROM conversations')?.['n'] as number;
  }

  membersOf(conversations: readonly number[]): Map<number, number[]> {
    const found = new Map<number, number[]>();
    const rows = this.sql.all(
      `SELECT m.conversation AS c, m.agent AS a FROM json_each(?) j JOIN members m ON m.conversation = j.value
       ORDER BY m.conversation, m.agent`,
      JSON.stringify(conversations),
    );
    for (const row of rows) {
      const members = found.get(row['c'] as number);
      if (members) members.push(row['a'] as number);
      else found.set(row['c'] as number, [row['a'] as number]);
    }
    return found;
  }

  beginnings(seqs: readonly number[], length: number): Map<number, MessageBeginning> {
    const rows = this.sql.all(
      `SELECT m.seq, m.sender, substr(m.text, 1, ?) AS text, m.sent_at FROM json_each(?) j JOIN messages m ON m.seq = j.value`,
      length,
      JSON.stringify(seqs),
    );
    return new Map(
      rows.map((row) => [
        row['seq'] as number,
        { sender: row['sender'] as number, text: row['text'] as string, sentAt: row['sent_at'] as number },
      ]),
    );
  }

  chats(): ChatRecord[] {
    return this.sql.all('SELECT * FROM chats ORDER BY at, id').map(chatRow);
  }

  consents(): ConsentRecord[] {
    return this.sql.all('SELECT * FROM consents ORDER BY sender, recipient').map(consentRow);
  }

  tells(): TellRecord[] {
    return this.sql.all('SELECT * FROM tells ORDER BY id').map(tellRow);
  }

  tellsOf(agent: number): TellRecord[] {
    return this.sql.all('SELECT * FROM tells WHERE agent = ? ORDER BY id', agent).map(tellRow);
  }

  tellsAbout(what: TellRecord['what'], about: number): TellRecord[] {
    return this.sql.all('SELECT * FROM tells WHERE what = ? AND about = ? ORDER BY id', what, about).map(tellRow);
  }

  meta(key: string): string | undefined {
    return this.sql.get('SELECT value FROM meta WHERE key = ?', key)?.['value'] as string | undefined;
  }
}

function counted(rows: Row[]): Map<number, number> {
  return new Map(rows.map((row) => [row['c'] as number, row['n'] as number]));
}
