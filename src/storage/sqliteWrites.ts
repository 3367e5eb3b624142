import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type {
  AgentRecord,
  ConversationKind,
  ConversationRecord,
  DeliveryPhase,
  MessageRecord,
  ReceiptRecord,
  ReceiptStep,
} from '../core/model.ts';
import type { RequestEnd, Writes } from '../core/ports.ts';
import { RemoteWrites } from './remoteWrites.ts';
import type { SearchIndex } from './searchIndex.ts';

export interface Activity {
  seq: number;
  at: number;
}

const agentColumns: Record<string, string> = {
  name: 'name',
  about: 'about',
  workspace: 'workspace',
  product: 'product',
  identity: 'identity',
  lastSeen: 'last_seen',
  removed: 'removed',
};

/** The changes, to be used inside a transaction of the group commit only. */
export class SqliteWrites extends RemoteWrites implements Writes {
  private nextSeq: number;
  private nextReceipt: number;
  /**
   * Last activity of conversations that is not in their rows yet. Rows are written once in a while and whatever is
   * missing after a crash is found again from the messages, so a message does not have to change them.
   */
  protected readonly activity = new Map<number, Activity>();
  private readonly uncommitted = new Map<number, Activity>();

  constructor(db: DatabaseSync, index: SearchIndex) {
    super(db, index);
    this.nextSeq = this.storedSeq() + 1;
    this.nextReceipt = this.storedReceipt() + 1;
  }

  override lastSeq(): number {
    return this.nextSeq - 1;
  }

  override lastReceipt(): number {
    return this.nextReceipt - 1;
  }

  insertAgent(agent: Omit<AgentRecord, 'id'>): number {
    this.mutations++;
    return this.sql.insert(
      `INSERT INTO agents (name, kind, about, workspace, product, skills, open, identity, created, last_seen, removed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      agent.name,
      agent.kind,
      agent.about,
      agent.workspace,
      agent.product,
      agent.skills.length > 0 ? JSON.stringify(agent.skills) : null,
      agent.open ? 1 : 0,
      agent.identity,
      agent.created,
      agent.lastSeen,
      agent.removed ? 1 : 0,
    );
  }

  updateAgent(id: number, patch: Partial<Omit<AgentRecord, 'id' | 'created' | 'kind'>>): void {
    const entries = Object.entries(patch).filter(([, value]) => value !== undefined);
    if (entries.length === 0) return;
    this.mutations++;
    const values = entries.map(([, value]) => columnValue(value));
    const columns = entries.map(([field]) => `${agentColumns[field] ?? field} = ?`).join(', ');
    this.sql.run(`UPDATE agents SET ${columns} WHERE id = ?`, ...values, id);
  }

  deleteAgent(id: number): void {
    this.mutations++;
    this.sql.run('DELETE FROM agents WHERE id = ?', id);
  }

  insertAlias(name: string, agent: number): void {
    this.mutations++;
    this.sql.run('INSERT OR REPLACE INTO aliases (name, agent) VALUES (?, ?)', name, agent);
  }

  deleteAlias(name: string): void {
    this.mutations++;
    this.sql.run('DELETE FROM aliases WHERE name = ?', name);
  }

  nameOwner(name: string): number | undefined {
    const row =
      this.sql.get('SELECT id FROM agents WHERE name = ?', name) ??
      this.sql.get('SELECT agent AS id FROM aliases WHERE name = ?', name);
    return row?.['id'] as number | undefined;
  }

  insertToken(hash: Uint8Array, agent: number, at: number): void {
    this.mutations++;
    this.sql.run('INSERT INTO tokens (hash, agent, created) VALUES (?, ?, ?)', hash, agent, at);
  }

  deleteTokens(agent: number): number {
    this.mutations++;
    return this.sql.run('DELETE FROM tokens WHERE agent = ?', agent);
  }

  insertConversation(kind: ConversationKind, key: string, about: string, at: number): number {
    this.mutations++;
    return this.sql.insert(
      'INSERT INTO conversations (kind, key, about, created, last_at) VALUES (?, ?, ?, ?, ?)',
      kind,
      key,
      about,
      at,
      at,
    );
  }

  insertMember(conversation: number, agent: number, at: number): void {
    this.mutations++;
    this.sql.run(
      'INSERT OR IGNORE INTO members (agent, conversation, joined) VALUES (?, ?, ?)',
      agent,
      conversation,
      at,
    );
  }

  deleteMember(conversation: number, agent: number): boolean {
    this.mutations++;
    return this.sql.run('DELETE FROM members WHERE agent = ? AND conversation = ?', agent, conversation) > 0;
  }

  insertMessage(message: Omit<MessageRecord, 'seq'>): number | undefined {
    const seq = this.nextSeq;
    // The index of keys decides: asking it first would be a second look-up for every message.
    const stored = this.sql.run(
      `INSERT INTO messages
         (seq, conversation, sender, kind, text, data, files, options, reply_to, urgent, key, hop, sent_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (sender, key) WHERE key IS NOT NULL DO NOTHING`,
      seq,
      message.conversation,
      message.sender,
      message.kind,
      message.text,
      message.data,
      message.files.length > 0 ? JSON.stringify(message.files) : null,
      message.options.length > 0 ? JSON.stringify(message.options) : null,
      message.replyTo,
      message.priority === 'urgent' ? 1 : 0,
      message.key,
      message.hop,
      message.sentAt,
      message.expiresAt,
    );
    if (stored === 0) return undefined;
    this.mutations++;
    this.nextSeq++;
    if (message.expiresAt !== null) {
      this.sql.run('INSERT INTO expiries (at, seq) VALUES (?, ?)', message.expiresAt, seq);
    }
    this.uncommitted.set(message.conversation, { seq, at: message.sentAt });
    return seq;
  }

  insertDelivery(message: MessageRecord, agent: number): void {
    this.mutations++;
    this.recount(agent);
    const asks = message.kind === 'request' ? 1 : 0;
    this.sql.run(
      'INSERT INTO deliveries (seq, agent, at, asks) VALUES (?, ?, ?, ?)',
      message.seq,
      agent,
      message.sentAt,
      asks,
    );
  }

  moveDelivery(seq: number, agent: number, phase: DeliveryPhase, step: ReceiptStep, at: number): boolean {
    this.mutations++;
    this.recount(agent);
    return (
      this.sql.run(
        'UPDATE deliveries SET phase = max(phase, ?), step = ?, at = ? WHERE seq = ? AND agent = ? AND phase < 2',
        phase,
        step,
        at,
        seq,
        agent,
      ) > 0
    );
  }

  insertReceipt(receipt: Omit<ReceiptRecord, 'id'>): ReceiptRecord {
    this.mutations++;
    const id = this.nextReceipt++;
    this.sql.run(
      'INSERT INTO receipts (id, seq, agent, step, at, route, outcome, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      id,
      receipt.seq,
      receipt.agent,
      receipt.step,
      receipt.at,
      receipt.route,
      receipt.outcome,
      receipt.note,
    );
    return { id, ...receipt };
  }

  insertRequest(seq: number): void {
    this.mutations++;
    this.sql.run('INSERT INTO requests (seq) VALUES (?)', seq);
  }

  endRequest(seq: number, end: RequestEnd): boolean {
    this.mutations++;
    this.recount();
    return (
      this.sql.run(
        "UPDATE requests SET state = ?, result_seq = ?, ended_at = ?, note = ? WHERE seq = ? AND state = 'pending'",
        end.state,
        end.resultSeq,
        end.at,
        end.note,
        seq,
      ) > 0
    );
  }

  deleteExpiry(at: number, seq: number): void {
    this.mutations++;
    this.sql.run('DELETE FROM expiries WHERE at = ? AND seq = ?', at, seq);
  }

  keepActivity(): void {
    for (const [conversation, activity] of this.uncommitted) this.activity.set(conversation, activity);
    this.uncommitted.clear();
  }

  /** Puts it into the rows. `dropActivity` follows once that is committed. */
  storeActivity(activities: readonly [number, Activity][]): void {
    let newest = 0;
    for (const [conversation, { seq, at }] of activities) {
      this.sql.run('UPDATE conversations SET last_seq = ?, last_at = ? WHERE id = ?', seq, at, conversation);
      newest = Math.max(newest, seq);
    }
    this.setMeta('activity_seq', String(newest));
  }

  dropActivity(activities: readonly [number, Activity][]): void {
    for (const [conversation, activity] of activities) {
      if (this.activity.get(conversation) === activity) this.activity.delete(conversation);
    }
  }

  /** What a hub that died had not put into the rows. */
  recoverActivity(): void {
    const rows = this.sql.all(
      'SELECT conversation, max(seq) AS seq, max(sent_at) AS at FROM messages WHERE seq > ? GROUP BY conversation',
      Number(this.meta('activity_seq') ?? 0),
    );
    for (const row of rows) {
      this.activity.set(row['conversation'] as number, { seq: row['seq'] as number, at: row['at'] as number });
    }
  }

  override conversation(id: number): ConversationRecord | undefined {
    return this.withActivity(super.conversation(id));
  }

  override conversationByKey(key: string): ConversationRecord | undefined {
    return this.withActivity(super.conversationByKey(key));
  }

  private withActivity(record: ConversationRecord | undefined): ConversationRecord | undefined {
    const activity = record && this.activity.get(record.id);
    return activity ? { ...record, lastSeq: activity.seq, lastAt: activity.at } : record;
  }

  /** After a rollback: numbers that nobody has seen are given out again, so that none is ahead of the disk. */
  forgetUncommitted(): void {
    this.recount();
    this.uncommitted.clear();
    this.nextSeq = this.storedSeq() + 1;
    this.nextReceipt = this.storedReceipt() + 1;
  }

  // The counters never go back below what was given out, even when retention has deleted the newest rows.
  private storedSeq(): number {
    return Math.max(super.lastSeq(), Number(this.meta('last_seq') ?? 0));
  }

  private storedReceipt(): number {
    return Math.max(super.lastReceipt(), Number(this.meta('last_receipt') ?? 0));
  }
}

function columnValue(value: string | number | boolean | string[] | null): SQLInputValue {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : value;
}
