import type { Log } from '../log.ts';

const perMinute = 10;

/** Warnings that strangers can cause: a few a minute are written, the rest is counted, so that nobody can flood the log. */
export class BrakedLog {
  private readonly log: Log;
  private minute = -1;
  private written = 0;
  private leftOut = 0;

  constructor(log: Log) {
    this.log = log;
  }

  warn(event: string, fields: Record<string, unknown>): void {
    const minute = Math.floor(performance.now() / 60_000);
    if (minute !== this.minute) {
      this.minute = minute;
      this.written = 0;
    }
    if (this.written >= perMinute) {
      this.leftOut++;
      return;
    }
    this.written++;
    this.log.warn(event, this.leftOut > 0 ? { ...fields, leftOut: this.leftOut } : fields);
    this.leftOut = 0;
  }
}
