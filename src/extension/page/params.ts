/**
 * Guards for what a page asks. The page is our own, but it shows foreign text: whatever comes out of it is checked as if
 * somebody else had written it, and only what is declared is passed on.
 */
import { BusError } from '../../core/errors.ts';

export type Guard<T> = (value: unknown, name: string) => T;

function wrong(name: string, wanted: string): BusError {
  return new BusError('invalid-input', `The page sent no valid ${name}: ${wanted}.`, {
    next: 'Reload the window; if it happens again, the extension has a fault.',
  });
}

export const text =
  (most: number, least = 0): Guard<string> =>
  (value, name) => {
    if (typeof value === 'string' && value.length >= least && value.length <= most) return value;
    throw wrong(name, `a text of ${least} to ${most} characters`);
  };

export const matching =
  (pattern: RegExp): Guard<string> =>
  (value, name) => {
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw wrong(name, `a text like ${pattern.source}`);
  };

export const wholeNumber =
  (least: number, most: number): Guard<number> =>
  (value, name) => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    throw wrong(name, `a whole number from ${least} to ${most}`);
  };

export const flag: Guard<boolean> = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw wrong(name, 'true or false');
};

export const oneOf =
  <const T extends string>(...words: T[]): Guard<T> =>
  (value, name) => {
    if (words.includes(value as T)) return value as T;
    throw wrong(name, `one of ${words.join(', ')}`);
  };

export const list =
  <T>(item: Guard<T>, most: number): Guard<T[]> =>
  (value, name) => {
    if (Array.isArray(value) && value.length <= most) return value.map((one) => item(one, name));
    throw wrong(name, `a list of at most ${most}`);
  };

interface Optional<T> {
  optional: Guard<T>;
}

export const maybe = <T>(guard: Guard<T>): Optional<T> => ({ optional: guard });

type Fields = Record<string, Guard<unknown> | Optional<unknown>>;
type Shape<F extends Fields> = { [K in keyof F as F[K] extends Guard<unknown> ? K : never]: Value<F[K]> } & {
  [K in keyof F as F[K] extends Guard<unknown> ? never : K]?: Value<F[K]>;
};
type Value<F> = F extends Guard<infer T> ? T : F extends Optional<infer T> ? T : never;

/** Fields that are not declared are dropped, absent ones stay absent. */
export function fields<F extends Fields>(declared: F): Guard<Shape<F>> {
  return (value, name) => {
    if (typeof value !== 'object' || value === null) throw wrong(name, 'an object');
    const result: Record<string, unknown> = {};
    for (const [key, guard] of Object.entries(declared)) {
      const given = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
      if (typeof guard === 'function') result[key] = guard(given, key);
      else if (given !== undefined) result[key] = guard.optional(given, key);
    }
    return result as Shape<F>;
  };
}
