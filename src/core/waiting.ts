import { BusError } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Calls that block until something happens. Waiting holds a closure and one entry in a shared list of deadlines;
 * it reads nothing and removes nothing. A waiter is freed exactly once: by news, by its deadline, or by its caller leaving.
 */
interface Waiter {
  topic: string;
  owner: number;
  deadline: number;
  wake: (reason: WaitEnd) => void;
}

export type WaitEnd = 'news' | 'timeout' | 'gone' | 'stopping';

const tickMs = 250;

export class WaitingRoom {
  private readonly byTopic = new Map<string, Set<Waiter>>();
  private readonly perOwner = new Map<number, number>();
  private count = 0;
  private ticker: ReturnType<typeof setInterval> | undefined;
  private stopped = false;

  get size(): number {
    return this.count;
  }

  wait(topic: string, owner: number, ms: number, signal: AbortSignal): Promise<WaitEnd> {
    if (this.stopped) return Promise.resolve('stopping');
    if (signal.aborted) return Promise.resolve('gone');
    if (this.count >= limits.waitsInAll || (this.perOwner.get(owner) ?? 0) >= limits.waitsPerAgent) {
      throw new BusError('too-many-waits', 'Too many calls are waiting already.', {
        next: 'Let one waiting call return before you start the next, or call without wait_seconds.',
      });
    }
    return new Promise((resolve) => {
      const leave = (): void => waiter.wake('gone');
      const waiter: Waiter = {
        topic,
        owner,
        deadline: performance.now() + ms,
        wake: (reason) => {
          if (!this.remove(waiter)) return;
          signal.removeEventListener('abort', leave);
          resolve(reason);
        },
      };
      this.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  wake(topic: string): void {
    const waiters = this.byTopic.get(topic);
    if (waiters) for (const waiter of [...waiters]) waiter.wake('news');
  }

  /** Ends every wait; later ones end at once. */
  stop(): void {
    this.stopped = true;
    for (const waiters of [...this.byTopic.values()]) for (const waiter of [...waiters]) waiter.wake('stopping');
  }

  private add(waiter: Waiter): void {
    const set = this.byTopic.get(waiter.topic) ?? new Set();
    this.byTopic.set(waiter.topic, set.add(waiter));
    this.perOwner.set(waiter.owner, (this.perOwner.get(waiter.owner) ?? 0) + 1);
    this.count++;
    this.ticker ??= setInterval(() => this.tick(), tickMs);
  }

  private remove(waiter: Waiter): boolean {
    const set = this.byTopic.get(waiter.topic);
    if (!set?.delete(waiter)) return false;
    if (set.size === 0) this.byTopic.delete(waiter.topic);
    const left = (this.perOwner.get(waiter.owner) ?? 1) - 1;
    if (left > 0) this.perOwner.set(waiter.owner, left);
    else this.perOwner.delete(waiter.owner);
    this.count--;
    if (this.count === 0) {
      clearInterval(this.ticker);
      this.ticker = undefined;
    }
    return true;
  }

  private tick(): void {
    const now = performance.now();
    for (const waiters of [...this.byTopic.values()]) {
      for (const waiter of [...waiters]) if (waiter.deadline <= now) waiter.wake('timeout');
    }
  }
}

export const mailTopic = (agent: number): string => `mail ${agent}`;
export const requestTopic = (seq: number): string => `request ${seq}`;
