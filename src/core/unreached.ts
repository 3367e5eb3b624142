import type { Clock } from './clock.ts';
import type { MessageRecord } from './model.ts';
import type { Notices } from './notices.ts';
import type { Store } from './ports.ts';
import type { PresenceBoard } from './presence.ts';
import { Changes, type Receipts } from './receipts.ts';
import type { Roster } from './roster.ts';
import type { Views } from './views.ts';

interface UnreachedParts {
  store: Store;
  clock: Clock;
  roster: Roster;
  presence: PresenceBoard;
  views: Views;
  notices: Notices;
  receipts: Receipts;
}

/** Rows looked at in one go, however many requests are pending. */
const atOnce = 200;

/** Tells the senders of requests whose recipient has been away for long, once each; the requests stay open. */
export class Unreached {
  private readonly parts: UnreachedParts;
  private readonly started: number;
  private after = 0;
  /** How long an agent has to be away. */
  awayMs = 10 * 60_000;

  constructor(parts: UnreachedParts) {
    this.parts = parts;
    this.started = parts.clock.now();
  }

  /** Looks at some of them; the next call goes on from there. */
  async sweep(): Promise<void> {
    const { store, clock, receipts } = this.parts;
    const found = store.unseenRequests(this.after, clock.now() - this.awayMs, atOnce);
    const last = found.at(-1)?.seq ?? 0;
    this.after = found.length < atOnce ? 0 : found[0]?.seq === last ? last : last - 1;
    const due = found.filter(({ seq, agent }) => this.isAway(agent) && this.isNews(seq, agent));
    if (due.length === 0) return;
    const changes = new Changes();
    await store.write((tx) => {
      changes.clear();
      for (const { seq, agent } of due) {
        const message = tx.message(seq);
        if (message && tx.request(seq)?.state === 'pending' && tx.delivery(seq, agent)?.phase === 0)
          this.write(tx, changes, message, agent);
      }
    }, 'after-notes');
    receipts.publish(changes);
  }

  private isNews(seq: number, agent: number): boolean {
    const { store, notices } = this.parts;
    const sender = store.message(seq)?.sender;
    return sender !== undefined && notices.isReader(sender) && !notices.wasUnreached(store, seq, agent);
  }

  private write(
    tx: Parameters<Notices['unreached']>[0],
    changes: Changes,
    message: MessageRecord,
    agent: number,
  ): void {
    const { roster, notices } = this.parts;
    // It may have come while this waited for its turn.
    if (this.isAway(agent)) notices.unreached(tx, changes, message, roster.get(agent), this.lastSeen(agent));
  }

  /**
   * Nobody is there, nothing carries its chats, and that for long enough. After a start of the hub everybody has as
   * much time again to show up: it is not known who was there meanwhile.
   */
  private isAway(agent: number): boolean {
    const { roster, presence, views, notices, clock } = this.parts;
    if (roster.get(agent).removed || !notices.isReader(agent)) return false;
    if (presence.of(agent) !== 'offline' || views.carried(agent) !== undefined) return false;
    return clock.now() - Math.max(this.lastSeen(agent), this.started) >= this.awayMs;
  }

  private lastSeen(agent: number): number {
    return this.parts.presence.lastSeen(agent) ?? this.parts.roster.get(agent).lastSeen;
  }
}
