/**
 * Mail on its way out. It is under way from the moment it is taken; then exactly one of `arrived` and `lost` is called,
 * once: after the first it is read, after the second it is unread again, as if it had never been taken.
 */
export interface Handover {
  /** As JSON, oldest first; may be none. */
  letters: readonly string[];
  /** The connection took it; whether its reader did is not known yet. */
  written(): void;
  arrived(): void;
  lost(): void;
}

/** What stands behind the broker's door. Names are as the clients spell them. */
export interface BrokerHost {
  /** Messages that wait, by mailbox, and mailboxes that somebody waits at. */
  status(): ReadonlyMap<string, number>;
  /** Resolves when the message is on disk. */
  post(from: string, to: string, msg: string): Promise<void>;
  /** As much as fits into one reply. */
  fetch(mailbox: string): Promise<Handover>;
  /** One letter, or undefined when none has come in time. */
  wait(mailbox: string, seconds: number, signal: AbortSignal): Promise<Handover | undefined>;
}
