/**
 * Time for the bus. `now` never runs backwards and does not follow a wall clock that somebody sets while the hub
 * runs, so a jump by a day expires nothing and keeps the order; a machine that slept is caught up by its uptime.
 */
export interface Clock {
  now(): number;
}

export interface ClockSources {
  wall(): number;
  /** Milliseconds that pass while the machine is awake. */
  monotonic(): number;
  /** Milliseconds since boot, sleep included. */
  uptime(): number;
}

const smallDrift = 2_000;

export class SteadyClock implements Clock {
  private readonly sources: ClockSources;
  private anchorWall: number;
  private anchorMonotonic: number;
  private anchorUptime: number;
  private last = 0;

  constructor(sources: ClockSources, notBefore = 0) {
    this.sources = sources;
    this.anchorWall = Math.max(sources.wall(), notBefore);
    this.anchorMonotonic = sources.monotonic();
    this.anchorUptime = sources.uptime();
  }

  now(): number {
    const at = Math.floor(this.anchorWall + this.sources.monotonic() - this.anchorMonotonic);
    if (at > this.last) this.last = at;
    return this.last;
  }

  /** Called now and then. Follows small corrections and sleep; ignores (and reports) a clock that was set. */
  settle(): { jumpedBy: number } | undefined {
    const wall = this.sources.wall();
    const drift = wall - this.now();
    const slept = this.sources.uptime() - this.anchorUptime - (this.sources.monotonic() - this.anchorMonotonic);
    const expected = slept > smallDrift ? slept : 0;
    if (Math.abs(drift - expected) > smallDrift) return { jumpedBy: drift - expected };
    this.anchorWall = wall;
    this.anchorMonotonic = this.sources.monotonic();
    this.anchorUptime = this.sources.uptime();
    return undefined;
  }
}
