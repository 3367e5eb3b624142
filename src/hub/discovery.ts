/**
 * The record by which clients find the running hub. It is only a hint: a hub that was killed leaves it behind, so a
 * client believes it when the hub answers, and a record that cannot be read never keeps a new hub from starting.
 */
import { rmSync } from 'node:fs';
import { BusError } from '../core/errors.ts';
import { readPrivateFile } from './privateFile.ts';
import { writePrivateFileAtomic } from './privateFolder.ts';

/** A hub that finds another one holding the lock leaves with this: not a failure, since there is a hub. */
export const exitAlreadyRunning = 3;

export interface HubRecord {
  pid: number;
  version: string;
  /** Of the requests between the hub and its own clients; a client that does not know this one has to say so. */
  protocol: number;
  mcpUrl: string;
  rpcPort: number;
  /** The owner's: whoever can read this file is the person at this machine. */
  token: string;
  startedAt: string;
  /** Tells this hub from every other, also where the pid was used again. */
  nonce: string;
}

export type RecordReading = { record: HubRecord } | { record: undefined; reason: 'missing' | 'unreadable' };

const recordBytes = 16_384;

export function writeRecord(path: string, record: HubRecord): void {
  writePrivateFileAtomic(path, `${JSON.stringify(record, null, 2)}\n`);
}

/** Throws only if the file is not ours: a foreign record could send our token anywhere. */
export function readRecord(path: string): RecordReading {
  let text: string | undefined;
  try {
    text = readPrivateFile(path, recordBytes);
  } catch (error) {
    if (error instanceof BusError && error.code === 'unsafe-folder') throw error;
    return { record: undefined, reason: 'unreadable' };
  }
  if (text === undefined) return { record: undefined, reason: 'missing' };
  const record = parseRecord(text);
  return record ? { record } : { record: undefined, reason: 'unreadable' };
}

/** Removes the record if it is still the one of this hub; a successor's stays. */
export function removeRecord(path: string, nonce: string): boolean {
  const { record } = readRecord(path);
  if (record?.nonce !== nonce) return false;
  rmSync(path, { force: true });
  return true;
}

/** Checked by hand: every start of the command line passes here, and loading a schema library would take longer. */
function parseRecord(text: string): HubRecord | undefined {
  let value: Partial<Record<keyof HubRecord, unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, version, protocol, mcpUrl, rpcPort, token, startedAt, nonce } = value;
  const isFilled = (field: unknown): field is string => typeof field === 'string' && field.length > 0;
  if (!isWhole(pid, 1, 2 ** 32) || !isWhole(protocol, 1, 1_000) || !isWhole(rpcPort, 1, 65_535)) return undefined;
  if (!isFilled(version) || !isFilled(token) || !isFilled(startedAt) || !isFilled(nonce)) return undefined;
  if (!isFilled(mcpUrl) || !URL.canParse(mcpUrl) || new URL(mcpUrl).protocol !== 'http:') return undefined;
  return { pid, version, protocol, mcpUrl, rpcPort, token, startedAt, nonce };
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
