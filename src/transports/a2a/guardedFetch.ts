/**
 * `fetch` for places that others have named. Every address is checked at the moment of connecting, whatever its name
 * resolves to by then; redirects are not followed; answers are bounded in size and time; and the secret of an agent goes
 * to its own origin and nowhere else.
 */
import * as dns from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { BusError } from '../../core/errors.ts';
import { cleanLine } from '../../core/envelope.ts';
import { addressKind, assertAddress, assertUrl, nearnessOf, type AddressRule, type Nearness } from './addresses.ts';

export interface Bounds {
  /** Of an answer that is no stream of events; such a stream has no end, and its reader bounds each event. */
  bytes: number;
  /** Until the answer begins. */
  answerMs: number;
  /** Until an answer that is no stream of events is complete. */
  wholeMs: number;
}

const connectMs = 10_000;

/** The way to somebody was not there or broke. */
export class ConnectionTrouble extends BusError {
  /** The request may have arrived. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super('unreachable', message, { next: 'Try again later, or check whether the agent runs.', cause });
    this.sent = sent;
  }
}

export interface Outgoing {
  method?: string | undefined;
  headers?: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | null | undefined;
}

export interface Fetched {
  response: Response;
  /** How near the machine is that has answered. */
  near: Nearness;
}

export interface GuardOptions {
  rule: AddressRule;
  /** The address of the agent that the secret is for. */
  home: string;
  secret?: { header: string; value: string } | null;
  lookup?: typeof dns.lookup;
}

export class GuardedFetch {
  readonly rule: AddressRule;
  private readonly home: string;
  private readonly secret: { header: string; value: string } | null;
  private readonly plain = new http.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 4 });
  private readonly secure = new https.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 4 });
  private readonly resolve: typeof dns.lookup;

  constructor({ rule, home, secret, lookup }: GuardOptions) {
    this.rule = rule;
    this.home = new URL(home).origin;
    this.secret = secret ?? null;
    this.resolve = lookup ?? dns.lookup;
  }

  /** The same way under another rule; connections are not shared, since each was checked by its own. */
  under(nearest: Nearness): GuardedFetch {
    const rule = { ...this.rule, nearest };
    return new GuardedFetch({ rule, home: this.home, secret: this.secret, lookup: this.resolve });
  }

  async fetch(to: string | URL, outgoing: Outgoing, bounds: Bounds): Promise<Fetched> {
    const url = new URL(to);
    assertUrl(url, this.rule);
    outgoing.signal?.throwIfAborted();
    return new Exchange(this.open(url, outgoing), url, outgoing, bounds).fetched;
  }

  /** Resolves a name and checks what comes out, without connecting. A name that can't be resolved is no refusal. */
  async check(url: URL): Promise<void> {
    assertUrl(url, this.rule);
    await new Promise<void>((done, refuse) => {
      this.lookup(url.hostname.replace(/^\[|\]$/g, ''), { all: true }, (error) => {
        if (error instanceof BusError) refuse(error);
        else done();
      });
    });
  }

  /** What the other side said, without the secret: it may have sent it back. */
  clean(text: string): string {
    const { value = '' } = this.secret ?? {};
    const bare = value.replace(/^\S+\s+/, '');
    let safe = text;
    for (const part of [value, bare]) if (part.length >= 4) safe = safe.replaceAll(part, '[secret]');
    return safe;
  }

  close(): void {
    this.plain.destroy();
    this.secure.destroy();
  }

  private open(url: URL, { method, headers, body }: Outgoing): http.ClientRequest {
    const ownHeaders: Record<string, string> = {
      ...headers,
      'user-agent': 'agent-bus',
      // What is packed could unpack to any size.
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    };
    if (this.secret && url.origin === this.home) ownHeaders[this.secret.header] = this.secret.value;
    const options = { method: method ?? 'GET', headers: ownHeaders, lookup: this.lookup };
    return url.protocol === 'https:'
      ? https.request(url, { ...options, agent: this.secure })
      : http.request(url, { ...options, agent: this.plain });
  }

  /** All that a name resolves to has to be allowed: which of it is tried is not for us to choose. */
  private readonly lookup: LookupFunction = (host, options, done) => {
    this.resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      try {
        for (const { address } of addresses) assertAddress(address, this.rule, host);
      } catch (refusal) {
        return done(refusal as NodeJS.ErrnoException, []);
      }
      const [first] = addresses;
      if (options.all || !first) return done(null, addresses);
      done(null, first.address, first.family);
    });
  };
}

/** One request and its answer. */
class Exchange {
  readonly fetched: Promise<Fetched>;
  private readonly request: http.ClientRequest;
  private readonly url: URL;
  private readonly bounds: Bounds;
  private readonly signal: AbortSignal | undefined;
  private timer: NodeJS.Timeout | undefined;
  private sent = false;
  private near: Nearness = 'public';

  constructor(request: http.ClientRequest, url: URL, { body, signal }: Outgoing, bounds: Bounds) {
    this.request = request;
    this.url = url;
    this.bounds = bounds;
    this.signal = signal ?? undefined;
    this.fetched = new Promise<Fetched>((resolve, reject) => {
      request.once('error', (error) => reject(this.trouble(error)));
      request.once('response', (answer) => void this.read(answer).then(resolve, reject));
    }).finally(() => clearTimeout(this.timer));
    this.signal?.addEventListener('abort', this.abort, { once: true });
    request.once('close', () => this.signal?.removeEventListener('abort', this.abort));
    request.once('socket', (socket) => this.watch(socket));
    this.limit(connectMs, 'did not take the connection');
    request.end(body);
  }

  private readonly abort = (): void => void this.request.destroy(this.signal?.reason as Error);

  private watch(socket: Socket): void {
    // Notices a machine that vanished without a word, however long an answer takes.
    socket.setKeepAlive(true, 30_000);
    const written = (): void => {
      this.sent = true;
      // Later the socket may be gone, and its address with it.
      this.near = nearnessOf(addressKind(socket.remoteAddress ?? ''));
      this.limit(this.bounds.answerMs, 'did not answer');
    };
    if (!socket.connecting) written();
    else socket.once(this.url.protocol === 'https:' ? 'secureConnect' : 'connect', written);
  }

  private limit(ms: number, what: string): void {
    clearTimeout(this.timer);
    const give = (): void =>
      void this.request.destroy(
        new ConnectionTrouble(`${this.url.host} ${what} within ${Math.ceil(ms / 1000)} s.`, this.sent),
      );
    this.timer = setTimeout(give, ms);
  }

  private async read(answer: http.IncomingMessage): Promise<Fetched> {
    const status = answer.statusCode ?? 0;
    const { near } = this;
    const { location } = answer.headers;
    if (status >= 300 && status < 400 && location !== undefined) {
      this.request.destroy();
      throw redirected(this.url, location);
    }
    if (!/^(identity)?$/.test(answer.headers['content-encoding'] ?? '')) {
      this.request.destroy();
      throw badAnswer(`${this.url.host} answered in an encoding that was not asked for.`);
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    const streams = status < 300 && (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
    if (streams) return { near, response: new Response(ReadableStream.from(this.pieces(answer)), { status, headers }) };
    this.limit(this.bounds.wholeMs, 'did not complete its answer');
    const whole = await this.whole(answer);
    const empty = status === 204 || status === 205 || status === 304;
    return { near, response: new Response(empty ? null : whole, { status: status < 200 ? 502 : status, headers }) };
  }

  private async whole(answer: http.IncomingMessage): Promise<Buffer<ArrayBuffer>> {
    const pieces: Buffer[] = [];
    let length = 0;
    try {
      for await (const piece of answer as AsyncIterable<Buffer>) {
        length += piece.length;
        if (length > this.bounds.bytes) {
          throw badAnswer(`${this.url.host} answered with more than ${this.bounds.bytes} bytes.`);
        }
        pieces.push(piece);
      }
    } catch (error) {
      this.request.destroy();
      throw this.trouble(error);
    }
    return Buffer.concat(pieces);
  }

  private async *pieces(answer: http.IncomingMessage): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      yield* answer as AsyncIterable<Buffer<ArrayBuffer>>;
    } catch (error) {
      throw this.trouble(error);
    }
  }

  private trouble(error: unknown): Error {
    if (error instanceof BusError || this.signal?.aborted) return error as Error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = reasons[code ?? ''] ?? cleanLine(code ?? message, 200);
    return new ConnectionTrouble(`${this.url.host} could not be reached: ${why}.`, this.sent, error);
  }
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no machine of that name',
  EAI_AGAIN: 'its name could not be looked up',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
};

function redirected(url: URL, location: string): BusError {
  const target = URL.canParse(location, url.href) ? new URL(location, url).href : location;
  return new BusError('refused-address', `${url.host} redirects to ${cleanLine(target, 300)}.`, {
    next: 'Redirects are not followed. If you trust that place, add the agent by that address.',
  });
}

export function badAnswer(message: string): BusError {
  return new BusError('remote-failed', message, { next: 'Tell whoever runs that agent.' });
}
