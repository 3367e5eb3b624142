import type { ChatRecord } from '../core/model.ts';
import type { CarryingWindow } from './windows.ts';

/** Where a turn for an agent would be submitted: in its chat, or, while it has none, wherever its window chats. */
export interface Target {
  agent: number;
  window: CarryingWindow;
  chat: ChatRecord | undefined;
}

/** What the wakes need to know about chats. */
export interface ChatBook {
  /** Undefined for an agent that no window carries. */
  target(agent: number): Target | undefined;
  /** All agents that this window carries; those of all windows, if none is named. */
  carriedBy(window?: CarryingWindow): number[];
  /** Nothing runs there and nobody is asked anything. With `ours` the mark of a submitted turn does not count. */
  isFree(target: Target, ours?: boolean): boolean;
  /** A turn was begun there by somebody. */
  isWorking(target: Target): boolean;
  /** On disk before it resolves: hooks of a submitted turn may find no hub to tell. */
  markWaking(target: Target, waking: boolean): Promise<void>;
  /** This chat has taken what was meant for its window: from now on it is that agent. */
  adopt(chat: string, agent: number): Promise<void>;
}
