/**
 * The copy of a file as it was before us, beside it. It is written once for each time that we come into a file, never
 * changed afterwards, and it tells `disconnect` what had been there.
 */
import * as fs from 'node:fs';

const ending = '.agent-bus-backup';

/** @returns the backups of a file, oldest first */
export function backupsOf(path: string): string[] {
  const found: string[] = [];
  for (let name = backupName(path, found.length); fs.existsSync(name); name = backupName(path, found.length)) {
    found.push(name);
  }
  return found;
}

export function nextBackup(path: string): string {
  return backupName(path, backupsOf(path).length);
}

function backupName(path: string, index: number): string {
  return path + ending + (index === 0 ? '' : `-${index + 1}`);
}
