/** The bus as an MCP server: a static list of tools and the calls to them, the same over HTTP and stdio. */
import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ListToolsResult,
  type RequestId,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { errorShape } from '../../core/errors.ts';
import type { ModelAnswer, ToolListing } from '../../tools/answer.ts';
import { Beat } from './beat.ts';
import { exchangeOf } from './exchange.ts';

export interface McpCall {
  /** Aborted when the client has cancelled the call or has gone. */
  signal: AbortSignal;
  /** What the client says about itself; nothing may be decided by it but comfort. */
  client: { name: string; version: string } | undefined;
  meta: Record<string, unknown> | undefined;
  /** Tells the client at once what is going on, if it asked for progress. */
  progress: (message: string) => void;
}

/** What one caller gets to see of the bus. */
export interface McpFace {
  info: { name: string; version: string };
  instructions: string;
  tools: readonly ToolListing[];
  call(name: string, args: Record<string, unknown>, call: McpCall): Promise<ModelAnswer>;
  /** The answer has left this process in full; never called for a client that had gone before. */
  delivered?(answer: ModelAnswer): void;
}

/** How the transport under a call says what became of its answer. */
export interface CallWire {
  onHandedOver(id: RequestId, done: () => void): void;
  /** The call was cancelled and gets no answer: let go of what is held for it. */
  abandon(id: RequestId): void;
}

export interface BusServerOptions {
  wireOf?: (ctx: ServerContext) => CallWire | undefined;
  beat?: Beat;
}

const sharedBeat = new Beat();

export function createBusServer(face: McpFace, options: BusServerOptions = {}): Server {
  const wireOf = options.wireOf ?? exchangeOf;
  const beat = options.beat ?? sharedBeat;
  const server = new Server(face.info, { capabilities: { tools: {} }, instructions: face.instructions });

  server.setRequestHandler('tools/list', () => ({ tools: face.tools }) as unknown as ListToolsResult);

  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    if (!face.tools.some((tool) => tool.name === params.name)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
    const { signal, id, _meta: meta } = ctx.mcpReq;
    const wire = wireOf(ctx);
    const progress = progressOf(ctx);
    const stop = progress && beat.add(() => progress('Still waiting.'));
    try {
      const answer = await face.call(params.name, params.arguments ?? {}, {
        signal,
        client: clientOf(server, ctx),
        meta,
        progress: progress ?? (() => {}),
      });
      if (!signal.aborted) wire?.onHandedOver(id, () => face.delivered?.(answer));
      return resultOf(answer);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return failureOf(error);
    } finally {
      stop?.();
      if (signal.aborted) wire?.abandon(id);
    }
  });
  return server;
}

function resultOf(answer: ModelAnswer): CallToolResult {
  return {
    content: [{ type: 'text', text: answer.text }],
    structuredContent: answer.structured,
    ...(answer.isError && { isError: true }),
  };
}

/** A face answers its own errors; what is thrown past it still has to reach the model as something it can act on. */
function failureOf(error: unknown): CallToolResult {
  const shape = errorShape(error);
  return {
    content: [{ type: 'text', text: `${shape.message} ${shape.next} (${shape.code})` }],
    structuredContent: { error: shape },
    isError: true,
  };
}

/** The number only ever grows, as the protocol demands; it counts signs of life, since a wait has no known end. */
function progressOf(ctx: ServerContext): ((message: string) => void) | undefined {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  const { notify, signal } = ctx.mcpReq;
  let progress = 0;
  return (message) => {
    if (signal.aborted) return;
    notify({ method: 'notifications/progress', params: { progressToken, progress: ++progress, message } }).catch(
      () => {},
    );
  };
}

function clientOf(server: Server, ctx: ServerContext): McpCall['client'] {
  const said =
    (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const { name, version } = (said ?? {}) as { name?: unknown; version?: unknown };
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined;
}
