import type { CarryingWindow } from './carrier.ts';

/** Which windows are there, and which terminals are in them. A window that comes back takes the place of its former connection. */
export class Windows {
  private readonly byId = new Map<string, CarryingWindow>();
  private readonly terminals = new Map<string, ReadonlySet<number>>();

  /** @returns the end of it; false when a newer connection of the same window had taken over. */
  add(window: CarryingWindow): () => boolean {
    this.byId.delete(window.id);
    this.byId.set(window.id, window);
    return () => {
      if (this.byId.get(window.id) !== window) return false;
      this.terminals.delete(window.id);
      return this.byId.delete(window.id);
    };
  }

  get(id: string): CarryingWindow | undefined {
    return this.byId.get(id);
  }

  /** The window that is this agent; the one that came last, should there be two. */
  ofHome(agent: number): CarryingWindow | undefined {
    return this.all().findLast((window) => window.home === agent);
  }

  all(): CarryingWindow[] {
    return [...this.byId.values()];
  }

  /** The processes that its terminals have started. */
  setTerminals(id: string, pids: readonly number[]): void {
    if (this.byId.has(id)) this.terminals.set(id, new Set(pids));
  }

  /** The terminal that one of these processes is, and the window that it is in. */
  terminalOf(pids: readonly number[]): { window: CarryingWindow; pid: number } | undefined {
    for (const window of this.all()) {
      const pid = pids.find((candidate) => this.terminals.get(window.id)?.has(candidate));
      if (pid !== undefined) return { window, pid };
    }
    return undefined;
  }
}
