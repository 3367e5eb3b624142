/** JSON-RPC 2.0 over one socket, the same on both ends: either side may send requests. */
import type { Duplex } from 'node:stream';
import { BusError, errorShape } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { Incoming, Outgoing, type RequestContext } from './calls.ts';
import { parseJson } from './depth.ts';
import { FrameDecoder, defaultMaxFrame } from './frames.ts';
import {
  busError,
  cancelled,
  fromWire,
  internalError,
  invalidRequest,
  lost,
  notJsonRpc,
  parseError,
  requestCancelled,
  slowReader,
  tooManyCalls,
  UnknownMethod,
  wireCode,
} from './wireErrors.ts';
import {
  callJson,
  idJson,
  isId,
  isMessage,
  isObject,
  isThenable,
  stringify,
  type Id,
  type Message,
} from './wireMessage.ts';

export interface PeerHandlers {
  /** Throws `UnknownMethod` for a method it does not have. */
  onRequest?(method: string, params: unknown, context: RequestContext): unknown;
  onNotification?(method: string, params: unknown): unknown;
}

export interface PeerOptions {
  handlers?: PeerHandlers;
  /** Called once, as soon as the peer can no longer be used. No error: one of the two sides hung up in order. */
  onClose?(error?: BusError): void;
  /** What a handler threw that is our own fault; the other side is told nothing of it. */
  onInternalError?(error: unknown, method: string): void;
  /** Bytes in one message, in either direction. */
  maxFrame?: number;
  /** Bytes that may wait for the other side to read them. */
  maxQueuedBytes?: number;
  /** Incoming requests whose handlers run at once. */
  maxInFlight?: number;
  /** Levels of JSON. A client has to allow more than its hub does, since data comes back in larger envelopes. */
  maxDepth?: number;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

const cancelMethod = '$/cancelRequest';
/** How long the other side has to take the last bytes and hang up too. */
const lingerMs = 1_000;
const settled = Promise.resolve();

export class Peer {
  /** Settles when the socket is gone. */
  readonly closed: Promise<void>;
  private readonly socket: Duplex;
  private readonly options: PeerOptions;
  private readonly handlers: PeerHandlers;
  private readonly maxFrame: number;
  private readonly maxQueuedBytes: number;
  private readonly maxInFlight: number;
  private readonly maxDepth: number;
  private readonly decoder: FrameDecoder;
  private readonly incoming = new Map<Id, Incoming>();
  private readonly pending = new Map<Id, Outgoing>();
  private running = 0;
  private lastId = 0;
  private open = true;
  private queue = '';
  private queuedBytes = 0;
  private queuedWritten: (() => void)[] = [];
  private flushScheduled = false;

  constructor(socket: Duplex, options: PeerOptions = {}) {
    this.socket = socket;
    this.options = options;
    this.handlers = options.handlers ?? {};
    this.maxFrame = options.maxFrame ?? defaultMaxFrame;
    this.maxQueuedBytes = options.maxQueuedBytes ?? 64 * 1024 * 1024;
    this.maxInFlight = options.maxInFlight ?? 10_000;
    this.maxDepth = options.maxDepth ?? limits.jsonDepth;
    this.decoder = new FrameDecoder((text) => this.receive(text), { maxFrame: this.maxFrame });
    this.closed = socket.closed ? settled : new Promise((resolve) => socket.once('close', () => resolve()));
    if ('setNoDelay' in socket) (socket as Duplex & { setNoDelay(on: boolean): void }).setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('error', (cause) => this.shut(lost('The connection broke.', cause)));
    socket.on('end', () => this.shut());
    socket.on('close', () => this.shut());
    if (socket.destroyed) this.shut();
  }

  get isOpen(): boolean {
    return this.open;
  }

  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.open) throw lost(`"${method}" was not sent: the connection is closed.`);
      const signal = options?.signal;
      if (signal?.aborted) throw cancelled(signal.reason);
      const id = ++this.lastId;
      const json = callJson(`"id":${id},`, method, params);
      const bytes = this.measure(json);
      const call = new Outgoing(this, id, method, resolve, reject);
      this.pending.set(id, call);
      if (options !== undefined) call.watch(signal, options.timeoutMs);
      this.send(json, bytes);
    });
  }

  /** Nothing comes back, not even that the connection is closed. */
  notify(method: string, params?: unknown): void {
    if (!this.open) return;
    const json = callJson('', method, params);
    this.send(json, this.measure(json));
  }

  /** Writes what is queued, then hangs up. */
  close(error?: BusError): void {
    this.shut(error);
  }

  /** Gives up on a call that is still pending, and tells the other side. For `Outgoing`. */
  abandon(id: number, error: BusError): void {
    const call = this.take(id);
    if (call === undefined) return;
    this.notify(cancelMethod, { id });
    call.reject(error);
  }

  private read(chunk: Buffer): void {
    if (!this.open) return;
    try {
      this.decoder.push(chunk);
    } catch (error) {
      if (!(error instanceof BusError)) this.options.onInternalError?.(error, '');
      this.refuse(error instanceof BusError ? parseError : internalError, error);
    }
  }

  private receive(text: string): void {
    if (!this.open) return;
    let message: unknown;
    try {
      message = parseJson(text, this.maxDepth);
    } catch (error) {
      if (!this.refuseCall(text, error as BusError)) this.refuse(parseError, error);
      return;
    }
    if (!isMessage(message)) return this.refuse(invalidRequest, notJsonRpc());
    const { id, method } = message;
    if (typeof method === 'string') {
      if (isId(id)) this.handleRequest(id, method, message.params);
      else if (id === undefined) this.handleNotification(method, message.params);
      else this.refuse(invalidRequest, notJsonRpc());
    } else if (method === undefined && (message.result !== undefined || isObject(message.error))) {
      this.handleResponse(id, message);
    } else {
      this.refuse(invalidRequest, notJsonRpc());
    }
  }

  private handleRequest(id: Id, method: string, params: unknown): void {
    if (this.incoming.has(id)) return this.refuse(invalidRequest, notJsonRpc('Two open requests have the same id.'));
    if (this.running >= this.maxInFlight) return this.sendError(id, busError, tooManyCalls(this.maxInFlight));
    const call = new Incoming(id, method);
    this.incoming.set(id, call);
    this.running++;
    let result: unknown;
    try {
      if (this.handlers.onRequest === undefined) throw new UnknownMethod(method);
      result = this.handlers.onRequest(method, params, call);
    } catch (error) {
      return this.fail(call, error);
    }
    if (!isThenable(result)) return this.succeed(call, result);
    result.then(
      (value) => this.succeed(call, value),
      (error: unknown) => this.fail(call, error),
    );
  }

  private handleNotification(method: string, params: unknown): void {
    if (method === cancelMethod) return this.cancel(isObject(params) ? params['id'] : undefined);
    try {
      const result = this.handlers.onNotification?.(method, params);
      if (isThenable(result)) result.then(undefined, (error: unknown) => this.options.onInternalError?.(error, method));
    } catch (error) {
      this.options.onInternalError?.(error, method);
    }
  }

  /** A response to nothing is what comes after a cancelled or late call. */
  private handleResponse(id: unknown, message: Message): void {
    if (isId(id)) {
      const call = this.take(id);
      if (isObject(message.error)) call?.reject(fromWire(message.error));
      else call?.resolve(message.result);
    } else if (id === null && isObject(message.error)) {
      this.shut(fromWire(message.error));
    } else {
      this.refuse(invalidRequest, notJsonRpc());
    }
  }

  private cancel(id: unknown): void {
    const call = this.incoming.get(id as Id);
    if (call === undefined) return;
    this.incoming.delete(call.id);
    const reason = cancelled();
    call.abort(reason);
    this.sendError(call.id, requestCancelled, reason);
  }

  private succeed(call: Incoming, value: unknown): void {
    this.running--;
    if (call.answered) return;
    this.incoming.delete(call.id);
    try {
      const json = `{"jsonrpc":"2.0","id":${idJson(call.id)},"result":${stringify(value)}}`;
      const bytes = this.measure(json);
      if (call.written !== undefined) this.queuedWritten.push(...call.written);
      this.send(json, bytes);
    } catch (error) {
      this.answerError(call, error);
    }
  }

  private fail(call: Incoming, error: unknown): void {
    this.running--;
    if (!call.answered) {
      this.incoming.delete(call.id);
      this.answerError(call, error);
    } else if (!(error instanceof BusError) && !call.stoppedBy(error)) {
      this.options.onInternalError?.(error, call.method);
    }
  }

  private answerError(call: Incoming, error: unknown): void {
    if (!(error instanceof BusError)) this.options.onInternalError?.(error, call.method);
    this.sendError(call.id, wireCode(error), error);
  }

  /** Where the id of a too deep text can be told without parsing it, it is the fault of that call, not of the connection. */
  private refuseCall(text: string, error: BusError): boolean {
    if (error.code !== 'too-deep') return false;
    const head = /^\{"jsonrpc":"2\.0","id":(\d{1,15}|"[^"\\]{1,100}"),"(method|result|error)":/.exec(text);
    if (head === null) return false;
    const id = JSON.parse(head[1] as string) as Id;
    if (head[2] === 'method') this.sendError(id, busError, error);
    else this.take(id)?.reject(error);
    return true;
  }

  /** The other side does not speak our protocol: say so, and hang up. */
  private refuse(code: number, error: unknown): void {
    this.sendError(null, code, error);
    this.shut(error instanceof BusError ? error : lost('The connection failed on our side.', error));
  }

  private sendError(id: Id | null, wire: number, error: unknown): void {
    const { code, message, next } = errorShape(error);
    const body = JSON.stringify({ code: wire, message, data: { code, next } });
    const json = `{"jsonrpc":"2.0","id":${idJson(id)},"error":${body}}`;
    this.send(json, Buffer.byteLength(json));
  }

  /** Too large a message fails its own call here; on the other side it would cost the connection. */
  private measure(json: string): number {
    const bytes = Buffer.byteLength(json);
    if (bytes <= this.maxFrame) return bytes;
    throw new BusError('too-large', `A message of ${bytes} bytes is over the limit of ${this.maxFrame}.`, {
      next: 'Send or ask for less at once.',
    });
  }

  private send(json: string, bytes: number): void {
    if (!this.open) return;
    const header = `Content-Length: ${bytes}\r\n\r\n`;
    this.queue += header + json;
    this.queuedBytes += header.length + bytes;
    if (this.queuedBytes + this.socket.writableLength > this.maxQueuedBytes) {
      this.queue = '';
      this.queuedWritten = [];
      this.shut(slowReader(this.maxQueuedBytes));
      this.socket.destroy();
    } else if (!this.flushScheduled) {
      this.flushScheduled = true;
      // A tick asked for by a microtask comes after all microtasks: whatever becomes ready in this turn is one write.
      void settled.then(this.scheduleFlush);
    }
  }

  private readonly scheduleFlush = (): void => process.nextTick(this.flush);

  private readonly flush = (): void => {
    this.flushScheduled = false;
    if (this.queue === '') return;
    const { queue, queuedBytes, queuedWritten, socket } = this;
    this.queue = '';
    this.queuedBytes = 0;
    if (queuedWritten.length > 0) this.queuedWritten = [];
    if (!socket.writable) return;
    const done =
      queuedWritten.length > 0 ? (error?: Error | null) => !error && this.afterWrite(queuedWritten) : undefined;
    // Plain ASCII goes out without being encoded; the rest as bytes, which `writableLength` counts right.
    if (queue.length === queuedBytes) socket.write(queue, 'latin1', done);
    else socket.write(Buffer.from(queue), done);
  };

  private afterWrite(callbacks: (() => void)[]): void {
    for (const callback of callbacks) {
      try {
        callback();
      } catch (error) {
        this.options.onInternalError?.(error, '');
      }
    }
  }

  private take(id: Id): Outgoing | undefined {
    const call = this.pending.get(id);
    if (call === undefined) return undefined;
    this.pending.delete(id);
    call.release();
    return call;
  }

  private shut(error?: BusError): void {
    if (!this.open) return;
    this.open = false;
    const { socket } = this;
    this.flush();
    socket.end();
    if (!socket.closed) {
      const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
      socket.once('close', () => clearTimeout(timer));
    }
    const reason = cancelled(error);
    for (const call of this.incoming.values()) call.abort(reason);
    this.incoming.clear();
    for (const call of [...this.pending.values()]) {
      this.take(call.id)?.reject(lost(`The connection closed before "${call.method}" was answered.`, error));
    }
    this.options.onClose?.(error);
  }
}
