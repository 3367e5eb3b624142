/** The hub's loopback HTTP server: sockets, time-outs and routes. What a request may do is the guard's business. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BusError, errorShape } from '../core/errors.ts';
import type { Caller } from '../core/model.ts';
import { RequestGone, readBody } from './body.ts';
import { notFound, tooLarge, type Guard, type Refusal } from './guard.ts';

export interface HttpCall {
  caller: Caller;
  /** The parsed JSON of a POST. */
  body: unknown;
}

export interface Route {
  handle(req: IncomingMessage, res: ServerResponse, call: HttpCall): Promise<void> | void;
  /** For a request that needs no token; without this, there is nothing at such a path. */
  visit?(req: IncomingMessage, res: ServerResponse): void;
  /** A POST without a body is let through, as undefined. */
  readonly mayBeEmpty?: boolean;
  /** Says in the words of its protocol that a body is no JSON. */
  unreadable?(req: IncomingMessage, res: ServerResponse, error: BusError): void;
  /** The door is closing: end what would never end by itself; running calls may still answer. */
  drain?(): void;
  /** Running calls had their time. */
  close?(): Promise<void> | void;
}

export interface HttpDoorOptions {
  /** Taken if it is free, else any other; 0 for any. */
  port: number;
  host?: string;
  guard: Guard;
  /** By exact path; a key that ends in a slash serves everything below it. */
  routes: ReadonlyMap<string, Route>;
  onError?: (error: unknown) => void;
  timings?: Partial<DoorTimings>;
}

export interface DoorTimings {
  /** The time for a request's head, and for all of it. */
  headersTimeout: number;
  requestTimeout: number;
  keepAliveTimeout: number;
  /** How often the two time-outs above are looked at. */
  checkEvery: number;
  /** How long the rest of a refused request may keep arriving, so that its sender can read the refusal. */
  linger: number;
  maxConnections: number;
}

const usual: DoorTimings = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  checkEvery: 5_000,
  linger: 2_000,
  maxConnections: 2_000,
};

export interface HttpDoor {
  port: number;
  connections(): Promise<number>;
  /** Stops accepting, gives running calls `graceMs` to answer, then cuts what is left. */
  close(graceMs?: number): Promise<void>;
}

export async function openHttpDoor(options: HttpDoorOptions): Promise<HttpDoor> {
  const timings = { ...usual, ...options.timings };
  const report = options.onError ?? (() => {});
  const running = new Set<ServerResponse>();
  let draining = false;
  let whenQuiet: (() => void) | undefined;

  const server = createServer(
    {
      headersTimeout: timings.headersTimeout,
      requestTimeout: timings.requestTimeout,
      keepAliveTimeout: timings.keepAliveTimeout,
      connectionsCheckingInterval: timings.checkEvery,
      maxHeaderSize: 16_384,
      noDelay: true,
    },
    (req, res) => {
      running.add(res);
      res.once('close', () => {
        running.delete(res);
        if (draining) setImmediate(() => server.closeIdleConnections());
        if (running.size === 0) whenQuiet?.();
      });
      serve(req, res).catch((error: unknown) => {
        if (error instanceof RequestGone) return;
        report(error);
        if (res.headersSent) res.destroy();
        else answer(req, res, { status: 500, error: errorShape(undefined) }, timings.linger);
      });
    },
  );
  // Older Node versions leave out what is over this count, and a header that is left out cannot be checked: the guard
  // counts instead.
  server.maxHeadersCount = 0;
  server.maxConnections = timings.maxConnections;
  server.on('clientError', refuseClient);
  // `Expect: 100-continue` asks whether to send the body at all: the guard decides that first.
  server.on('checkContinue', (req, res) => server.emit('request', req, res));

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (draining) return answer(req, res, stopping, timings.linger);
    const verdict = options.guard({
      method: req.method ?? '',
      path: req.url ?? '',
      port: req.socket.localPort ?? 0,
      rawHeaders: req.rawHeaders,
    });
    if ('refusal' in verdict) return answer(req, res, verdict.refusal, timings.linger);
    const route = routeOf(options.routes, req.url ?? '');
    if (!route) return answer(req, res, notFound, timings.linger);
    if ('visitor' in verdict) {
      if (route.visit) return route.visit(req, res);
      return answer(req, res, notFound, timings.linger);
    }
    let body: unknown;
    if (req.method === 'POST') {
      if (req.headers.expect !== undefined) res.writeContinue();
      try {
        body = await readBody(req, route);
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        if (error.code !== 'too-large' && route.unreadable) return route.unreadable(req, res, error);
        return answer(
          req,
          res,
          error.code === 'too-large' ? tooLarge : { status: 400, error: error.toShape() },
          timings.linger,
        );
      }
    }
    await route.handle(req, res, { caller: verdict.caller, body });
  }

  await listen(server, options.port, options.host ?? '127.0.0.1');
  server.on('error', report);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the HTTP door has no port');

  let closing: Promise<void> | undefined;
  const close = async (graceMs: number): Promise<void> => {
    draining = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const quiet = new Promise<void>((resolve) => {
      whenQuiet = resolve;
    });
    const routes = [...options.routes.values()];
    await everyStep(report, [
      ...routes.map((route) => () => route.drain?.()),
      () => server.closeIdleConnections(),
      () => (running.size > 0 ? within(graceMs, quiet) : undefined),
      ...routes.map((route) => () => route.close?.()),
      () => server.closeAllConnections(),
      () => closed,
    ]);
  };

  return {
    port: address.port,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close: (graceMs = 2_000) => (closing ??= close(graceMs)),
  };
}

function routeOf(routes: ReadonlyMap<string, Route>, url: string): Route | undefined {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const exact = routes.get(path);
  if (exact) return exact;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const below = routes.get(path.slice(0, end + 1));
    if (below) return below;
  }
  return undefined;
}

const stopping: Refusal = {
  status: 503,
  error: { code: 'hub-stopping', message: 'The hub is stopping.', next: 'Try again in a moment.' },
};

/** Without Date, refusals of the same kind are the same bytes. */
function answer(req: IncomingMessage, res: ServerResponse, refusal: Refusal, lingerMs: number): void {
  const body = JSON.stringify({ error: refusal.error });
  res.sendDate = false;
  const headers: Record<string, string | number> = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...refusal.headers,
  };
  // After a head that can be read in two ways, nothing else on this connection can be trusted.
  if (refusal.status === 400 || refusal === stopping) headers['connection'] = 'close';
  res.writeHead(refusal.status, headers);
  res.end(body);
  if (!req.complete) lingerOn(req, lingerMs);
}

/** Closing at once would reset the connection under a sender that has not read the refusal yet. */
function lingerOn(req: IncomingMessage, lingerMs: number): void {
  const socket = req.socket;
  setTimeout(() => {
    if (!req.complete) socket.destroy();
  }, lingerMs).unref();
  req.on('error', () => {});
  req.resume();
}

function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  try {
    await listenOn(server, port, host);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (port === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    await listenOn(server, 0, host);
  }
}

function listenOn(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(error);
    server.once('error', fail);
    server.listen({ port, host, exclusive: true, backlog: 511 }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([done, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

async function everyStep(report: (error: unknown) => void, steps: (() => unknown)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      report(error);
    }
  }
}
