import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import type { ConversationRecord } from '../core/model.ts';
import type { ConversationsQuery, Store, Writes } from '../core/ports.ts';
import { BusError } from '../core/errors.ts';
import { asStorageError, openDatabase, pragmaNumber } from './database.ts';
import { GroupCommit } from './groupCommit.ts';
import { deleteOld, type RetentionLimits } from './retention.ts';
import { SearchIndex } from './searchIndex.ts';
import { SqliteWrites } from './sqliteWrites.ts';

export interface StoreHealth {
  /** Set once the disk or the database has failed; from then on nothing is acknowledged. */
  failed?: BusError;
}

export interface StoreCounts {
  agents: number;
  messages: number;
  conversations: number;
  pendingRequests: number;
  databaseBytes: number;
  commits: number;
  slowestCommitMs: number;
}

/** The reads come from the same connection that writes: it sees exactly what was committed. */
export class SqliteStore extends SqliteWrites implements Store {
  private readonly db: DatabaseSync;
  private readonly path: string;
  private readonly group: GroupCommit;
  private readonly searchIndex: SearchIndex;
  private readonly onTrouble: (error: BusError) => void;
  private indexTimer: NodeJS.Timeout | undefined;
  private activityTimer: NodeJS.Timeout | undefined;
  private messagesStored: number;
  private closed = false;
  readonly health: StoreHealth = {};

  constructor(path: string, onTrouble: (error: BusError) => void = () => undefined) {
    const db = openDatabase(path);
    const index = new SearchIndex(db);
    super(db, index);
    this.db = db;
    this.path = path;
    this.searchIndex = index;
    this.onTrouble = onTrouble;
    // A page that can't be read is damage, whoever comes across it.
    this.sql.asError = index.sql.asError = (error) => this.classify(error);
    this.group = new GroupCommit(db, {
      asError: (error) => this.classify(error),
      changes: () => this.mutations,
      afterCommit: () => this.keepActivity(),
      afterRollback: () => this.forgetUncommitted(),
      onLost: (error) => this.reportLost(error),
    });
    if (this.meta('epoch') === undefined) this.setMeta('epoch', randomBytes(6).toString('hex'));
    this.messagesStored = this.lastSeq();
    this.recoverActivity();
  }

  write<T>(work: (tx: Writes) => T, order?: 'after-notes'): Promise<T> {
    if (this.health.failed) return Promise.reject(this.health.failed);
    if (this.closed) return Promise.reject(stopping());
    this.scheduleIndexing();
    this.scheduleActivity();
    return this.group.write(() => work(this), order === 'after-notes');
  }

  later(work: (tx: Writes) => void, settled: (stored: boolean) => void = () => undefined): void {
    if (this.health.failed || this.closed) settled(false);
    else this.group.later(() => work(this), settled);
  }

  settleNotes(): void {
    if (!this.closed) this.group.drain();
  }

  /** A note of the hub's own. */
  async remember(key: string, value: string): Promise<void> {
    if (this.meta(key) !== value) await this.write(() => this.setMeta(key, value));
  }

  /** Stops acknowledging: called when the integrity check in the background finds damage. */
  fail(error: BusError): void {
    if (this.health.failed) return;
    this.health.failed = error;
    this.onTrouble(error);
  }

  counts(): StoreCounts {
    return {
      agents: this.count("agents WHERE removed = 0 AND kind <> 'bus'"),
      messages: this.count('messages'),
      conversations: this.count('conversations'),
      pendingRequests: this.pendingRequests(),
      databaseBytes: fileSize(this.path) + fileSize(`${this.path}-wal`),
      commits: this.group.commits,
      slowestCommitMs: Math.round(this.group.slowestMs * 10) / 10,
    };
  }

  /** A consistent copy while the hub goes on working. */
  async exportTo(target: string): Promise<void> {
    try {
      await backup(this.db, target);
    } catch (error) {
      throw this.classify(error);
    }
  }

  /** Deletes a bounded number of old, finished messages; true when there is more to delete. */
  retain(limits: RetentionLimits): boolean {
    if (this.health.failed) return false;
    const size = pragmaNumber(this.db, 'page_count') - pragmaNumber(this.db, 'freelist_count');
    this.setMeta('last_seq', String(this.lastSeq()));
    this.setMeta('last_receipt', String(this.lastReceipt()));
    return deleteOld(this.db, this.sql, limits, size * pragmaNumber(this.db, 'page_size'));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.indexTimer);
    clearTimeout(this.activityTimer);
    try {
      this.group.drain();
      this.settleActivity();
    } finally {
      this.db.close();
    }
  }

  /** The order of conversations is in their rows: those have to be right before it is read. */
  override conversations(query: ConversationsQuery): ConversationRecord[] {
    this.settleActivity();
    return super.conversations(query);
  }

  private scheduleActivity(): void {
    this.activityTimer ??= setTimeout(() => {
      this.activityTimer = undefined;
      const activities = [...this.activity];
      if (activities.length === 0) return;
      this.later(
        () => this.storeActivity(activities),
        (stored) => stored && this.dropActivity(activities),
      );
    }, 1_000).unref();
  }

  private settleActivity(): void {
    const activities = [...this.activity];
    if (activities.length === 0 || this.health.failed) return;
    try {
      this.db.exec('BEGIN IMMEDIATE');
      this.storeActivity(activities);
      this.db.exec('COMMIT');
      this.dropActivity(activities);
    } catch (error) {
      // Reading goes on even if nothing can be written; the order is then that of a moment ago.
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      this.reportLost(error);
    }
  }

  private scheduleIndexing(): void {
    this.indexTimer ??= setTimeout(() => this.indexSome(), 250).unref();
  }

  private indexSome(): void {
    this.indexTimer = undefined;
    if (this.closed || this.health.failed) return;
    // Not while messages are pouring in: their commits matter more than being searchable a second earlier.
    const pouring = this.lastSeq() - this.messagesStored > 20;
    this.messagesStored = this.lastSeq();
    try {
      if (pouring || this.searchIndex.step(100)) this.scheduleIndexing();
    } catch (error) {
      this.reportLost(error);
    }
  }

  private count(from: string): number {
    return this.sql.get(`SELECT count(*) AS n FROM ${from}`)?.['n'] as number;
  }

  private classify(error: unknown): unknown {
    const known = asStorageError(error, this.path);
    // A full disk heals; a failing or damaged one does not, and nothing may be acknowledged on top of it.
    if (known instanceof BusError && (known.code === 'disk-failed' || known.code === 'database-damaged'))
      this.fail(known);
    return known;
  }

  private reportLost(error: unknown): void {
    const known = this.classify(error);
    if (known instanceof BusError) this.onTrouble(known);
    else this.onTrouble(new BusError('internal', String(error), { next: 'See `agent-bus logs`.', cause: error }));
  }
}

function stopping(): BusError {
  return new BusError('hub-stopping', 'The hub is stopping.', {
    next: 'Call again in a moment; it restarts on demand.',
  });
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
