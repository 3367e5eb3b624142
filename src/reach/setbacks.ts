import type { Target } from './ladder.ts';

const restMs = 20_000;
const restAtMostMs = 600_000;
const hopelessAt = 3;

/** How often a message may be given to one way in vain before the next one has its turn. */
const triesAtMost: Readonly<Record<string, number>> = { turn: 2, typing: 4, input: 2, notification: 1 };

/**
 * What came to nothing, in memory: a way that could not take a message rests, longer each time, and one that took it and
 * brought no proof is given it once more, then it is the next one's.
 */
export class Setbacks {
  private readonly tries = new Map<string, number>();
  private readonly rests = new Map<string, { until: number; times: number }>();

  /** Whether this way has not used up its chances with the message. */
  mayTry(target: Target, seq: number): boolean {
    return (this.tries.get(tryKey(target, seq)) ?? 0) < (triesAtMost[target.rung ?? ''] ?? 0);
  }

  count(target: Target, seqs: Iterable<number>, by = 1): void {
    if (this.tries.size > 10_000) this.tries.clear();
    for (const seq of seqs) {
      const key = tryKey(target, seq);
      this.tries.set(key, (this.tries.get(key) ?? 0) + by);
    }
  }

  /** It has it now: nothing more is to be tried this way. */
  spend(target: Target, seqs: Iterable<number>): void {
    this.count(target, seqs, Infinity);
  }

  isResting(target: Target): boolean {
    return (this.rests.get(restKey(target))?.until ?? 0) > performance.now();
  }

  /** It has come to nothing so often that the next way may be tried as well; it is looked at again all the same. */
  isHopeless(target: Target): boolean {
    return (this.rests.get(restKey(target))?.times ?? 0) >= hopelessAt;
  }

  rest(target: Target): void {
    if (this.rests.size > 10_000) this.rests.clear();
    const times = (this.rests.get(restKey(target))?.times ?? 0) + 1;
    // A sweep comes every half minute: the first rest is shorter than that, so that it looks again.
    const until = performance.now() + Math.min(restMs * 2 ** (times - 1), restAtMostMs);
    this.rests.set(restKey(target), { until, times });
  }

  /** It works again, or somebody has done something about it. */
  wake(agent: number): void {
    for (const key of this.rests.keys()) if (key.startsWith(`${agent} `)) this.rests.delete(key);
  }

  /** As if it had never been tried. */
  forget(agent: number, seqs: Iterable<number>): void {
    const forgotten = new Set(seqs);
    for (const key of this.tries.keys()) {
      const [owner, seq] = key.split(' ', 2);
      if (Number(owner) === agent && forgotten.has(Number(seq))) this.tries.delete(key);
    }
    this.wake(agent);
  }
}

function tryKey({ agent, key }: Target, seq: number): string {
  return `${agent} ${seq} ${key}`;
}

function restKey({ agent, key }: Target): string {
  return `${agent} ${key}`;
}
