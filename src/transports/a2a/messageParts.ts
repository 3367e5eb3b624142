/** Between an A2A message, which is a list of parts, and a bus message, which is a text and maybe data. */
import { Part, type Message, type SendMessageRequest } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { MessageRecord } from '../../core/model.ts';
import { conversationId, messageId } from '../../core/model.ts';

/** What of an A2A message is no text, as it lies beside the text in the data of the bus message. */
interface Beside {
  /** Absent where the client left it to us: then it is the bus's own conversation. */
  contextId?: string;
  parts?: unknown[];
  metadata?: unknown;
  requestMetadata?: unknown;
  extensions?: string[];
  referenceTaskIds?: string[];
}

const noText = '(This message came without a text; see its data.)';

export interface Incoming {
  text: string;
  data: { a2a: Beside } | undefined;
}

export function incoming(message: Message, request: SendMessageRequest): Incoming {
  const texts: string[] = [];
  const others: Part[] = [];
  for (const part of message.parts) {
    if (part.content?.$case !== 'text') others.push(part);
    // The 0.3 wire is not checked for this by the SDK.
    else if (typeof part.content.value !== 'string')
      throw new RequestMalformedError('The text of a part is no string.');
    else texts.push(part.content.value);
  }
  if (others.some((part) => part.content === undefined)) {
    throw new RequestMalformedError('A part is empty: give it text, raw, url or data.');
  }
  const text = texts.join('\n\n');
  if (text.trim() === '' && others.length === 0) {
    throw new RequestMalformedError('The message has no content: give it at least one part that is not empty.');
  }
  const beside: Beside = {
    ...(message.contextId && { contextId: message.contextId }),
    ...(others.length > 0 && { parts: others.map((part) => Part.toJSON(part)) }),
    ...(hasKeys(message.metadata) && { metadata: message.metadata }),
    ...(hasKeys(request.metadata) && { requestMetadata: request.metadata }),
    ...(message.extensions.length > 0 && { extensions: message.extensions }),
    ...(message.referenceTaskIds.length > 0 && { referenceTaskIds: message.referenceTaskIds }),
  };
  return { text: text.trim() === '' ? noText : text, data: hasKeys(beside) ? { a2a: beside } : undefined };
}

export function contextOf(task: MessageRecord): string {
  return besideOf(task)?.contextId ?? conversationId.format(task.conversation);
}

/** A bus message as parts: its text, and its data as parts of their own or as one. */
export function partsOf(message: MessageRecord): Part[] {
  const parts: Part[] = message.text === noText ? [] : [textPart(message.text)];
  const beside = besideOf(message);
  if (beside) parts.push(...(beside.parts ?? []).flatMap(readPart));
  else if (message.data !== null) parts.push(dataPart(JSON.parse(message.data)));
  if (message.options.length > 0) parts.push(dataPart({ options: message.options }));
  if (message.files.length > 0) parts.push(dataPart({ files: message.files }));
  return parts.length > 0 ? parts : [textPart(message.text)];
}

export function metadataOf(message: MessageRecord): Record<string, unknown> | undefined {
  const metadata = besideOf(message)?.metadata;
  return hasKeys(metadata) ? metadata : undefined;
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

/** The client's own id of a message that it sent to that agent is its key. */
const keyStart = (agent: number): string => `a2a/${agent}/`;

export function keyOf(agent: number, id: string): string {
  return keyStart(agent) + id;
}

export function clientMessageId(message: MessageRecord, agent: number): string {
  const start = keyStart(agent);
  return message.key?.startsWith(start) ? message.key.slice(start.length) : messageId.format(message.seq);
}

function dataPart(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

/** Whoever wrote the data may have put anything there. */
function readPart(json: unknown): Part[] {
  if (typeof json !== 'object' || json === null) return [];
  const part = Part.fromJSON(json);
  return part.content === undefined ? [] : [part];
}

/** Undefined where the data is something of the sender's own. */
function besideOf(message: MessageRecord): Beside | undefined {
  if (message.data === null || !message.data.startsWith('{"a2a":{')) return undefined;
  const data = JSON.parse(message.data) as { a2a: Record<string, unknown> };
  const { contextId, parts, metadata } = data.a2a;
  if (Object.keys(data).length > 1) return undefined;
  const found: Beside = {
    ...(typeof contextId === 'string' && { contextId }),
    ...(Array.isArray(parts) && { parts }),
    ...(hasKeys(metadata) && { metadata }),
  };
  return hasKeys(found) ? found : undefined;
}

function hasKeys(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
