import type { Clock } from './clock.ts';
import { BusError } from './errors.ts';
import type { EventFeed } from './events.ts';
import { limits } from './limits.ts';
import type { AgentRecord, Caller, MessageRecord, TellRecord } from './model.ts';
import { messageId } from './model.ts';
import type { Notices } from './notices.ts';
import { goneText, idleText, lapsedText } from './noticeText.ts';
import type { Store } from './ports.ts';
import type { PresenceBoard } from './presence.ts';
import { Changes, type Receipts } from './receipts.ts';
import type { Roster } from './roster.ts';
import { isoTime } from './views.ts';

/** What somebody will be told, as they see it: when this agent is idle, or when this request has ended. */
export interface TellView {
  idle?: string;
  ended?: string;
  until: string;
}

interface TellsParts {
  store: Store;
  clock: Clock;
  feed: EventFeed;
  roster: Roster;
  presence: PresenceBoard;
  notices: Notices;
  receipts: Receipts;
  hopOf: (agent: number) => number;
}

/**
 * "Tell me when": each wish is on disk, is told once as a notice in the transaction that takes it away, and lapses after
 * a day with a word. What is so already is said at once, and nothing is kept. How requests end is told where they end.
 */
export class Tells {
  private readonly parts: TellsParts;
  /** Agents that somebody waits for: most changes of presence concern nobody. */
  private readonly watched = new Set<number>();
  /** After how long a wish lapses. */
  spanMs = 24 * 3600_000;
  /** Known to be idle, which is more than not being at work: whoever is away is not idle. */
  isIdle: (agent: number) => boolean;

  constructor(parts: TellsParts) {
    this.parts = parts;
    const { presence, feed } = parts;
    this.isIdle = (agent) => presence.isConnected(agent) && presence.of(agent) === 'idle';
    feed.subscribe((event) => {
      if (event.type === 'presence') this.look(event.agent);
    });
  }

  load(): void {
    for (const { what, about } of this.parts.store.tells()) if (what === 'idle') this.watched.add(about);
  }

  /** @returns whether the caller will be told; not if the agent is idle already. */
  async whenIdle(caller: Caller, agent: AgentRecord, on: boolean): Promise<boolean> {
    if (!on) return this.drop(caller, 'idle', agent.id);
    if (agent.id === caller.agent) throw aboutYourself();
    if (!this.parts.notices.isReader(agent.id)) {
      throw new BusError(
        'invalid-input',
        `Nobody here knows when "${agent.name}" is idle: it is no client of this bus.`,
        {
          next: 'Send it a message; status tells how far that got.',
        },
      );
    }
    if (this.isIdle(agent.id)) {
      await this.drop(caller, 'idle', agent.id);
      return false;
    }
    await this.put(caller, 'idle', agent.id);
    this.watched.add(agent.id);
    // It may have become idle while that was being stored.
    this.look(agent.id);
    return true;
  }

  /** @returns whether the caller will be told; not if it has ended, and not its sender, who hears anyway. */
  async whenEnded(caller: Caller, request: MessageRecord, on: boolean): Promise<boolean> {
    if (!on) return this.drop(caller, 'ended', request.seq);
    if (request.kind !== 'request') {
      throw new BusError('invalid-input', `${messageId.format(request.seq)} is no request: nobody has to answer it.`, {
        next: 'Give the id of a request; status without an id lists yours.',
      });
    }
    if (request.sender === caller.agent || !this.isPending(request.seq)) return false;
    await this.put(caller, 'ended', request.seq);
    return this.has(caller.agent, 'ended', request.seq);
  }

  has(agent: number, what: TellRecord['what'], about: number): boolean {
    return this.parts.store.tellsOf(agent).some((tell) => tell.what === what && tell.about === about);
  }

  list(agent: number): TellView[] {
    return this.parts.store.tellsOf(agent).map((tell) => ({
      ...(tell.what === 'idle' ? { idle: this.nameOf(tell.about) } : { ended: messageId.format(tell.about) }),
      until: isoTime(tell.until),
    }));
  }

  /** The agent may have become idle. */
  look(agent: number): void {
    if (!this.watched.has(agent) || !this.isIdle(agent)) return;
    this.watched.delete(agent);
    void this.fire(
      (store) => store.tellsAbout('idle', agent),
      () => idleText(this.nameOf(agent)),
    ).catch(() => this.watched.add(agent));
  }

  /** The agent has left the bus: it will not be idle any more, and need not be told anything. */
  async gone(agent: number): Promise<void> {
    this.watched.delete(agent);
    await this.fire(
      (store) => store.tellsAbout('idle', agent),
      () => goneText(this.nameOf(agent)),
    );
    await this.fire(
      (store) => store.tellsOf(agent),
      () => '',
    );
  }

  /** Ends what has waited too long, and looks again at what no event told of. */
  async sweep(): Promise<void> {
    const all = this.parts.store.tells();
    if (all.length === 0) return;
    const now = this.parts.clock.now();
    for (const tell of all) {
      if (tell.what === 'idle') this.watched.add(tell.about);
      if (tell.until <= now) {
        await this.fire(
          () => [tell],
          () => lapsedText(this.whatOf(tell), this.spanMs / 3600_000),
        );
      }
    }
    for (const agent of [...this.watched]) this.look(agent);
  }

  private async fire(find: (store: Store) => TellRecord[], text: (tell: TellRecord) => string): Promise<void> {
    const { store, notices, receipts } = this.parts;
    if (find(store).length === 0) return;
    const changes = new Changes();
    await store.write((tx) => {
      changes.clear();
      for (const tell of find(store)) {
        if (!tx.deleteTell(tell.id) || !notices.isReader(tell.agent)) continue;
        notices.write(tx, changes, { to: tell.agent, text: text(tell), hop: tell.hop });
      }
    });
    receipts.publish(changes);
  }

  private async put({ agent }: Caller, what: TellRecord['what'], about: number): Promise<void> {
    const { store, clock, hopOf } = this.parts;
    if (store.tellsOf(agent).length >= limits.tells && !this.has(agent, what, about)) {
      throw new BusError('too-many-waits', `You wait for ${limits.tells} things already.`, {
        next: 'status without an id lists them; take some back with tell: false.',
      });
    }
    const at = clock.now();
    const hop = hopOf(agent);
    await store.write((tx) => {
      if (what === 'idle' || tx.request(about)?.state === 'pending')
        tx.putTell({ agent, what, about, hop, at, until: at + this.spanMs });
    });
  }

  private async drop({ agent }: Caller, what: TellRecord['what'], about: number): Promise<false> {
    await this.parts.store.write((tx) => {
      for (const tell of tx.tellsOf(agent)) if (tell.what === what && tell.about === about) tx.deleteTell(tell.id);
    });
    return false;
  }

  private isPending(seq: number): boolean {
    return this.parts.store.request(seq)?.state === 'pending';
  }

  private whatOf({ what, about }: TellRecord): string {
    return what === 'idle' ? `${this.nameOf(about)} is idle` : `request ${messageId.format(about)} has ended`;
  }

  private nameOf(agent: number): string {
    return this.parts.roster.get(agent).name;
  }
}

function aboutYourself(): BusError {
  return new BusError('invalid-input', 'You can’t wait for yourself to be idle.', { next: 'Name another agent.' });
}
