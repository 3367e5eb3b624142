import { Worker } from 'node:worker_threads';
import { BusError } from '../core/errors.ts';
import type { Bus } from '../core/bus.ts';
import type { SteadyClock } from '../core/clock.ts';
import type { SqliteStore } from '../storage/sqliteStore.ts';
import type { HubLock } from './lock.ts';
import type { Log } from './log.ts';
import type { Settings } from './settings.ts';

const tickMs = 5_000;
const noticesEveryMs = 30_000;
const retentionEveryMs = 10 * 60_000;
const checkEveryMs = 7 * 24 * 3600_000;

/** What the hub does by itself while it runs: ends what has expired, tells who waits in vain, forgets what is old, checks the database, leaves when nobody is there. */
export class Upkeep {
  private readonly parts: UpkeepParts;
  private readonly ticker: NodeJS.Timeout;
  private readonly noticeTicker: NodeJS.Timeout;
  private noticing = false;
  private expiryTimer: NodeJS.Timeout | undefined;
  private retentionDue: number;
  private quietSince: number;
  private closed = false;
  checking = false;

  constructor(parts: UpkeepParts) {
    this.parts = parts;
    this.quietSince = performance.now();
    this.retentionDue = performance.now() + 30_000;
    this.ticker = setInterval(() => this.tick(), tickMs);
    const { unreached, tells } = parts.bus;
    unreached.awayMs = parts.settings.reach.unreachableMinutes * 60_000;
    tells.spanMs = parts.settings.reach.tellHours * 3600_000;
    // Often enough for the shorter of the two to be told about in time.
    const every = Math.min(noticesEveryMs, unreached.awayMs / 4, tells.spanMs / 4);
    this.noticeTicker = setInterval(() => void this.notice(), Math.max(every, 50)).unref();
    parts.bus.feed.subscribe((event) => {
      if (event.type === 'message' && event.message.expiresAt !== null) this.armExpiry(event.message.expiresAt);
    });
    void this.expire();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.ticker);
    clearInterval(this.noticeTicker);
    clearTimeout(this.expiryTimer);
  }

  /** Somebody came or went. */
  noteActivity(): void {
    this.quietSince = performance.now();
  }

  /** Reads the whole database in a thread of its own, on a connection of its own: nobody waits for it. */
  checkIntegrity(force: boolean): void {
    const { store, clock, log } = this.parts;
    if (!force && clock.now() - Number(store.meta('checked_at') ?? 0) < checkEveryMs) return;
    this.checking = true;
    const worker = new Worker(this.parts.integrityWorker, { workerData: { path: this.parts.databasePath } });
    worker.unref();
    worker.once('message', (problems: string[]) => {
      this.checking = false;
      if (this.closed) return;
      if (problems.length > 0) {
        store.fail(
          new BusError(
            'database-damaged',
            `The database is damaged: ${problems.slice(0, 3).join('; ').slice(0, 300)}.`,
            {
              next: 'Nothing was deleted. Run `agent-bus stop`, then `agent-bus repair`: it keeps the damaged file and copies out all that can be read.',
            },
          ),
        );
      } else {
        log.info('database-checked');
        // If the note is lost, the next start checks once more.
        store.remember('checked_at', String(clock.now())).catch(() => undefined);
      }
    });
    worker.once('error', (error) => {
      this.checking = false;
      log.warn('database-check-failed', { error: String(error) });
    });
  }

  private tick(): void {
    const { bus, clock, log, lock, settings } = this.parts;
    const jump = clock.settle();
    if (jump) log.warn('clock-jumped', { byMs: jump.jumpedBy });
    bus.presence.sweep();
    if (!lock.intact()) {
      log.error('lock-lost');
      this.parts.stop('lock-lost');
      return;
    }
    if (performance.now() >= this.retentionDue) this.retain();
    if (this.parts.clients() > 0) return this.noteActivity();
    const quietMinutes = (performance.now() - this.quietSince) / 60_000;
    if (settings.idleMinutes > 0 && quietMinutes >= settings.idleMinutes) this.parts.stop('idle');
  }

  private retain(): void {
    const { store, clock, settings, log } = this.parts;
    const { days, megabytes } = settings.retention;
    let more = false;
    try {
      more = store.retain({
        olderThan: days > 0 ? clock.now() - days * 24 * 3600_000 : 0,
        maxBytes: megabytes * 1024 * 1024,
      });
    } catch (error) {
      log.error('retention-failed', { error: String(error) });
    }
    this.retentionDue = performance.now() + (more ? 0 : retentionEveryMs);
  }

  private async notice(): Promise<void> {
    if (this.noticing || this.closed) return;
    this.noticing = true;
    try {
      await this.parts.bus.unreached.sweep();
      await this.parts.bus.tells.sweep();
    } catch (error) {
      if (!this.closed) this.parts.log.error('notices-failed', { error: String(error) });
    } finally {
      this.noticing = false;
    }
  }

  private armExpiry(at: number | undefined): void {
    if (at === undefined || this.closed) return;
    // Node's timers hold 24 days at most; waking early does no harm, since every turn looks again.
    const delay = Math.min(Math.max(at - this.parts.clock.now(), 0) + 1, 2 ** 31 - 1);
    clearTimeout(this.expiryTimer);
    this.expiryTimer = setTimeout(() => void this.expire(), delay).unref();
  }

  private async expire(): Promise<void> {
    try {
      this.armExpiry(await this.parts.bus.receipts.expireDue());
    } catch (error) {
      if (this.closed) return;
      this.parts.log.error('expiry-failed', { error: String(error) });
      this.armExpiry(this.parts.clock.now() + 30_000);
    }
  }
}

export interface UpkeepParts {
  bus: Bus;
  store: SqliteStore;
  clock: SteadyClock;
  log: Log;
  lock: HubLock;
  settings: Settings;
  databasePath: string;
  integrityWorker: URL | string;
  /** How many clients are connected. */
  clients: () => number;
  stop: (reason: string) => void;
}
