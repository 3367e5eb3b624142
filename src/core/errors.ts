/**
 * The one error that crosses a boundary. Its code is stable and machine-readable, its message says what happened,
 * `next` says what to do about it. Each transport maps it once; anything else that is thrown is our own fault
 * and is reported as `internal`.
 */
export type ErrorCode =
  // the caller's input
  | 'invalid-input'
  | 'invalid-name'
  | 'too-large'
  | 'too-deep'
  // things that are not there, or not for this caller: the two look alike on purpose
  | 'unknown-agent'
  | 'unknown-channel'
  | 'unknown-message'
  | 'unknown-conversation'
  | 'unknown-tool'
  // conflicts with what is there
  | 'name-taken'
  | 'name-reserved'
  | 'channel-taken'
  | 'not-a-member'
  | 'key-conflict'
  | 'already-ended'
  | 'agent-removed'
  | 'door-taken'
  // limits
  | 'rate-limited'
  | 'mailbox-full'
  | 'hop-limit'
  | 'too-many-agents'
  | 'too-many-waits'
  | 'slow-reader'
  // trust
  | 'unauthorized'
  | 'forbidden'
  | 'unsafe-folder'
  | 'refused-address'
  // agents elsewhere
  | 'unreachable'
  | 'bad-card'
  | 'remote-failed'
  // the hub and its disk
  | 'hub-unavailable'
  | 'hub-stopping'
  | 'hub-version'
  | 'bad-settings'
  | 'bad-data'
  | 'database-damaged'
  | 'database-newer'
  | 'disk-full'
  | 'disk-failed'
  | 'cancelled'
  | 'usage'
  | 'internal';

export interface ErrorShape {
  code: ErrorCode;
  message: string;
  next: string;
}

export class BusError extends Error {
  readonly code: ErrorCode;
  readonly next: string;

  constructor(code: ErrorCode, message: string, options: { next: string; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BusError';
    this.code = code;
    this.next = options.next;
  }

  toShape(): ErrorShape {
    return { code: this.code, message: this.message, next: this.next };
  }
}

/** What a boundary tells its caller: our own failures never look like the caller's fault and leak no detail. */
export function errorShape(error: unknown): ErrorShape {
  if (error instanceof BusError) return error.toShape();
  return {
    code: 'internal',
    message: 'The hub failed on this call.',
    next: 'Try once more; if it happens again, look at `agent-bus logs`.',
  };
}
