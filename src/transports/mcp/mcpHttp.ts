/**
 * MCP over Streamable HTTP, both eras of the protocol on one path. Revision 2026-07-28 has no sessions: one server
 * object per request. Older revisions have them: one server object per session. Objects are never shared between
 * clients, so replies cannot cross.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  type McpServer,
  type RequestId,
  type Server,
} from '@modelcontextprotocol/server';
import type { Caller } from '../../core/model.ts';
import type { HttpCall, Route } from '../httpDoor.ts';
import { adopt, openSession } from './adoption.ts';
import { Beat } from './beat.ts';
import { Exchange, webRequest, writeResponse } from './exchange.ts';
import { Sessions, usualSessionLimits, type Session, type SessionLimits } from './sessions.ts';

export type McpEra = 'legacy' | 'modern';

export interface McpHttpOptions {
  /** A new server object each time. */
  serverFor(caller: Caller, era: McpEra): Server | McpServer;
  onError?: (error: unknown) => void;
  sessionLimits?: Partial<SessionLimits>;
  now?: () => number;
  /** How often streams that only wait for news show that they are alive. */
  keepAliveMs?: number;
}

export interface McpHttpRoute extends Route {
  sessions(): number;
  /** Clients that hold a stream open to hear from us. */
  listeners(): number;
}

const sweepEveryMs = 300_000;

export function mcpHttp(options: McpHttpOptions): McpHttpRoute {
  const report = options.onError ?? (() => {});
  const sessions = new Sessions({ ...usualSessionLimits, ...options.sessionLimits }, options.now ?? Date.now, report);
  const sweeper = setInterval(() => sessions.sweep(), sweepEveryMs).unref();
  const standing = new Set<ServerResponse>();
  const keepAlive = new Beat(options.keepAliveMs ?? 25_000);

  // The SDK's own keep-alive is a timer per stream; a call here is short enough to need none.
  const modern = createMcpHandler(
    (ctx) => {
      const exchange = ctx.authInfo?.extra?.['exchange'];
      if (!(exchange instanceof Exchange)) throw new Error('a call without its exchange');
      return options.serverFor(exchange.caller, 'modern');
    },
    { legacy: 'reject', responseMode: 'sse', keepAliveMs: 0, onerror: report },
  );

  async function handle(req: IncomingMessage, res: ServerResponse, call: HttpCall): Promise<void> {
    const exchange = new Exchange(res, call.caller);
    const request = webRequest(req);
    if (await isLegacyRequest(request, call.body)) return handleLegacy(req, request, res, call, exchange);
    if (isListen(call.body)) stand(res);
    const leaving = new AbortController();
    exchange.whenOver({ gone: () => leaving.abort() });
    writeResponse(
      await modern.fetch(webRequest(req, leaving.signal), { authInfo: exchange.authInfo, parsedBody: call.body }),
      res,
    );
  }

  async function handleLegacy(
    req: IncomingMessage,
    request: Request,
    res: ServerResponse,
    call: HttpCall,
    exchange: Exchange,
  ): Promise<void> {
    const session = await sessionFor(req, call, request);
    if (typeof session !== 'object') return refuse(res, session);
    const done = sessions.use(session);
    const ids = requestIds(call.body);
    exchange.onAbandoned((id) => forget(session, id));
    exchange.whenOver({
      // The older transports keep a call running for a client that may come back for its answer. Ours could not hand
      // it over any more, so a client that hangs up has cancelled.
      gone: () => ids.forEach((id) => cancel(session, id)),
      ended: done,
    });
    await session.ready;
    if (req.method === 'GET') stand(res);
    const response = await session.transport.handleRequest(request, {
      authInfo: exchange.authInfo,
      parsedBody: call.body,
    });
    if (req.method === 'DELETE' && response.ok) sessions.end(session);
    // A handshake that the transport has turned down leaves nothing behind.
    if (session.transport.sessionId === undefined) sessions.drop(session);
    writeResponse(response, res);
  }

  /** The session that the request names or opens, or the HTTP status that says why there is none. */
  async function sessionFor(
    req: IncomingMessage,
    call: HttpCall,
    request: Request,
  ): Promise<Session | 400 | 404 | 503> {
    if (req.method === 'POST' && isInitializeRequest(call.body)) {
      return kept(await openSession(randomUUID(), call.caller, options));
    }
    const id = request.headers.get('mcp-session-id');
    if (id === null) return 400;
    const known = sessions.get(id);
    if (known) return known.agent === call.caller.agent ? known : 404;
    // No client can invent a session to end it, and none gets back one that it has ended.
    if (req.method === 'DELETE' || sessions.hasEnded(id) || !/^[\x21-\x7e]{1,128}$/.test(id)) return 404;
    return kept(adopt(id, call.caller, request.headers.get('mcp-protocol-version'), options));
  }

  function kept(session: Session): Session | 503 {
    if (sessions.add(session)) return session;
    session.server.close().catch(report);
    return 503;
  }

  function stand(res: ServerResponse): void {
    standing.add(res);
    const stop = keepAlive.add(() => {
      if (res.headersSent) res.write(':\n\n');
    });
    res.once('close', () => {
      stop();
      standing.delete(res);
    });
  }

  return {
    handle,
    sessions: () => sessions.size,
    listeners: () => standing.size,
    drain: () => {
      for (const res of standing) res.end();
    },
    close: async () => {
      clearInterval(sweeper);
      sessions.dropAll();
      await modern.close();
    },
  };
}

function isListen(body: unknown): boolean {
  return (body as { method?: unknown } | undefined)?.method === 'subscriptions/listen';
}

function requestIds(body: unknown): RequestId[] {
  const messages = Array.isArray(body) ? body : [body];
  return messages.filter((message) => isJSONRPCRequest(message)).map((message) => message.id);
}

function cancel(session: Session, requestId: RequestId): void {
  session.transport.onmessage?.({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'the connection closed' },
  });
}

/** Without an answer the transport would keep the call's stream open and its id on its books for ever. */
function forget(session: Session, id: RequestId): void {
  session.transport.closeSSEStream(id);
  session.transport.send({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'cancelled' } }).catch(() => {});
}

const refusals = {
  400: [-32_000, 'Bad Request: the Mcp-Session-Id header is required; send initialize first'],
  404: [-32_001, 'Session not found'],
  503: [-32_000, 'Too many sessions are in use; end some or try again later'],
} as const;

/** In the words of the SDK's own transport, which clients know how to take. */
function refuse(res: ServerResponse, status: keyof typeof refusals): void {
  const [code, message] = refusals[status];
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}
