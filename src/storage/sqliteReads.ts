import type { DatabaseSync } from 'node:sqlite';
import type {
  AgentRecord,
  ConversationRecord,
  DeliveryRecord,
  MessageRecord,
  ReceiptRecord,
  RequestRecord,
} from '../core/model.ts';
import type { ConversationsQuery, HistoryQuery, InboxQuery, Reads, RequestsQuery, SearchQuery } from '../core/ports.ts';
import { RemoteReads } from './remoteReads.ts';
import { agentRow, conversationRow, deliveryRow, messageRow, receiptRow, requestRow } from './rows.ts';
import type { SearchIndex } from './searchIndex.ts';

const lastOfAll = Number.MAX_SAFE_INTEGER;
const theBus = "(SELECT id FROM agents WHERE kind = 'bus')";

export class SqliteReads extends RemoteReads implements Reads {
  private readonly index: SearchIndex;

  constructor(db: DatabaseSync, index: SearchIndex) {
    super(db);
    this.index = index;
  }

  agents(): AgentRecord[] {
    return this.sql.all('SELECT * FROM agents ORDER BY id').map(agentRow);
  }

  aliases(): { name: string; agent: number }[] {
    return this.sql.all('SELECT name, agent FROM aliases') as { name: string; agent: number }[];
  }

  agentByToken(hash: Uint8Array): number | undefined {
    return this.sql.get('SELECT agent FROM tokens WHERE hash = ?', hash)?.['agent'] as number | undefined;
  }

  message(seq: number): MessageRecord | undefined {
    const row = this.sql.get('SELECT * FROM messages WHERE seq = ?', seq);
    return row && messageRow(row);
  }

  messageByKey(sender: number, key: string): MessageRecord | undefined {
    const row = this.sql.get('SELECT * FROM messages WHERE sender = ? AND key = ?', sender, key);
    return row && messageRow(row);
  }

  messagesAfter(seq: number, limit: number): MessageRecord[] {
    return this.sql.all('SELECT * FROM messages WHERE seq > ? ORDER BY seq LIMIT ?', seq, limit).map(messageRow);
  }

  recipients(seq: number): number[] {
    return this.sql.all('SELECT agent FROM deliveries WHERE seq = ?', seq).map((row) => row['agent'] as number);
  }

  delivery(seq: number, agent: number): DeliveryRecord | undefined {
    const row = this.sql.get('SELECT * FROM deliveries WHERE seq = ? AND agent = ?', seq, agent);
    return row && deliveryRow(row);
  }

  deliveries(seq: number, limit = -1): DeliveryRecord[] {
    return this.sql.all('SELECT * FROM deliveries WHERE seq = ? LIMIT ?', seq, limit).map(deliveryRow);
  }

  inbox(query: InboxQuery): MessageRecord[] {
    const found: MessageRecord[] = [];
    for (const phase of query.phases) {
      const rows = this.sql.all(
        `SELECT m.* FROM deliveries d JOIN messages m ON m.seq = d.seq
         WHERE d.agent = ? AND d.phase = ? AND d.seq > ?
           AND (?4 IS NULL OR m.sender = ?4) AND (?5 IS NULL OR m.kind = ?5) AND (?6 IS NULL OR m.conversation = ?6)
         ORDER BY d.seq LIMIT ?7`,
        query.agent,
        phase,
        query.after ?? 0,
        query.sender ?? null,
        query.kind ?? null,
        query.conversation ?? null,
        query.limit,
      );
      found.push(...rows.map(messageRow));
    }
    if (query.phases.length > 1) found.sort((a, b) => a.seq - b.seq);
    return found.slice(0, query.limit);
  }

  unanswered(agent: number, limit: number): MessageRecord[] {
    return this.sql
      .all(
        `SELECT m.* FROM deliveries d JOIN messages m ON m.seq = d.seq
         WHERE d.agent = ? AND d.phase = 1 AND d.asks = 1 ORDER BY d.seq LIMIT ?`,
        agent,
        limit,
      )
      .map(messageRow);
  }

  wakeable(agent: number, limit: number): MessageRecord[] {
    return this.sql
      .all(
        `SELECT m.* FROM deliveries d JOIN messages m ON m.seq = d.seq LEFT JOIN requests r ON r.seq = d.seq
         WHERE d.agent = ? AND d.phase = 0 AND coalesce(r.state, 'pending') = 'pending'
           AND (d.asks = 1 OR d.released = 1 OR m.sender = ${theBus} OR (m.kind = 'reply' AND EXISTS (
             SELECT 1 FROM requests q JOIN messages p ON p.seq = q.seq
             WHERE q.result_seq = m.seq AND p.sender = d.agent)))
         ORDER BY d.seq LIMIT ?`,
        agent,
        limit,
      )
      .map(messageRow);
  }

  unreadCount(agent: number, cap: number): number {
    return this.sql.get(
      'SELECT count(*) AS n FROM (SELECT 1 FROM deliveries WHERE agent = ? AND phase = 0 LIMIT ?)',
      agent,
      cap,
    )?.['n'] as number;
  }

  answeredBy(seq: number): RequestRecord | undefined {
    const row = this.sql.get('SELECT * FROM requests WHERE result_seq = ?', seq);
    return row && requestRow(row);
  }

  requests({ agent, role, states, order, beyond, limit }: RequestsQuery): MessageRecord[] {
    const newest = order === 'newest';
    const mine =
      role === 'sent' ? 'm.sender = ?' : 'EXISTS (SELECT 1 FROM deliveries d WHERE d.seq = m.seq AND d.agent = ?)';
    return this.sql
      .all(
        `SELECT m.* FROM requests r JOIN messages m ON m.seq = r.seq
         WHERE ${mine} AND r.state IN (SELECT value FROM json_each(?)) AND r.seq ${newest ? '<' : '>'} ?
         ORDER BY r.seq ${newest ? 'DESC' : 'ASC'} LIMIT ?`,
        agent,
        JSON.stringify(states),
        beyond ?? (newest ? lastOfAll : 0),
        limit,
      )
      .map(messageRow);
  }

  receipts(seq: number): ReceiptRecord[] {
    return this.sql.all('SELECT * FROM receipts WHERE seq = ? ORDER BY id', seq).map(receiptRow);
  }

  receiptsAfter(id: number, limit: number): ReceiptRecord[] {
    return this.sql.all('SELECT * FROM receipts WHERE id > ? ORDER BY id LIMIT ?', id, limit).map(receiptRow);
  }

  request(seq: number): RequestRecord | undefined {
    const row = this.sql.get('SELECT * FROM requests WHERE seq = ?', seq);
    return row && requestRow(row);
  }

  pendingRequests(): number {
    return this.sql.get("SELECT count(*) AS n FROM requests WHERE state = 'pending'")?.['n'] as number;
  }

  unseenRequests(after: number, sentBy: number, limit: number): { seq: number; agent: number }[] {
    return this.sql.all(
      `SELECT d.seq, d.agent FROM requests r JOIN messages m ON m.seq = r.seq JOIN deliveries d ON d.seq = r.seq
       WHERE r.state = 'pending' AND r.seq > ? AND m.sent_at <= ? AND d.phase = 0 ORDER BY r.seq, d.agent LIMIT ?`,
      after,
      sentBy,
      limit,
    ) as { seq: number; agent: number }[];
  }

  expiring(until: number, limit: number): { seq: number; at: number }[] {
    return this.sql.all('SELECT seq, at FROM expiries WHERE at <= ? ORDER BY at LIMIT ?', until, limit) as {
      seq: number;
      at: number;
    }[];
  }

  nextExpiry(): number | undefined {
    return (this.sql.get('SELECT min(at) AS at FROM expiries')?.['at'] as number | null) ?? undefined;
  }

  conversation(id: number): ConversationRecord | undefined {
    const row = this.sql.get('SELECT * FROM conversations WHERE id = ?', id);
    return row && conversationRow(row);
  }

  conversationByKey(key: string): ConversationRecord | undefined {
    const row = this.sql.get('SELECT * FROM conversations WHERE key = ?', key);
    return row && conversationRow(row);
  }

  conversations(query: ConversationsQuery): ConversationRecord[] {
    const before = query.before ?? { seq: lastOfAll, id: 0 };
    if (query.among !== undefined) return this.conversationsAmong(query.among, before, query.limit);
    const rows =
      query.agent === undefined
        ? this.sql.all(
            'SELECT * FROM conversations WHERE (last_seq, id) < (?, ?) ORDER BY last_seq DESC, id DESC LIMIT ?',
            before.seq,
            before.id,
            query.limit,
          )
        : this.sql.all(
            `SELECT c.* FROM members m JOIN conversations c ON c.id = m.conversation
             WHERE m.agent = ? AND (c.last_seq, c.id) < (?, ?) ORDER BY c.last_seq DESC, c.id DESC LIMIT ?`,
            query.agent,
            before.seq,
            before.id,
            query.limit,
          );
    return rows.map(conversationRow);
  }

  private conversationsAmong(
    among: readonly number[],
    before: { seq: number; id: number },
    limit: number,
  ): ConversationRecord[] {
    const rows = this.sql.all(
      `SELECT * FROM conversations WHERE id IN (SELECT value FROM json_each(?)) AND (last_seq, id) < (?, ?)
       ORDER BY last_seq DESC, id DESC LIMIT ?`,
      JSON.stringify(among),
      before.seq,
      before.id,
      limit,
    );
    return rows.map(conversationRow);
  }

  channels(): ConversationRecord[] {
    return this.sql.all("SELECT * FROM conversations WHERE kind = 'channel' ORDER BY key").map(conversationRow);
  }

  channelsOf(agent: number): number[] {
    return this.sql
      .all(
        `SELECT c.id FROM members m JOIN conversations c ON c.id = m.conversation
         WHERE m.agent = ? AND c.kind = 'channel'`,
        agent,
      )
      .map((row) => row['id'] as number);
  }

  members(conversation: number): number[] {
    return this.sql
      .all('SELECT agent FROM members WHERE conversation = ? ORDER BY agent', conversation)
      .map((row) => row['agent'] as number);
  }

  isMember(conversation: number, agent: number): boolean {
    return (
      this.sql.get('SELECT 1 AS y FROM members WHERE agent = ? AND conversation = ?', agent, conversation) !== undefined
    );
  }

  /** Always oldest first; `before` gives the page that ends there, `after` the one that begins there. */
  history(query: HistoryQuery): MessageRecord[] {
    const isAfter = query.after !== undefined;
    const found = this.sql
      .all(
        `SELECT m.* FROM messages m WHERE m.conversation = ?1 AND m.seq ${isAfter ? '>' : '<'} ?2
           AND (?3 IS NULL OR m.sender IS NOT ${theBus}
             OR EXISTS (SELECT 1 FROM deliveries d WHERE d.seq = m.seq AND d.agent = ?3))
         ORDER BY m.seq ${isAfter ? 'ASC' : 'DESC'} LIMIT ?4`,
        query.conversation,
        query.after ?? query.before ?? lastOfAll,
        query.reader ?? null,
        query.limit,
      )
      .map(messageRow);
    return isAfter ? found : found.reverse();
  }

  search(query: SearchQuery): MessageRecord[] {
    return this.index
      .find(query)
      .map((seq) => this.message(seq))
      .filter((message) => message !== undefined);
  }

  lastSeq(): number {
    return (this.sql.get('SELECT max(seq) AS n FROM messages')?.['n'] as number | null) ?? 0;
  }

  lastReceipt(): number {
    return (this.sql.get('SELECT max(id) AS n FROM receipts')?.['n'] as number | null) ?? 0;
  }

  epoch(): string {
    return this.meta('epoch') ?? '';
  }
}
