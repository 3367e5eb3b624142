import { BusError } from '../core/errors.ts';

export function usageError(message: string, next: string): BusError {
  return new BusError('usage', message, { next });
}
