import { BusError, type ErrorCode } from '../core/errors.ts';

/** What the shell is told. Scripts rely on these: they are documented in the help and never change their meaning. */
export const ExitCode = {
  ok: 0,
  failure: 1,
  usage: 2,
  nothing: 3,
  notRunning: 4,
  unknown: 5,
  refused: 6,
  attention: 7,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export const exitCodeMeanings: readonly [ExitCode, string][] = [
  [ExitCode.ok, 'done'],
  [ExitCode.failure, 'the hub or the operation failed'],
  [ExitCode.usage, 'the command was called wrongly; nothing was done'],
  [ExitCode.nothing, 'waited, and nothing came'],
  [ExitCode.notRunning, 'no hub is running (status, stop, doctor)'],
  [ExitCode.unknown, 'there is no such agent, channel, message or conversation'],
  [ExitCode.refused, 'refused: a limit, a right, or a conflict with what is there'],
  [ExitCode.attention, 'something needs you (doctor)'],
];

const codes: Partial<Record<ErrorCode, ExitCode>> = {
  usage: ExitCode.usage,
  'invalid-input': ExitCode.usage,
  'invalid-name': ExitCode.usage,
  'unknown-agent': ExitCode.unknown,
  'unknown-channel': ExitCode.unknown,
  'unknown-message': ExitCode.unknown,
  'unknown-conversation': ExitCode.unknown,
  'agent-removed': ExitCode.unknown,
  'too-large': ExitCode.refused,
  'too-deep': ExitCode.refused,
  'name-taken': ExitCode.refused,
  'name-reserved': ExitCode.refused,
  'channel-taken': ExitCode.refused,
  'not-a-member': ExitCode.refused,
  'key-conflict': ExitCode.refused,
  'already-ended': ExitCode.refused,
  'rate-limited': ExitCode.refused,
  'mailbox-full': ExitCode.refused,
  'hop-limit': ExitCode.refused,
  'too-many-agents': ExitCode.refused,
  'too-many-waits': ExitCode.refused,
  'door-taken': ExitCode.refused,
  'refused-address': ExitCode.refused,
  unauthorized: ExitCode.refused,
  forbidden: ExitCode.refused,
};

export function exitCodeOf(error: unknown): ExitCode {
  return (error instanceof BusError ? codes[error.code] : undefined) ?? ExitCode.failure;
}
