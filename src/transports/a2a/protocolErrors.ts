/** What goes wrong on the bus, in the words of A2A. Our own failures tell nothing but that they are ours. */
import {
  A2AError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { errorShape, type ErrorCode, type ErrorShape } from '../../core/errors.ts';
import { protocolVersions, type ProtocolVersion } from './openCard.ts';

const malformed: readonly ErrorCode[] = ['invalid-input', 'too-large', 'too-deep', 'key-conflict'];
const missing: readonly ErrorCode[] = ['unknown-message', 'unknown-agent', 'agent-removed'];
const ours: readonly ErrorCode[] = [
  'internal',
  'hub-stopping',
  'bad-data',
  'database-damaged',
  'disk-full',
  'disk-failed',
];

/** What the SDK says of such input is no help to the caller. */
export const unreadable = 'The request has parts that are not of the types that A2A gives them.';

export function isOurs(error: unknown): boolean {
  return !(error instanceof A2AError) && ours.includes(errorShape(error).code);
}

export function protocolError(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  const shape = errorShape(error);
  if (malformed.includes(shape.code)) return new RequestMalformedError(told(shape));
  if (missing.includes(shape.code)) return new TaskNotFoundError(told(shape));
  // The base class is what both bindings report as an internal error.
  if (ours.includes(shape.code)) return new A2AError(told(shape));
  return new UnsupportedOperationError(told(shape));
}

export function taskNotFound(id: string): A2AError {
  return new TaskNotFoundError(`You have no task "${id.slice(0, 40)}" with this agent. ListTasks lists yours.`);
}

/** The version that a request names, if it names one. */
export function namedVersion(header: string | undefined): ProtocolVersion | undefined {
  if (header === undefined || header === '') return undefined;
  const version = protocolVersions.find((known) => header === known || header.startsWith(`${known}.`));
  if (version) return version;
  throw new VersionNotSupportedError(
    `This agent speaks A2A ${protocolVersions.join(' and ')}, not ${JSON.stringify(header.slice(0, 20))}.`,
  );
}

function told({ code, message, next }: ErrorShape): { message: string; metadata: Record<string, string> } {
  return { message: `${message} ${next}`.trim(), metadata: { code, next } };
}
