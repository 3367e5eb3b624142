/** settings.json: what a person may change about the hub. A mistake in it is said, never skipped over. */
import { z } from 'zod';
import { BusError } from '../core/errors.ts';
import { defaultTunables } from '../core/limits.ts';
import { readPrivateFile } from './privateFile.ts';

const whole = (least: number, most: number) => z.int().min(least).max(most);

const schema = z.strictObject({
  /** With no client for so long the hub ends itself; 0 means never. */
  idleMinutes: z.number().min(0).max(525_600).default(15),
  /** 0 means any, the last one first. */
  port: whole(0, 65_535).default(0),
  /** What is older, or beyond this size, is removed, unless it is unread or a pending request; 0 means never. */
  retention: z
    .strictObject({
      days: z.number().min(0).max(36_500).default(180),
      megabytes: z.number().min(0).max(1_048_576).default(2_048),
    })
    .prefault({}),
  limits: z
    .strictObject({
      rateBurst: whole(1, 1_000_000_000).default(defaultTunables.rateBurst),
      ratePerSecond: z.number().min(0.01).max(1_000_000_000).default(defaultTunables.ratePerSecond),
      mailbox: whole(1, 1_000_000_000).default(defaultTunables.mailbox),
      hops: whole(1, 10_000).default(defaultTunables.hops),
      wakeHops: whole(1, 10_000).default(defaultTunables.wakeHops),
    })
    .prefault({}),
  /** How long a chat is quiet before another may take its name; before a turn without a sign of life counts as over;
   *  how long a submitted turn has to show up; after how long the sender of a request hears that its recipient is away;
   *  how long somebody waits to be told that an agent is idle or a request has ended. */
  reach: z
    .strictObject({
      quietMinutes: z.number().min(0).max(525_600).default(30),
      staleSeconds: z.number().min(0).max(86_400).default(180),
      proofSeconds: z.number().min(0.01).max(3_600).default(30),
      unreachableMinutes: z.number().min(0.001).max(525_600).default(10),
      tellHours: z.number().min(0.0001).max(8_760).default(24),
    })
    .prefault({}),
  /** Agents elsewhere: how often a task is asked for where there is no stream, at first and at most; how often an idle
   *  agent's card is read again; after how long an agent that can't be reached is given up; whether link-local addresses
   *  and those of cloud metadata services may be used. */
  a2a: z
    .strictObject({
      pollSeconds: z.number().min(0.01).max(3_600).default(1),
      pollAtMostSeconds: z.number().min(0.01).max(3_600).default(30),
      healthMinutes: z.number().min(0.01).max(10_000).default(10),
      unreachableHours: z.number().min(0.0001).max(10_000).default(24),
      allowLinkLocal: z.boolean().default(false),
    })
    .prefault({}),
  logMegabytes: z.number().min(0.1).max(1_024).default(2),
});

export type Settings = z.output<typeof schema>;

export const defaultSettings: Readonly<Settings> = schema.parse({});

const settingsBytes = 65_536;

/** The settings in force; a missing file or an empty one means the defaults. */
export function loadSettings(path: string): Settings {
  const text = readPrivateFile(path, settingsBytes)?.replace(/^\uFEFF/, '');
  if (text === undefined || text.trim() === '') return schema.parse({});
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw bad(path, `is not valid JSON: ${(error as Error).message}`, 'Correct it, or remove the file.', error);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const unknown = issue.keys.map((key) => `"${[...issue.path, key].join('.')}"`).join(', ');
    const known = knownKeys(issue.path).join(', ');
    throw bad(path, `has a setting that does not exist: ${unknown}.`, `Remove it, or use one of: ${known}.`);
  }
  const where = issue?.path.length ? `"${issue.path.join('.')}"` : 'the file';
  throw bad(
    path,
    `has a wrong value for ${where}: ${issue?.message ?? 'not usable'}.`,
    'Correct it, or remove the line.',
  );
}

function knownKeys(path: PropertyKey[]): string[] {
  let level: unknown = defaultSettings;
  for (const key of path) level = (level as Record<PropertyKey, unknown>)[key];
  return Object.keys(level as object);
}

function bad(path: string, what: string, next: string, cause?: unknown): BusError {
  return new BusError('bad-settings', `${path} ${what}`, { next: `${next} (${path})`, cause });
}
