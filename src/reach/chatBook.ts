import type { ChatRecord } from '../core/model.ts';
import type { Target } from './ladder.ts';

/** What the wakes need to know about chats. */
export interface ChatBook {
  /** Nothing runs there and nobody is asked anything. With `ours` the mark of a submitted turn does not count. */
  isFree(target: Target, ours?: boolean): boolean;
  /** A turn was begun there by somebody. */
  isWorking(target: Target): boolean;
  /** On disk before it resolves: hooks of a submitted turn may find no hub to tell. */
  markWaking(target: Target, waking: boolean): Promise<void>;
  /** This chat has taken what was meant for its window: from now on it is that agent. */
  adopt(chat: string, agent: number): Promise<void>;
  /** The chat that an agent is. */
  holder(agent: number): ChatRecord | undefined;
  all(): ChatRecord[];
}
