import type { Probe } from '../core/presence.ts';
import type { AskParams, AskResult, Rung, SessionParams, WakeParams, WakeResult } from '../protocol/reachMessages.ts';

/** Whoever puts messages in front of agents, by a connection to this hub: a window, or one session of a product. */
export interface Carrier {
  id: string;
  /** What it can do, best first. */
  rungs: readonly Rung[];
  wake(params: WakeParams, timeoutMs: number): Promise<WakeResult>;
  probe: Probe;
}

/** A window carries the chats that are in it, by a connection that is logged in as its agent. */
export interface CarryingWindow extends Carrier {
  /** The agent that the window itself is. */
  home: number;
  /** There is no hurry: a person answers. */
  ask(params: AskParams): Promise<AskResult>;
}

/** What carries a session that is in no window: a waiting process, an extension, the bridge that its product has started. */
export interface SessionCarrier extends Carrier {
  session: SessionParams;
  /** It is not needed any more. */
  leave(why: string): void;
}
