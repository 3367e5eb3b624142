/** A2A over HTTP+JSON: an address for each operation, at the agent's own for 1.0 and below its /v1 for 0.3. */
import type { ServerResponse } from 'node:http';
import {
  A2A_CONTENT_TYPE,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskState,
  taskStateFromJSON,
} from '@a2a-js/sdk';
import { LegacyRestTransportHandler, toLegacyHTTPError } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { answerJson, answerStream, headerOf } from './answers.ts';
import { withShown, type BindingCall } from './jsonRpcBinding.ts';
import { readSendParams, writeEvent, writeTask } from './legacyRestWire.ts';
import type { OpenAgent } from './openAgent.ts';
import { namedVersion, unreadable } from './protocolErrors.ts';

interface Asked {
  handler: OpenAgent;
  body: unknown;
  /** The task that the path names. */
  id: string;
  query: URLSearchParams;
}

/** What an operation gives: an answer, or a stream of events. */
type Answered = { body: unknown } | { events: AsyncGenerator<unknown, void, undefined> };
type Operation = (asked: Asked) => Promise<Answered> | Answered;

interface Wire {
  type: string;
  operations: readonly (readonly [pattern: RegExp, operation: Operation])[];
  error: (error: unknown) => unknown;
}

const task = '([^/:]+)';
const pushConfigs = new RegExp(`^\\w+ /tasks/${task}/pushNotificationConfigs(/|$)`);

const current: Wire = {
  type: A2A_CONTENT_TYPE,
  operations: [
    [
      /^POST \/message:send$/,
      async ({ handler, body }) => ({
        body: { task: Task.toJSON(await handler.sendMessage(readRequest(body))) },
      }),
    ],
    [/^POST \/message:stream$/, ({ handler, body }) => streamed(handler.sendMessageStream(readRequest(body)))],
    [
      new RegExp(`^(GET|POST) /tasks/${task}:subscribe$`),
      ({ handler, id }) => streamed(handler.resubscribe({ id, tenant: '' })),
    ],
    [
      new RegExp(`^POST /tasks/${task}:cancel$`),
      async ({ handler, id }) => ({
        body: Task.toJSON(await handler.cancelTask({ id, tenant: '', metadata: undefined })),
      }),
    ],
    [
      new RegExp(`^GET /tasks/${task}$`),
      async ({ handler, id, query }) => ({
        body: Task.toJSON(await handler.getTask({ id, tenant: '', historyLength: count(query, 'historyLength') })),
      }),
    ],
    [/^GET \/tasks$/, ({ handler, query }) => list(handler, query)],
    [/^GET \/extendedAgentCard$/, async ({ handler }) => ({ body: await handler.getAuthenticatedExtendedAgentCard() })],
    [pushConfigs, async ({ handler }) => ({ body: await handler.getTaskPushNotificationConfig() })],
  ],
  error: (error) => toRestErrorBody(error, restStatusFor(error)),
};

const context = new ServerCallContext({ requestedVersion: '0.3' });
const legacyOf = ({ handler }: Asked): LegacyRestTransportHandler => new LegacyRestTransportHandler(handler);

const legacy: Wire = {
  type: 'application/json',
  operations: [
    [
      /^POST \/message:send$/,
      async (asked) => ({ body: writeEvent(await legacyOf(asked).sendMessage(readSendParams(asked.body), context)) }),
    ],
    [
      /^POST \/message:stream$/,
      async (asked) => ({
        events: written(await legacyOf(asked).sendMessageStream(readSendParams(asked.body), context), writeEvent),
      }),
    ],
    [
      new RegExp(`^(GET|POST) /tasks/${task}:subscribe$`),
      async (asked) => ({ events: written(await legacyOf(asked).resubscribe(asked.id, context), writeEvent) }),
    ],
    [
      new RegExp(`^POST /tasks/${task}:cancel$`),
      async (asked) => ({ body: writeTask(await legacyOf(asked).cancelTask(asked.id, context)) }),
    ],
    [
      new RegExp(`^GET /tasks/${task}$`),
      async (asked) => {
        const length = asked.query.get('historyLength') ?? asked.query.get('history_length') ?? undefined;
        return { body: writeTask(await legacyOf(asked).getTask(asked.id, context, length)) };
      },
    ],
    [/^GET \/card$/, async ({ handler }) => ({ body: await handler.getAuthenticatedExtendedAgentCard() })],
    [pushConfigs, async ({ handler }) => ({ body: await handler.getTaskPushNotificationConfig() })],
  ],
  error: toLegacyHTTPError,
};

/** False if there is nothing at this path. */
export async function answerRest(call: BindingCall, path: string, query: URLSearchParams): Promise<boolean> {
  const wire = path.startsWith('/v1/') ? legacy : current;
  const asked = `${call.req.method} ${wire === legacy ? path.slice('/v1'.length) : path}`;
  for (const [pattern, operation] of wire.operations) {
    const found = pattern.exec(asked);
    if (!found) continue;
    await perform(call, wire, operation, found.at(-1) ?? '', query);
    return true;
  }
  return false;
}

async function perform(
  { req, res, body, handler, beat, noteShown }: BindingCall,
  wire: Wire,
  operation: Operation,
  id: string,
  query: URLSearchParams,
): Promise<void> {
  const failed = (error: unknown): void => {
    const told = handler.told(error);
    answerJson(res, restStatusFor(told), wire.error(told), { type: wire.type });
  };
  try {
    namedVersion(headerOf(req, 'a2a-version'));
    const answered = await operation({ handler, body, id: decoded(id), query });
    if ('events' in answered) {
      return await answerStream(res, withShown(answered.events, handler, noteShown), beat, {
        early: failed,
        late: (error) => wire.error(handler.told(error)),
      });
    }
    const shown = handler.takeShown();
    answerJson(res, 200, answered.body, { type: wire.type, handedOver: () => noteShown(shown) });
  } catch (error) {
    if (res.headersSent) throw error;
    failed(error);
  }
}

/** JSON that is none. */
export function answerUnreadableRest(res: ServerResponse, path: string, message: string): void {
  const { type, error } = path.startsWith('/v1/') ? legacy : current;
  answerJson(res, 400, error(new RequestMalformedError(message)), { type });
}

function readRequest(body: unknown): SendMessageRequest {
  if (typeof body !== 'object' || body === null) throw new RequestMalformedError('The body is missing or no object.');
  try {
    return SendMessageRequest.fromJSON(body);
  } catch (cause) {
    throw new RequestMalformedError({ message: unreadable, cause });
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new RequestMalformedError({ message: 'The path is not encoded as a URL should be.', cause });
  }
}

function streamed(events: AsyncGenerator<StreamResponse, void, undefined>): Answered {
  return { events: written(events, (event) => StreamResponse.toJSON(event)) };
}

async function* written<T>(
  events: AsyncGenerator<T, void, undefined>,
  write: (event: T) => unknown,
): AsyncGenerator<unknown, void, undefined> {
  for await (const event of events) yield write(event);
}

async function list(handler: OpenAgent, query: URLSearchParams): Promise<Answered> {
  const includeArtifacts = query.get('includeArtifacts') === 'true';
  const status = query.get('status');
  const response = await handler.listTasks({
    tenant: '',
    contextId: query.get('contextId') ?? '',
    status: status
      ? taskStateFromJSON(/^\d+$/.test(status) ? Number(status) : status)
      : TaskState.TASK_STATE_UNSPECIFIED,
    pageSize: count(query, 'pageSize'),
    pageToken: query.get('pageToken') ?? '',
    historyLength: count(query, 'historyLength'),
    statusTimestampAfter: query.get('statusTimestampAfter') ?? undefined,
    includeArtifacts,
  });
  // Fields that are empty are left out by the codec, and these must be there.
  return { body: { tasks: [], nextPageToken: '', totalSize: 0, ...(ListTasksResponse.toJSON(response) as object) } };
}

function count(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^\d{1,9}$/.test(value)) throw new RequestMalformedError(`${name} is no whole number.`);
  return Number(value);
}
