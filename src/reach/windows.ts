import type { Probe } from '../core/presence.ts';
import type { AskParams, AskResult, Rung, WakeParams, WakeResult } from '../protocol/reachMessages.ts';

/** A window that puts messages in front of the chats in it, by a connection that is logged in as its agent. */
export interface CarryingWindow {
  id: string;
  /** The agent that the window itself is. */
  home: number;
  rungs: readonly Rung[];
  wake(params: WakeParams, timeoutMs: number): Promise<WakeResult>;
  /** There is no hurry: a person answers. */
  ask(params: AskParams): Promise<AskResult>;
  probe: Probe;
}

/** Which windows are there. A window that comes back takes the place of its former connection. */
export class Windows {
  private readonly byId = new Map<string, CarryingWindow>();

  /** @returns the end of it; false when a newer connection of the same window had taken over. */
  add(window: CarryingWindow): () => boolean {
    this.byId.delete(window.id);
    this.byId.set(window.id, window);
    return () => this.byId.get(window.id) === window && this.byId.delete(window.id);
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
}
