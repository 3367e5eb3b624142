import { usageError } from './usageError.ts';

/** A number that was given on the command line, within its bounds. */
export function optionNumber(
  text: string | undefined,
  option: string,
  bounds: { least: number; most: number; whole?: boolean },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (value >= bounds.least && value <= bounds.most && (!bounds.whole || Number.isInteger(value))) return value;
  const kind = bounds.whole ? 'a whole number' : 'a number';
  const range = bounds.most === Infinity ? `of at least ${bounds.least}` : `from ${bounds.least} to ${bounds.most}`;
  throw usageError(
    `--${option} takes ${kind} ${range}, not "${text.slice(0, 40)}".`,
    `For example: --${option} ${Math.max(10, bounds.least)}`,
  );
}

export function seconds(text: string | undefined, option: string): number | undefined {
  return optionNumber(text, option, { least: 0, most: Infinity });
}
