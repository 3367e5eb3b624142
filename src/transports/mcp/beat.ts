/**
 * Regular signs of life for many running calls from one timer. The interval is cut into slots, and each tick serves
 * one slot, so that a thousand waiting calls neither hold a timer each nor speak up all at the same moment.
 */
const slots = 12;

export const progressEveryMs = 12_000;

export class Beat {
  private readonly ring: Set<() => void>[] = Array.from({ length: slots }, () => new Set());
  private readonly everyMs: number;
  private timer: NodeJS.Timeout | undefined;
  private at = 0;
  private count = 0;

  constructor(everyMs: number = progressEveryMs) {
    this.everyMs = everyMs;
  }

  /** Calls `sign` once per interval, the first time one interval from now, until the returned function is called. */
  add(sign: () => void): () => void {
    const slot = this.ring[this.at]!;
    slot.add(sign);
    this.count++;
    this.timer ??= setInterval(() => this.tick(), this.everyMs / slots).unref();
    return () => {
      if (!slot.delete(sign) || --this.count > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private tick(): void {
    this.at = (this.at + 1) % slots;
    for (const sign of this.ring[this.at]!) sign();
  }
}
