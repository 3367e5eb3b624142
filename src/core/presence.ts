import type { Clock } from './clock.ts';
import type { Presence } from './model.ts';

/** How a live connection of an agent answers "are you there?"; undefined where its transport has no way back. */
export type Probe = (signal: AbortSignal) => Promise<void>;

export interface Connection {
  set(state: Exclude<Presence, 'offline'>): void;
  close(): void;
}

interface Live {
  state: Exclude<Presence, 'offline'>;
  probe: Probe | undefined;
  /** Somebody else's connection, who carries the agent. */
  carried: boolean;
}

/** Without a connection of its own, an agent counts as there for this long after its last call. */
const lingerMs = 120_000;

/** Who is there right now. Kept in memory: after a restart everybody has to show up again. */
export class PresenceBoard {
  private readonly clock: Clock;
  private readonly onChange: (agent: number) => void;
  private readonly live = new Map<number, Set<Live>>();
  private readonly seen = new Map<number, number>();
  /** When the last connection of those without one ended. */
  private readonly left = new Map<number, number>();
  private readonly waits = new Map<number, number>();
  private readonly told = new Map<number, Presence>();

  constructor(clock: Clock, onChange: (agent: number) => void) {
    this.clock = clock;
    this.onChange = onChange;
  }

  connect(agent: number, probe?: Probe, { carried = false } = {}): Connection {
    const entry: Live = { state: 'idle', probe, carried };
    const set = this.live.get(agent) ?? new Set();
    this.live.set(agent, set.add(entry));
    this.touch(agent);
    return {
      set: (state) => {
        entry.state = state;
        this.touch(agent);
      },
      close: () => {
        if (!set.delete(entry)) return;
        if (set.size === 0) {
          this.live.delete(agent);
          // It said goodbye: no lingering. But until then it was there.
          this.seen.delete(agent);
          this.left.set(agent, this.clock.now());
        }
        this.settle(agent);
      },
    };
  }

  /** Any call of an agent is a sign of life. */
  touch(agent: number): void {
    this.seen.set(agent, this.clock.now());
    this.left.delete(agent);
    this.settle(agent);
  }

  waiting(agent: number): () => void {
    this.waits.set(agent, (this.waits.get(agent) ?? 0) + 1);
    this.touch(agent);
    return () => {
      const left = (this.waits.get(agent) ?? 1) - 1;
      if (left > 0) this.waits.set(agent, left);
      else this.waits.delete(agent);
      this.touch(agent);
    };
  }

  isWaiting(agent: number): boolean {
    return this.waits.has(agent);
  }

  isConnected(agent: number): boolean {
    return this.live.has(agent);
  }

  /** By a connection of its own, not only by those who carry it. */
  isConnectedItself(agent: number): boolean {
    return [...(this.live.get(agent) ?? [])].some(({ carried }) => !carried);
  }

  probes(agent: number): Probe[] {
    return [...(this.live.get(agent) ?? [])].flatMap((entry) => (entry.probe ? [entry.probe] : []));
  }

  of(agent: number): Presence {
    if (this.waits.has(agent)) return 'waiting';
    const live = this.live.get(agent);
    if (live) {
      const states = [...live].map((entry) => entry.state);
      return states.includes('working') ? 'working' : states.includes('waiting') ? 'waiting' : 'idle';
    }
    return this.clock.now() - (this.seen.get(agent) ?? -lingerMs) < lingerMs ? 'idle' : 'offline';
  }

  lastSeen(agent: number): number | undefined {
    return this.seen.get(agent) ?? this.left.get(agent);
  }

  /** Called now and then: tells about agents that went quiet. */
  sweep(): void {
    for (const agent of this.told.keys()) this.settle(agent);
  }

  private settle(agent: number): void {
    const state = this.of(agent);
    if ((this.told.get(agent) ?? 'offline') === state) return;
    if (state === 'offline') this.told.delete(agent);
    else this.told.set(agent, state);
    this.onChange(agent);
  }
}
