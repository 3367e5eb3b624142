/**
 * Opening a session, and taking on one that an earlier hub opened. Some clients never initialise again, so after a
 * restart their old session id has to go on working; the token has already proved who they are, and a session holds
 * nothing else. The new transport is told a made-up handshake, through its front door.
 */
import { SUPPORTED_PROTOCOL_VERSIONS, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/model.ts';
import type { McpHttpOptions } from './mcpHttp.ts';
import type { Session } from './sessions.ts';

/** What a client that sends no version header has to be taken to speak. */
const versionWithoutHeader = '2025-03-26';

/** How a client is called whose handshake an earlier hub has heard. */
export const unknownClient = { name: 'unknown', version: '0' } as const;

type Opening = Pick<McpHttpOptions, 'serverFor' | 'onError' | 'now'>;

export async function openSession(id: string, caller: Caller, options: Opening): Promise<Session> {
  const session = blankSession(id, caller, options);
  await session.ready;
  return session;
}

/** Returned before it is ready, so that a second request with the same id finds it. */
export function adopt(id: string, caller: Caller, versionHeader: string | null, options: Opening): Session {
  const session = blankSession(id, caller, options);
  const known = versionHeader !== null && SUPPORTED_PROTOCOL_VERSIONS.includes(versionHeader);
  const protocolVersion = known ? versionHeader : versionWithoutHeader;
  session.ready = session.ready.then(async () => {
    const initialize = { protocolVersion, capabilities: {}, clientInfo: unknownClient };
    await tell(session, { jsonrpc: '2.0', id: 'taken-on', method: 'initialize', params: initialize });
    await tell(session, { jsonrpc: '2.0', method: 'notifications/initialized' });
  });
  // Whoever uses the session awaits this too; here it only must not count as unhandled.
  session.ready.catch(() => {});
  return session;
}

function blankSession(id: string, caller: Caller, options: Opening): Session {
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id, keepAliveMs: 0 });
  const server = options.serverFor(caller, 'legacy');
  const ready = server.connect(transport);
  return { id, agent: caller.agent, transport, server, ready, active: 0, lastUsed: (options.now ?? Date.now)() };
}

async function tell(session: Session, message: Record<string, unknown>): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session.id,
  };
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers });
  const response = await session.transport.handleRequest(request, { parsedBody: message });
  await response.text();
  if (!response.ok) throw new Error(`the session could not be taken on: ${response.status}`);
}
