/**
 * One HTTP request and its answer, between Node's objects and the web-standard ones of the SDK. It travels with the
 * call as its auth info, so that a handler can learn when the answer has really left.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo, RequestId, ServerContext } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/model.ts';
import type { CallWire } from './mcpServer.ts';

export class Exchange implements CallWire {
  readonly caller: Caller;
  private readonly res: ServerResponse;
  private handedOver: (() => void)[] | undefined;
  private letGo: ((id: RequestId) => void) | undefined;

  constructor(res: ServerResponse, caller: Caller) {
    this.caller = caller;
    this.res = res;
    const socket = res.socket;
    // First in line: Node's own listener may destroy the socket. A destroyed socket flushes its writes into nothing
    // and still says 'finish', so that alone would be no proof.
    res.prependListener('finish', () => {
      if (socket && !socket.destroyed) for (const done of this.handedOver ?? []) done();
      this.handedOver = undefined;
    });
  }

  get authInfo(): AuthInfo {
    return { token: '', clientId: String(this.caller.agent), scopes: [], extra: { exchange: this } };
  }

  onHandedOver(_id: RequestId, done: () => void): void {
    if (!this.res.destroyed) (this.handedOver ??= []).push(done);
  }

  abandon(id: RequestId): void {
    this.letGo?.(id);
  }

  onAbandoned(letGo: (id: RequestId) => void): void {
    this.letGo = letGo;
  }

  /** Calls `gone` if the client leaves before it has the whole answer, and `ended` in any case. */
  whenOver(over: { gone?: () => void; ended?: () => void }): void {
    const close = (): void => {
      if (!this.res.writableFinished || this.res.errored) over.gone?.();
      over.ended?.();
    };
    if (this.res.destroyed) queueMicrotask(close);
    else this.res.once('close', close);
  }
}

export function exchangeOf(ctx: ServerContext): Exchange | undefined {
  const exchange = ctx.http?.authInfo?.extra?.['exchange'];
  return exchange instanceof Exchange ? exchange : undefined;
}

/**
 * The parts of a web request that the SDK reads. A waiting call keeps it, and a real Request with its Headers, URL and
 * dependent signal would double what the call costs. The body stays out: it has been read and parsed under the guard's
 * bounds, and goes along beside the request.
 */
export function webRequest(req: IncomingMessage, signal?: AbortSignal): Request {
  return new HeadOfRequest(req, signal) as unknown as Request;
}

class HeadOfRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeadersOfRequest;
  readonly signal: AbortSignal | undefined;

  constructor(req: IncomingMessage, signal: AbortSignal | undefined) {
    this.method = req.method ?? 'GET';
    this.url = req.url ?? '/';
    this.headers = new HeadersOfRequest(req.headers);
    this.signal = signal;
  }
}

class HeadersOfRequest {
  private readonly values: IncomingMessage['headers'];

  constructor(values: IncomingMessage['headers']) {
    this.values = values;
  }

  get(name: string): string | null {
    const value = this.values[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}

/**
 * Writes a web response to Node's. The head of a stream goes out at once even if no event is there yet: clients give
 * up on a call whose first byte takes too long (the SDK's own adapter holds it back). An answer that is ready in the
 * same turn leaves as one packet.
 */
export function writeResponse(response: Response, res: ServerResponse): void {
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    if (name !== 'connection') headers[name] = value;
  });
  res.writeHead(response.status, headers);
  if (response.body === null) return void res.end();
  pump(response.body.getReader(), res);
  setImmediate(() => {
    if (!res.writableEnded && !res.destroyed) res.flushHeaders();
  });
}

function pump(reader: ReadableStreamDefaultReader<Uint8Array>, res: ServerResponse): void {
  const socket = res.socket;
  let over = false;
  const next = (): void => void reader.read().then(write, fail);
  const write = ({ done, value }: { done: boolean; value?: Uint8Array | undefined }): void => {
    if (over) return;
    if (done) return void res.end();
    // The socket, not the response: a corked response sends its end before what it has corked (Node 24).
    socket?.cork();
    const room = res.write(value);
    process.nextTick(() => socket?.uncork());
    if (room) next();
    else res.once('drain', next);
  };
  const fail = (): void => void res.destroy();
  res.once('close', () => {
    over = true;
    reader.cancel().catch(() => {});
  });
  next();
}
