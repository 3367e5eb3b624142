import type { Presence } from './model.ts';

/** What is known of one recipient when a message has just been stored for it. */
export interface Outlook {
  presence: Presence;
  /** The ways by which this message would get to it, best first. */
  reach: string[];
  last_seen?: string;
  /** Why it is not woken for it, where it could be. */
  held?: string;
}
