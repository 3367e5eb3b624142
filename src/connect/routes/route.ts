/** What a session does, as the route itself sees it: right before anything is put in front of it, it is looked at again. */
export type SessionState = 'idle' | 'working' | 'approval' | 'unknown';

/**
 * One way by which a product lets others begin a turn in a session that waits for its person. Each is a file of its own
 * beside this one; who may be woken and when is the hub's to say.
 */
export interface WakeRoute {
  /** In a few words, as receipts name it. */
  readonly name: string;
  /** Whether the product offers this way, here and now. */
  detect(): Promise<boolean>;
  /** What the session does; `unknown` where this way takes a message in any state; undefined where it can't reach it. */
  canReach(chat: string): Promise<SessionState | undefined>;
  /** Hands the text over as the session's next turn. Where it throws, nobody has said that it was taken. */
  deliver(chat: string, text: string): Promise<void>;
  /** Whether the product itself shows that a turn with this mark in it has begun. Absent where only hooks can tell. */
  prove?(chat: string, mark: string): Promise<boolean>;
}
