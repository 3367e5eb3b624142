import type { DatabaseSync } from 'node:sqlite';

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export interface CommitHooks {
  asError: (error: unknown) => unknown;
  /** A count that grows with every change, to tell a work that failed before it changed anything. */
  changes: () => number;
  beforeCommit: () => void;
  afterRollback: () => void;
  /** A note from `later` could not be stored. */
  onLost: (error: unknown) => void;
}

/**
 * All writes of one turn of the event loop share one transaction and so one sync of the disk.
 * Invariant: a promise from `write` resolves only after the COMMIT that holds its changes has returned.
 *
 * Works are synchronous, may run twice (their changes are rolled back in between) and touch nothing but the database.
 */
export class GroupCommit {
  private readonly db: DatabaseSync;
  private readonly hooks: CommitHooks;
  private jobs: Job[] = [];
  private notes: Job[] = [];
  private scheduled = false;
  private idleTimer: NodeJS.Timeout | undefined;
  /** How long one batch may keep the event loop before the rest waits for the next turn. */
  private readonly sliceMs = 25;
  commits = 0;
  slowestMs = 0;

  constructor(db: DatabaseSync, hooks: CommitHooks) {
    this.db = db;
    this.hooks = hooks;
  }

  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.jobs.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (!this.scheduled) {
        this.scheduled = true;
        // After the poll phase: everything that the sockets brought in this turn is in the batch.
        setImmediate(() => this.flush());
      }
    });
  }

  /** For notes nobody waits for, such as read marks: they ride along with the next commit, or with one of their own soon. */
  later(work: () => void, settled: (stored: boolean) => void): void {
    const reject = (error: unknown): void => {
      this.hooks.onLost(error);
      settled(false);
    };
    this.notes.push({ work, resolve: () => settled(true), reject });
    this.idleTimer ??= setTimeout(() => this.flush(), 40).unref();
  }

  flush(): void {
    this.scheduled = false;
    clearTimeout(this.idleTimer);
    this.idleTimer = undefined;
    const all = this.notes.length === 0 ? this.jobs : [...this.notes, ...this.jobs];
    this.jobs = [];
    this.notes = [];
    if (all.length === 0) return;
    const started = performance.now();
    const done = this.runTogether(all) ?? this.runApart(all);
    const took = performance.now() - started;
    if (took > this.slowestMs) this.slowestMs = took;
    this.commits++;
    for (const settle of done) settle();
  }

  /** The common case: nobody throws, one transaction. Undefined if somebody threw after having changed something. */
  private runTogether(jobs: Job[]): (() => void)[] | undefined {
    const settle: (() => void)[] = [];
    let taken = 0;
    try {
      this.db.exec('BEGIN IMMEDIATE');
      const started = performance.now();
      for (const job of jobs) {
        if (taken > 0 && performance.now() - started > this.sliceMs) break;
        taken++;
        const before = this.hooks.changes();
        try {
          const value = job.work();
          settle.push(() => job.resolve(value));
        } catch (error) {
          if (this.hooks.changes() !== before) {
            this.rollback();
            return undefined;
          }
          settle.push(() => job.reject(this.hooks.asError(error)));
        }
      }
      this.hooks.beforeCommit();
      this.db.exec('COMMIT');
      this.putBack(jobs.slice(taken));
      return settle;
    } catch (error) {
      this.rollback();
      // The commit itself failed: nothing of the batch is stored, and everybody in it must hear so.
      return jobs.map((job) => () => job.reject(this.hooks.asError(error)));
    }
  }

  /** One transaction still, but a savepoint for each, so that one failing work takes back only its own changes. */
  private runApart(jobs: Job[]): (() => void)[] {
    const settle: (() => void)[] = [];
    try {
      this.db.exec('BEGIN IMMEDIATE');
      for (const job of jobs) {
        this.db.exec('SAVEPOINT one');
        try {
          const value = job.work();
          settle.push(() => job.resolve(value));
        } catch (error) {
          this.db.exec('ROLLBACK TO one');
          settle.push(() => job.reject(this.hooks.asError(error)));
        }
        this.db.exec('RELEASE one');
      }
      this.hooks.beforeCommit();
      this.db.exec('COMMIT');
      return settle;
    } catch (error) {
      this.rollback();
      return jobs.map((job) => () => job.reject(this.hooks.asError(error)));
    }
  }

  private putBack(jobs: Job[]): void {
    if (jobs.length === 0) return;
    this.jobs = [...jobs, ...this.jobs];
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(() => this.flush());
    }
  }

  private rollback(): void {
    this.hooks.afterRollback();
    // SQLite has already rolled back by itself after some errors (disk full, I/O).
    if (this.db.isTransaction) this.db.exec('ROLLBACK');
  }
}
