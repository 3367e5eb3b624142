/** Our errors as JSON-RPC has them, and back. */
import { BusError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { isObject } from './wireMessage.ts';

export const parseError = -32700;
export const invalidRequest = -32600;
export const methodNotFound = -32601;
export const invalidParams = -32602;
export const internalError = -32603;
export const busError = -32000;
export const requestCancelled = -32800;

export class UnknownMethod extends BusError {
  constructor(method: string) {
    super('unknown-tool', `There is no method "${method.slice(0, 100)}".`, {
      next: 'Check its name, and that both sides have the same version.',
    });
  }
}

export function wireCode(error: unknown): number {
  if (error instanceof UnknownMethod) return methodNotFound;
  if (error instanceof BusError) return error.code === 'cancelled' ? requestCancelled : busError;
  return internalError;
}

/** The codes of sides that are not a hub, which send no code of ours. */
export const codesOfOthers: Record<number, ErrorCode> = {
  [parseError]: 'invalid-input',
  [invalidRequest]: 'invalid-input',
  [invalidParams]: 'invalid-input',
  [methodNotFound]: 'unknown-tool',
  [requestCancelled]: 'cancelled',
};

export function fromWire(error: Record<string, unknown>): BusError {
  const data = isObject(error['data']) ? error['data'] : {};
  const { code, next } = data;
  const message = error['message'];
  return new BusError(
    typeof code === 'string' ? (code as ErrorCode) : (codesOfOthers[error['code'] as number] ?? 'internal'),
    typeof message === 'string' ? message : 'The other side failed and did not say why.',
    { next: typeof next === 'string' ? next : 'Try once more; if it happens again, look at `agent-bus logs`.' },
  );
}

export function lost(message: string, cause?: unknown): BusError {
  return new BusError('hub-unavailable', message, {
    next: 'Connect again and repeat the call with the same key.',
    cause,
  });
}

export function cancelled(cause?: unknown): BusError {
  return new BusError('cancelled', 'The call was cancelled.', { next: 'Call again if you still need it.', cause });
}

export function notJsonRpc(message = 'This is not a JSON-RPC 2.0 message.'): BusError {
  return new BusError('invalid-input', message, {
    next: 'Send single JSON-RPC 2.0 requests, notifications and responses; batches are not taken.',
  });
}

export function tooManyCalls(most: number): BusError {
  return new BusError('too-many-waits', `${most} calls are already running on this connection.`, {
    next: 'Let some of them end, or cancel them, then try again.',
  });
}

export function slowReader(most: number): BusError {
  return new BusError('slow-reader', `More than ${most} bytes waited to be read, so the connection was closed.`, {
    next: 'Connect again and keep reading while you send.',
  });
}
