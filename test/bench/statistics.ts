export function quantile(sorted: ArrayLike<number>, q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const below = sorted[low] as number;
  const above = sorted[Math.min(low + 1, sorted.length - 1)] as number;
  return below + (above - below) * (at - low);
}

export function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}

/** One window of load: the time of every operation, and how many there were in a second. */
export interface Sample {
  latencies: readonly number[];
  seconds: number;
}

/** The rounds of one thing that was measured. Its figures are medians over the rounds. */
export class Measured {
  readonly p50s: number[] = [];
  readonly p95s: number[] = [];
  readonly rates: number[] = [];

  add({ latencies, seconds }: Sample): void {
    const sorted = Float64Array.from(latencies).sort();
    this.p50s.push(quantile(sorted, 0.5));
    this.p95s.push(quantile(sorted, 0.95));
    this.rates.push(latencies.length / seconds);
  }

  get p50(): number {
    return median(this.p50s);
  }

  get p95(): number {
    return median(this.p95s);
  }

  get rate(): number {
    return median(this.rates);
  }
}

/** How far the rounds lie apart: half of their range, as a share of their median. */
export function spread(rounds: readonly number[]): number {
  return (Math.max(...rounds) - Math.min(...rounds)) / 2 / median(rounds);
}

/** Noise hits all of a round alike, so the ratio is taken within each round, and then the median of those. */
export function ratio(of: readonly number[], ...floors: (readonly number[])[]): number {
  return median(of.map((value, round) => value / floors.reduce((sum, floor) => sum + (floor[round] ?? Number.NaN), 0)));
}
