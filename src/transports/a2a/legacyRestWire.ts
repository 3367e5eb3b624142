/**
 * HTTP+JSON of 0.3 writes its objects as protocol buffers do in JSON, while the SDK's handler for it speaks the objects
 * of the 0.3 schema: the same content under other names.
 */
import type { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';

export type LegacySendParams = Parameters<LegacyRestTransportHandler['sendMessage']>[0];
type Result = Awaited<ReturnType<LegacyRestTransportHandler['sendMessage']>>;
type LegacyTask = Extract<Result, { kind: 'task' }>;
type LegacyMessage = Extract<Result, { kind: 'message' }>;
type LegacyPart = LegacyMessage['parts'][number];
type LegacyArtifact = NonNullable<LegacyTask['artifacts']>[number];
type LegacyStatus = LegacyTask['status'];
type StreamOf<T> = T extends AsyncGenerator<infer Event, void, undefined> ? Event : never;
export type LegacyEvent = StreamOf<Awaited<ReturnType<LegacyRestTransportHandler['sendMessageStream']>>>;

type Json = Record<string, unknown>;

export function readSendParams(body: unknown): LegacySendParams {
  const { message, request, configuration, metadata } = object(body, 'body');
  return {
    message: readMessage(object(message ?? request, 'message')),
    ...(isObject(configuration) && { configuration: readConfiguration(configuration) }),
    ...(isObject(metadata) && { metadata }),
  };
}

export function writeTask(task: LegacyTask): Json {
  const { id, contextId, status, artifacts = [], history = [], metadata } = task;
  return {
    id,
    contextId,
    status: writeStatus(status),
    ...(artifacts.length > 0 && { artifacts: artifacts.map(writeArtifact) }),
    ...(history.length > 0 && { history: history.map((message) => writeMessage(message)) }),
    ...(metadata && { metadata }),
  };
}

/** An answer or an event, under the name of what it is. */
export function writeEvent(event: Result | LegacyEvent): Json {
  switch (event.kind) {
    case 'task':
      return { task: writeTask(event) };
    case 'message':
      return { msg: writeMessage(event) };
    case 'status-update': {
      const { taskId, contextId, status, final } = event;
      return { statusUpdate: { taskId, contextId, status: writeStatus(status), final } };
    }
    case 'artifact-update': {
      const { taskId, contextId, artifact, append, lastChunk } = event;
      return {
        artifactUpdate: { taskId, contextId, artifact: writeArtifact(artifact), append, lastChunk },
      };
    }
  }
}

function readMessage(message: Json): LegacyMessage {
  const { role, content, metadata } = message;
  const named = (camel: string, snake: string): string | undefined => string(message[camel] ?? message[snake]);
  const contextId = named('contextId', 'context_id');
  const taskId = named('taskId', 'task_id');
  return {
    kind: 'message',
    messageId: named('messageId', 'message_id') ?? '',
    role: role === 'ROLE_AGENT' || role === 2 ? 'agent' : 'user',
    parts: (Array.isArray(content) ? content : []).map(readPart),
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
    ...(isObject(metadata) && { metadata }),
  };
}

function readConfiguration(configuration: Json): NonNullable<LegacySendParams['configuration']> {
  const { blocking } = configuration;
  const historyLength = configuration['historyLength'] ?? configuration['history_length'];
  const push = configuration['pushNotification'] ?? configuration['push_notification'];
  return {
    blocking: blocking === true,
    // Zero is what protocol buffers write for "not set".
    ...(typeof historyLength === 'number' && historyLength > 0 && { historyLength }),
    ...(isObject(push) && { pushNotificationConfig: { url: string(push['url']) ?? '' } }),
  };
}

function readPart(part: unknown): LegacyPart {
  const { text, file, data } = object(part, 'part');
  if (typeof text === 'string') return { kind: 'text', text };
  if (isObject(file)) return { kind: 'file', file: readFile(file) };
  if (isObject(data)) return { kind: 'data', data: isObject(data['data']) ? data['data'] : {} };
  throw new RequestMalformedError('A part is empty: give it text, file or data.');
}

function readFile(file: Json): Extract<LegacyPart, { kind: 'file' }>['file'] {
  const uri = string(file['fileWithUri'] ?? file['file_with_uri']);
  const bytes = string(file['fileWithBytes'] ?? file['file_with_bytes']);
  const mimeType = string(file['mimeType'] ?? file['mime_type']);
  if (uri !== undefined) return { uri, ...(mimeType && { mimeType }) };
  if (bytes !== undefined) return { bytes, ...(mimeType && { mimeType }) };
  throw new RequestMalformedError('A file has neither fileWithUri nor fileWithBytes.');
}

function writeStatus({ state, message, timestamp }: LegacyStatus): Json {
  return {
    state: writeState(state),
    ...(message && { message: writeMessage(message) }),
    ...(timestamp && { timestamp }),
  };
}

function writeState(state: LegacyStatus['state']): string {
  if (state === 'canceled') return 'TASK_STATE_CANCELLED';
  if (state === 'unknown') return 'TASK_STATE_UNSPECIFIED';
  return `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`;
}

function writeMessage({ messageId, contextId, taskId, role, parts, metadata }: LegacyMessage): Json {
  return {
    messageId,
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
    role: role === 'agent' ? 'ROLE_AGENT' : 'ROLE_USER',
    content: parts.map(writePart),
    ...(metadata && { metadata }),
  };
}

function writeArtifact({ artifactId, name, description, parts, metadata }: LegacyArtifact): Json {
  return {
    artifactId,
    ...(name && { name }),
    ...(description && { description }),
    parts: parts.map(writePart),
    ...(metadata && { metadata }),
  };
}

function writePart(part: LegacyPart): Json {
  if (part.kind === 'text') return { text: part.text };
  if (part.kind === 'data') return { data: { data: part.data } };
  const { file } = part;
  const mimeType = file.mimeType && { mimeType: file.mimeType };
  return { file: 'uri' in file ? { fileWithUri: file.uri, ...mimeType } : { fileWithBytes: file.bytes, ...mimeType } };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown, what: string): Json {
  if (isObject(value)) return value;
  throw new RequestMalformedError(`The ${what} is missing or no object.`);
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
