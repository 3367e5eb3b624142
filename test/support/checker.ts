/**
 * The checker of the fault tests. Each fake agent keeps a log of its own: what it tried to send and how that ended, what
 * it was handed, what it acknowledged. Afterwards the logs are compared with the database and with what is still open.
 */
import { DatabaseSync } from 'node:sqlite';
import { messageId } from '../../src/core/model.ts';

/** `invoked` until an answer came; `unknown` if none came, so that the message may be there or not. */
export type Outcome = 'invoked' | 'ok' | 'failed' | 'unknown';

export interface SendEntry {
  sender: string;
  /** The sender's own counter. */
  n: number;
  text: string;
  to: readonly string[];
  key: string | undefined;
  outcome: Outcome;
  /** Every id that an answer named; a retry must name the same one. */
  ids: string[];
  /** The sender's clock at the first call and at the last answer: what ended before another began comes first. */
  began: number;
  ended: number;
}

export interface DeliveryEntry {
  id: string;
  from: string;
  text: string;
  /** Read as new mail, oldest first. Reminders and what rides along on other answers come when they can. */
  inTurn?: boolean;
}

export class AgentLog {
  readonly name: string;
  readonly sends: SendEntry[] = [];
  readonly deliveries: DeliveryEntry[] = [];
  readonly ackInvoked = new Set<string>();
  readonly acked = new Set<string>();
  private clock = 0;

  constructor(name: string) {
    this.name = name;
  }

  invoke(to: readonly string[], key?: string): SendEntry {
    const n = this.sends.length + 1;
    const text = `${this.name} says ${n} to ${to.join(' and ')}`;
    const began = ++this.clock;
    const entry: SendEntry = {
      sender: this.name,
      n,
      text,
      to,
      key,
      outcome: 'invoked',
      ids: [],
      began,
      ended: Infinity,
    };
    this.sends.push(entry);
    return entry;
  }

  end(entry: SendEntry, outcome: Exclude<Outcome, 'invoked'>, id?: string): void {
    entry.outcome = outcome;
    entry.ended = ++this.clock;
    if (id !== undefined) entry.ids.push(id);
  }

  delivered(messages: readonly DeliveryEntry[], inTurn = true): void {
    for (const { id, from, text } of messages) this.deliveries.push({ id, from, text, inTurn });
  }

  acking(ids: readonly string[]): void {
    for (const id of ids) this.ackInvoked.add(id);
  }

  ackedOk(ids: readonly string[]): void {
    for (const id of ids) this.acked.add(id);
  }
}

export interface StoredMessage {
  id: string;
  seq: number;
  sender: string;
  text: string;
  key: string | null;
  recipients: { agent: string; closed: boolean }[];
}

/** Straight from the file, past all code of the bus. */
export function storedMessages(path: string): StoredMessage[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const damage = db.prepare('PRAGMA integrity_check').all();
    if (damage.length !== 1 || damage[0]?.['integrity_check'] !== 'ok')
      throw new Error(`damaged: ${JSON.stringify(damage)}`);
    const recipients = new Map<number, StoredMessage['recipients']>();
    for (const row of db
      .prepare('SELECT d.seq, d.phase, a.name FROM deliveries d JOIN agents a ON a.id = d.agent')
      .all()) {
      const seq = row['seq'] as number;
      const list = recipients.get(seq) ?? [];
      recipients.set(seq, list);
      list.push({ agent: row['name'] as string, closed: row['phase'] === 2 });
    }
    return db
      .prepare('SELECT m.seq, m.text, m.key, a.name FROM messages m JOIN agents a ON a.id = m.sender ORDER BY m.seq')
      .all()
      .map((row) => ({
        id: messageId.format(row['seq'] as number),
        seq: row['seq'] as number,
        sender: row['name'] as string,
        text: row['text'] as string,
        key: row['key'] as string | null,
        recipients: recipients.get(row['seq'] as number) ?? [],
      }));
  } finally {
    db.close();
  }
}

/** All that is wrong; nothing if every promise was kept. */
export function check(logs: readonly AgentLog[], stored: readonly StoredMessage[]): string[] {
  return [
    ...checkSends(logs, stored),
    ...checkKeys(stored),
    ...checkDeliveries(logs, stored),
    ...checkStoredOrder(logs, stored),
    ...logs.flatMap((log) => checkDeliveredOrder(log, stored)),
    ...checkAcks(logs, stored),
  ];
}

/** Every acknowledged send is there exactly once, every refused one is not, and nothing is there that nobody sent. */
function checkSends(logs: readonly AgentLog[], stored: readonly StoredMessage[]): string[] {
  const complaints: string[] = [];
  const rows = groupBy(stored, (row) => `${row.sender}\n${row.text}`);
  for (const entry of logs.flatMap((log) => log.sends)) {
    const same = rows.get(`${entry.sender}\n${entry.text}`) ?? [];
    rows.delete(`${entry.sender}\n${entry.text}`);
    const what = `"${entry.text}" (${entry.outcome})`;
    if (entry.outcome === 'ok' && same.length === 0) complaints.push(`lost: ${what}`);
    if (entry.outcome === 'failed' && same.length > 0) complaints.push(`stored although refused: ${what}`);
    if (same.length > 1) complaints.push(`duplicated: ${what} is there ${same.length} times`);
    for (const row of same) {
      const ids = entry.ids.filter((id) => id !== row.id);
      if (same.length === 1 && ids.length > 0)
        complaints.push(`wrong id: ${what} is ${row.id}, but was answered as ${ids.join(', ')}`);
      const wanted = [...entry.to].sort().join(' ');
      const given = row.recipients.map(({ agent }) => agent).sort();
      if (given.join(' ') !== wanted) complaints.push(`wrong recipients: ${what} went to ${given.join(' ')}`);
    }
  }
  for (const row of [...rows.values()].flat())
    complaints.push(`unsent: ${row.id} "${row.text}" of ${row.sender} is stored`);
  return complaints;
}

function checkKeys(stored: readonly StoredMessage[]): string[] {
  const keyed = groupBy(
    stored.filter((row) => row.key !== null),
    (row) => `${row.sender}\n${row.key}`,
  );
  return [...keyed.values()]
    .filter((rows) => rows.length > 1)
    .map((rows) => `key used twice: ${rows.map((row) => row.id).join(', ')} of ${rows[0]?.sender}`);
}

/** Nothing is handed out that is not stored, or that is for somebody else, or in other words than it was sent. */
function checkDeliveries(logs: readonly AgentLog[], stored: readonly StoredMessage[]): string[] {
  const byId = new Map(stored.map((row) => [row.id, row]));
  return logs.flatMap((log) =>
    log.deliveries.flatMap(({ id, from, text }) => {
      const row = byId.get(id);
      if (!row) return [`foreign: ${log.name} was handed ${id} "${text}", which is not stored`];
      if (!row.recipients.some(({ agent }) => agent === log.name))
        return [`foreign: ${log.name} was handed ${id}, which is not for it`];
      if (row.sender !== from || row.text !== text)
        return [`changed: ${log.name} was handed ${id} as "${text}" from ${from}`];
      return [];
    }),
  );
}

/** For every sender and recipient: what was answered before the next was begun is stored before it. */
function checkStoredOrder(logs: readonly AgentLog[], stored: readonly StoredMessage[]): string[] {
  const complaints: string[] = [];
  const entries = new Map(logs.flatMap((log) => log.sends).map((entry) => [`${entry.sender}\n${entry.text}`, entry]));
  const latest = new Map<string, SendEntry>();
  for (const row of [...stored].sort((a, b) => a.seq - b.seq)) {
    const entry = entries.get(`${row.sender}\n${row.text}`);
    if (!entry) continue;
    for (const { agent } of row.recipients) {
      const pair = `${row.sender}\n${agent}`;
      const before = latest.get(pair);
      if (before && entry.ended < before.began)
        complaints.push(`reordered: "${before.text}" is stored before "${entry.text}"`);
      if (!before || entry.began > before.began) latest.set(pair, entry);
    }
  }
  return complaints;
}

/** The first time that a reader was handed each message of one sender follows the order in which they are stored. */
function checkDeliveredOrder(log: AgentLog, stored: readonly StoredMessage[]): string[] {
  const complaints: string[] = [];
  const seqs = new Map(stored.map((row) => [row.id, row.seq]));
  const seen = new Set<string>();
  const latest = new Map<string, number>();
  for (const { id, from, inTurn } of log.deliveries) {
    const seq = seqs.get(id);
    if (seq === undefined || seen.has(id)) continue;
    seen.add(id);
    if (!inTurn) continue;
    if (seq < (latest.get(from) ?? 0)) complaints.push(`reordered: ${log.name} was handed ${id} of ${from} too late`);
    latest.set(from, Math.max(seq, latest.get(from) ?? 0));
  }
  return complaints;
}

function checkAcks(logs: readonly AgentLog[], stored: readonly StoredMessage[]): string[] {
  return logs.flatMap((log) =>
    stored.flatMap((row) => {
      const mine = row.recipients.find(({ agent }) => agent === log.name);
      if (!mine) return [];
      if (!mine.closed && log.acked.has(row.id)) return [`acknowledgement lost: ${log.name} has acked ${row.id}`];
      if (mine.closed && !log.ackInvoked.has(row.id)) return [`closed by nobody: ${row.id} of ${log.name}`];
      return [];
    }),
  );
}

/** What was handed over and never acknowledged has to come again. */
export function checkComesAgain(log: AgentLog, open: readonly string[]): string[] {
  const offered = new Set(open);
  const missing = new Set(
    log.deliveries.map(({ id }) => id).filter((id) => !log.ackInvoked.has(id) && !offered.has(id)),
  );
  return [...missing].map((id) => `not offered again: ${id} to ${log.name}`);
}

/** At the end: exactly what is stored for the agent and not closed is offered to it. */
export function checkOpen(log: AgentLog, open: readonly string[], stored: readonly StoredMessage[]): string[] {
  const wanted = stored
    .filter((row) => row.recipients.some(({ agent, closed }) => agent === log.name && !closed))
    .map((row) => row.id);
  const complaints = checkComesAgain(log, open);
  const offered = new Set(open);
  for (const id of wanted) if (!offered.delete(id)) complaints.push(`not offered: ${id} to ${log.name}`);
  for (const id of offered) complaints.push(`offered for nothing: ${id} to ${log.name}`);
  return complaints;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
