/** A2A over JSON-RPC: one address for all methods, in the words of 1.0 or of 0.3. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { Beat } from '../mcp/beat.ts';
import { answerJson, answerStream, headerOf, type StreamItem } from './answers.ts';
import type { OpenAgent } from './openAgent.ts';
import type { ProtocolVersion } from './openCard.ts';
import { namedVersion, unreadable } from './protocolErrors.ts';

/** What both bindings need of one call. */
export interface BindingCall {
  req: IncomingMessage;
  res: ServerResponse;
  body: unknown;
  handler: OpenAgent;
  beat: Beat;
  /** These were in what the client has got, whole. */
  noteShown: (ids: readonly string[]) => void;
}

type Envelope = { jsonrpc: string; id: string | number | null; result?: unknown; error?: unknown };

const internalError = -32603;

export async function answerJsonRpc(call: BindingCall): Promise<void> {
  const { res, req, body, handler, beat, noteShown } = call;
  const request = typeof body === 'object' && body !== null ? (body as { id?: unknown; method?: unknown }) : {};
  let version: ProtocolVersion =
    typeof request.method === 'string' && isV1JsonRpcMethod(request.method) ? '1.0' : '0.3';
  const failed = (error: unknown): Envelope => ({
    jsonrpc: '2.0',
    id: typeof request.id === 'string' || typeof request.id === 'number' ? request.id : null,
    error:
      version === '1.0'
        ? JsonRpcTransportHandler.mapToJSONRPCError(error)
        : LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error),
  });
  try {
    // Whoever names no version is known by the method it calls.
    version = namedVersion(headerOf(req, 'a2a-version')) ?? version;
  } catch (error) {
    version = '1.0';
    return answerJson(res, 200, failed(error));
  }
  const transport =
    version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler);
  const answer: Envelope | AsyncGenerator<Envelope, void, undefined> = await transport.handle(
    body as Record<string, unknown>,
    new ServerCallContext({ requestedVersion: version }),
  );
  if (Symbol.asyncIterator in answer) {
    return answerStream(res, withShown(answer, handler, noteShown), beat, {
      early: (error) => answerJson(res, 200, failed(error)),
      late: failed,
    });
  }
  // Our own failures are known: what else the SDK calls an internal error is input that it could not read.
  const isUnreadable = (answer.error as { code?: number } | undefined)?.code === internalError && !handler.hasFailed;
  const shown = handler.takeShown();
  answerJson(res, 200, isUnreadable ? failed(new RequestMalformedError(unreadable)) : answer, {
    handedOver: () => noteShown(shown),
  });
}

/** JSON that is none, before it is known what it would have asked. */
export function answerUnreadable(res: ServerResponse, message: string): void {
  answerJson(res, 200, { jsonrpc: '2.0', id: null, error: { code: -32700, message } });
}

/** Each event with the messages of the agent that it carries. */
export async function* withShown(
  events: AsyncGenerator<unknown, void, undefined>,
  handler: OpenAgent,
  noteShown: (ids: readonly string[]) => void,
): AsyncGenerator<StreamItem, void, undefined> {
  for await (const event of events) {
    const shown = handler.takeShown();
    yield { event, handedOver: () => noteShown(shown) };
  }
}
