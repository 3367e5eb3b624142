import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Row } from './rows.ts';

/** Each statement is prepared once, when it is first used. */
export class Statements {
  private readonly db: DatabaseSync;
  private readonly prepared = new Map<string, StatementSync>();
  /** What to throw instead of SQLite's own errors. */
  asError: (error: unknown) => unknown = (error) => error;

  constructor(db: DatabaseSync) {
    this.db = db;
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    try {
      return this.statement(sql).all(...values);
    } catch (error) {
      throw this.asError(error);
    }
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    try {
      return this.statement(sql).get(...values);
    } catch (error) {
      throw this.asError(error);
    }
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    try {
      return Number(this.statement(sql).run(...values).changes);
    } catch (error) {
      throw this.asError(error);
    }
  }

  insert(sql: string, ...values: SQLInputValue[]): number {
    try {
      return Number(this.statement(sql).run(...values).lastInsertRowid);
    } catch (error) {
      throw this.asError(error);
    }
  }

  private statement(sql: string): StatementSync {
    let statement = this.prepared.get(sql);
    if (!statement) {
      statement = this.db.prepare(sql);
      this.prepared.set(sql, statement);
    }
    return statement;
  }
}
