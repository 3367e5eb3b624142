import type { DatabaseSync, StatementSync } from 'node:sqlite';

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export interface CommitHooks {
  asError: (error: unknown) => unknown;
  /** A count that grows with every change, to tell a work that failed before it changed anything. */
  changes: () => number;
  afterCommit: () => void;
  afterRollback: () => void;
  /** A note from `later` could not be stored. */
  onLost: (error: unknown) => void;
}

/** How long one batch may keep the event loop before the rest waits for the next turn. */
const sliceMs = 25;
const smallBatch = 32;
const notesMs = 100;

/**
 * All writes of one turn of the event loop share one transaction and so one sync of the disk.
 * Invariant: a promise from `write` resolves only after the COMMIT that holds its changes has returned.
 *
 * Works are synchronous, may run twice (their changes are rolled back in between) and touch nothing but the database.
 */
export class GroupCommit {
  private readonly db: DatabaseSync;
  private readonly hooks: CommitHooks;
  private readonly begin: StatementSync;
  private readonly commit: StatementSync;
  private jobs: Job[] = [];
  private notes: Job[] = [];
  private scheduled = false;
  private noteTimer: NodeJS.Timeout | undefined;
  commits = 0;
  slowestMs = 0;

  constructor(db: DatabaseSync, hooks: CommitHooks) {
    this.db = db;
    this.hooks = hooks;
    this.begin = db.prepare('BEGIN IMMEDIATE');
    this.commit = db.prepare('COMMIT');
  }

  /** With `afterNotes` the notes that are waiting go first, so that what they say is not overtaken. */
  write<T>(work: () => T, afterNotes = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (afterNotes) this.takeNotes();
      this.jobs.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.schedule();
    });
  }

  /** For notes nobody waits for, such as read marks: they are collected for a moment and share a commit. */
  later(work: () => void, settled: (stored: boolean) => void): void {
    const reject = (error: unknown): void => {
      this.hooks.onLost(error);
      settled(false);
    };
    this.notes.push({ work, resolve: () => settled(true), reject });
    this.noteTimer ??= setTimeout(() => {
      this.takeNotes();
      this.flush();
    }, notesMs).unref();
  }

  /** Everything that is waiting, now. */
  drain(): void {
    this.takeNotes();
    while (this.jobs.length > 0) this.flush();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // After the poll phase: everything that the sockets brought in this turn is in the batch.
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private takeNotes(): void {
    clearTimeout(this.noteTimer);
    this.noteTimer = undefined;
    if (this.notes.length === 0) return;
    this.jobs.push(...this.notes);
    this.notes = [];
  }

  private flush(): void {
    if (this.jobs.length === 0) return;
    // Of a long queue only half: while its senders take their answers, the other half is worked on.
    const batch = this.jobs.splice(0, Math.max(smallBatch, Math.ceil(this.jobs.length / 2)));
    const started = performance.now();
    const done = this.runTogether(batch) ?? this.runApart(batch);
    const took = performance.now() - started;
    if (took > this.slowestMs) this.slowestMs = took;
    this.commits++;
    if (this.jobs.length > 0) this.schedule();
    for (const settle of done) settle();
  }

  /** The common case: nobody throws, one transaction. Undefined if somebody threw after having changed something. */
  private runTogether(jobs: Job[]): (() => void)[] | undefined {
    const settle: (() => void)[] = [];
    let taken = 0;
    try {
      this.begin.run();
      const started = performance.now();
      for (const job of jobs) {
        if (taken > 0 && performance.now() - started > sliceMs) break;
        taken++;
        const before = this.hooks.changes();
        try {
          const value = job.work();
          settle.push(() => job.resolve(value));
        } catch (error) {
          // SQLite has rolled back by itself after some errors: what follows would not be in a transaction.
          if (this.hooks.changes() !== before || !this.db.isTransaction) {
            this.rollback();
            return undefined;
          }
          settle.push(() => job.reject(this.hooks.asError(error)));
        }
      }
      this.commit.run();
      this.hooks.afterCommit();
      this.jobs.unshift(...jobs.slice(taken));
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
      this.begin.run();
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
      this.commit.run();
      this.hooks.afterCommit();
      return settle;
    } catch (error) {
      this.rollback();
      return jobs.map((job) => () => job.reject(this.hooks.asError(error)));
    }
  }

  private rollback(): void {
    try {
      // SQLite has already rolled back by itself after some errors (disk full, I/O).
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
    } finally {
      this.hooks.afterRollback();
    }
  }
}
