/** The calls of one connection, in both directions. */
import { BusError } from '../core/errors.ts';
import { cancelled } from './wireErrors.ts';
import type { Id } from './wireMessage.ts';

export interface RequestContext {
  /** Aborted when the caller cancels or its socket closes. */
  readonly signal: AbortSignal;
  /** Runs once the result was handed to the operating system: not for an error, a cancelled call or a lost socket. */
  afterWritten(callback: () => void): void;
}

/** A request handled here. It is answered at most once, and holds its slot until its handler has ended. */
export class Incoming implements RequestContext {
  readonly id: Id;
  readonly method: string;
  answered = false;
  written: (() => void)[] | undefined;
  private controller: AbortController | undefined;
  private reason: BusError | undefined;

  constructor(id: Id, method: string) {
    this.id = id;
    this.method = method;
  }

  /** Made when first read: most handlers never look at it, and a controller costs more than the rest of a request. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  afterWritten(callback: () => void): void {
    (this.written ??= []).push(callback);
  }

  abort(reason: BusError): void {
    this.answered = true;
    this.reason = reason;
    this.controller?.abort(reason);
  }

  /** A handler that ends because it was told to has not failed. */
  stoppedBy(error: unknown): boolean {
    return this.reason !== undefined && error instanceof Error && error.name === 'AbortError';
  }
}

interface Abandons {
  abandon(id: number, error: BusError): void;
}

/** A request sent from here. Whoever takes it out of `pending` settles it, so it settles once. */
export class Outgoing {
  readonly peer: Abandons;
  readonly id: number;
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: BusError) => void;
  private signal: AbortSignal | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(peer: Abandons, id: number, method: string, resolve: Outgoing['resolve'], reject: Outgoing['reject']) {
    this.peer = peer;
    this.id = id;
    this.method = method;
    this.resolve = resolve;
    this.reject = reject;
  }

  watch(signal: AbortSignal | undefined, timeoutMs: number | undefined): void {
    this.signal = signal;
    signal?.addEventListener('abort', this, { once: true });
    if (timeoutMs !== undefined) this.timer = setTimeout(Outgoing.late, timeoutMs, this, timeoutMs).unref();
  }

  release(): void {
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this);
  }

  /** The abort listener: the call itself, so that no closure is made for it. */
  handleEvent(): void {
    this.peer.abandon(this.id, cancelled(this.signal?.reason));
  }

  private static late(this: void, call: Outgoing, timeoutMs: number): void {
    const error = new BusError('hub-unavailable', `"${call.method}" was not answered within ${timeoutMs} ms.`, {
      next: 'Try again with the same key, since it may have been done all the same.',
    });
    call.peer.abandon(call.id, error);
  }
}
