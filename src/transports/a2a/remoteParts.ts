/** What an agent elsewhere says, as a message of the bus: its words as text, all else beside them as data. */
import { Part, type Artifact, type Message, type Task } from '@a2a-js/sdk';

/** Puts bytes where the reader finds them, and says where; undefined if there is no room for more. */
export type Keep = (bytes: Uint8Array, name: string) => string | undefined;

export interface Speech {
  text: string;
  /** Becomes the `data` of the message, as { a2a }. */
  a2a: Record<string, unknown>;
}

/** Bytes up to this stay in the data, as base64; more are of use to their reader as a file only. */
const inlineBytes = 16 * 1024;

export const noText = '(This answer came without a text; see its data.)';

export function speechOfTask(task: Task, keep: Keep): Speech {
  const status = task.status?.message;
  const artifacts = task.artifacts.map((artifact) => ({ artifact, text: textOf(artifact.parts) }));
  const texts = artifacts.map(({ text }) => text);
  const said = textOf(status?.parts ?? []);
  // Many agents say the same in their last status and in what they have made.
  if (!texts.includes(said)) texts.push(said);
  return {
    text: joined(texts),
    a2a: {
      task: task.id,
      ...(task.contextId && { context: task.contextId }),
      ...some('artifacts', artifacts.map(({ artifact }) => artifactBeside(artifact, keep)).filter(hasKeys)),
      ...(status && partsBeside(status.parts, keep)),
      ...some('metadata', task.metadata),
      ...some('messageMetadata', status?.metadata),
    },
  };
}

export function speechOfMessage(message: Message, keep: Keep): Speech {
  return {
    text: joined([textOf(message.parts)]),
    a2a: {
      ...(message.taskId && { task: message.taskId }),
      ...(message.contextId && { context: message.contextId }),
      ...partsBeside(message.parts, keep),
      ...some('metadata', message.metadata),
    },
  };
}

/** What the agent last said of the task itself: its progress, its question, its reason. */
export function statusText(task: Task): string {
  return textOf(task.status?.message?.parts ?? []).trim();
}

function textOf(parts: readonly Part[]): string {
  return parts
    .flatMap(({ content }) => (content?.$case === 'text' && typeof content.value === 'string' ? [content.value] : []))
    .join('\n')
    .toWellFormed();
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n') || noText;
}

/** An artifact without its texts; nothing where it is all text and has no name. */
function artifactBeside(artifact: Artifact, keep: Keep): Record<string, unknown> {
  const beside = {
    ...(artifact.name && { name: artifact.name }),
    ...(artifact.description && { description: artifact.description }),
    ...partsBeside(artifact.parts, keep),
    ...some('metadata', artifact.metadata),
  };
  return hasKeys(beside) ? { id: artifact.artifactId, ...beside } : {};
}

function partsBeside(parts: readonly Part[], keep: Keep): { parts?: unknown[] } {
  const others = parts.filter((part) => part.content?.$case !== 'text' || hasKeys(part.metadata));
  return others.length > 0 ? { parts: others.map((part) => partBeside(part, keep)) } : {};
}

function partBeside(part: Part, keep: Keep): unknown {
  if (part.content?.$case !== 'raw' || part.content.value.length <= inlineBytes) return Part.toJSON(part);
  const bytes = part.content.value;
  const path = keep(bytes, part.filename || `part.${extension(part.mediaType)}`);
  if (path === undefined) return Part.toJSON(part);
  const rest = Part.toJSON({ ...part, content: undefined }) as Record<string, unknown>;
  return { ...rest, file: path, bytes: bytes.length };
}

function extension(mediaType: string): string {
  return /^[a-z]+\/([a-z0-9]{1,8})$/.exec(mediaType.toLowerCase())?.[1] ?? 'bin';
}

function some(name: string, value: unknown): Record<string, unknown> {
  return hasKeys(value) ? { [name]: value } : {};
}

function hasKeys(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
