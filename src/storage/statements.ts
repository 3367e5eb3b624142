import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Row } from './rows.ts';

/** Each statement is prepared once, when it is first used. */
export class Statements {
  private readonly db: DatabaseSync;
  private readonly prepared = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.db = db;
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.statement(sql).all(...values);
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.statement(sql).get(...values);
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.statement(sql).run(...values).changes);
  }

  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.statement(sql).run(...values).lastInsertRowid);
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
