import { BusError } from './errors.ts';
import { limits, namePattern } from './limits.ts';

/** The person at this machine. */
export const personName = 'person';

/** The bus itself, as the sender of notices. */
export const busName = 'agent-bus';

const reserved = new Set([
  personName,
  'hub',
  'bus',
  busName,
  'system',
  'user',
  'human',
  'all',
  'everyone',
  'me',
  'you',
  'self',
]);

export function assertFreeForm(name: string): void {
  if (!namePattern.test(name)) {
    throw new BusError('invalid-name', `"${name.slice(0, 60)}" is not a name the bus accepts.`, {
      next: `Use 1 to ${limits.nameLength} characters: a–z, 0–9 and "-", not beginning with "-". For example "${suggestName(name)}".`,
    });
  }
}

export function assertNotReserved(name: string): void {
  if (reserved.has(name)) {
    throw new BusError('name-reserved', `The name "${name}" is reserved.`, {
      next: `Choose another, for example "${name.slice(0, limits.nameLength - 6)}-agent".`,
    });
  }
}

/** Any text as a valid name. */
export function suggestName(text: string): string {
  const name = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, limits.nameLength)
    .replace(/-+$/, '');
  return name === '' || reserved.has(name) ? 'agent' : name;
}

/** `base`, or `base-2`, `base-3`… whichever is free first, never longer than a name may be. */
export function freeName(base: string, taken: (name: string) => boolean): string {
  if (!taken(base) && !reserved.has(base)) return base;
  for (let n = 2; ; n++) {
    const suffix = `-${n}`;
    const name = base.slice(0, limits.nameLength - suffix.length) + suffix;
    if (!taken(name)) return name;
  }
}

/** The nearest known name by edit distance, for error messages; undefined when none is near. */
export function closestName(wanted: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) >= bestDistance && !name.includes(wanted)) continue;
    const distance = name.includes(wanted) && wanted.length > 2 ? 1 : editDistance(wanted, name, bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string, giveUp: number): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const value = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      current.push(value);
      smallest = Math.min(smallest, value);
    }
    if (smallest >= giveUp) return giveUp;
    previous = current;
  }
  return previous[b.length] ?? giveUp;
}
