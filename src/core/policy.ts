import type { Clock } from './clock.ts';
import { BusError } from './errors.ts';
import type { Tunables } from './limits.ts';

/** The brakes: how much one sender may send, how much may wait for one reader, how long a chain of replies may get. */
export class Policy {
  private readonly tunables: Tunables;
  private readonly clock: Clock;
  private readonly unreadAtMost = new Map<number, number>();
  private readonly buckets = new Map<number, { left: number; at: number }>();

  constructor(tunables: Tunables, clock: Clock) {
    this.tunables = tunables;
    this.clock = clock;
  }

  /** Takes one message out of the sender's allowance. */
  spend(sender: number): void {
    const { rateBurst, ratePerSecond } = this.tunables;
    const now = this.clock.now();
    const bucket = this.buckets.get(sender) ?? { left: rateBurst, at: now };
    bucket.left = Math.min(rateBurst, bucket.left + ((now - bucket.at) / 1000) * ratePerSecond);
    bucket.at = now;
    this.buckets.set(sender, bucket);
    if (bucket.left < 1) {
      const seconds = Math.max(1, Math.ceil((1 - bucket.left) / ratePerSecond));
      throw new BusError('rate-limited', `You have sent more than ${rateBurst} messages in a short time.`, {
        next: `Wait ${seconds} s, and put several small messages into one.`,
      });
    }
    bucket.left -= 1;
  }

  /**
   * Counting a full mailbox is dear, so it is counted only when it could be full: reading makes room, and only sending
   * fills it, so the last count plus what was sent since is never too low.
   */
  checkMailbox(agent: number, name: string, countUnread: (cap: number) => number): void {
    const { mailbox } = this.tunables;
    let atMost = (this.unreadAtMost.get(agent) ?? mailbox) + 1;
    if (atMost > mailbox) atMost = countUnread(mailbox) + 1;
    if (atMost > mailbox) {
      throw new BusError('mailbox-full', `"${name}" has ${mailbox} unread messages; no more are taken for it.`, {
        next: 'Nothing was sent. Ask the person to look at that agent, or try again after it has read its inbox.',
      });
    }
    this.unreadAtMost.set(agent, atMost);
  }

  checkHops(hop: number): void {
    if (hop > this.tunables.hops) {
      throw new BusError(
        'hop-limit',
        `This chain of replies is ${hop} messages long; the limit is ${this.tunables.hops}.`,
        {
          next: 'Stop here. Tell your user what was found; a message from the person starts a new chain.',
        },
      );
    }
  }
}
