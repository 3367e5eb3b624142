import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { BusHome } from '../hub/home.ts';
import { ensurePrivateFolder } from '../hub/privateFolder.ts';

/**
 * One process that waits for a session is enough, and the one that came last stays. The hub says so as well, but a
 * product may go on setting new ones while there is no hub.
 */
export class SoleWaiter {
  private readonly folder: string;
  private readonly file: string;

  /** @param what the session, and by which route it is waited for */
  constructor(home: BusHome, what: readonly string[]) {
    this.folder = join(home.folder, 'waiting');
    this.file = join(this.folder, createHash('sha256').update(what.join('\n')).digest('hex').slice(0, 32));
  }

  claim(): void {
    ensurePrivateFolder(this.folder);
    for (const name of fs.readdirSync(this.folder)) {
      const other = join(this.folder, name);
      if (!isAlive(Number(read(other)))) fs.rmSync(other, { force: true });
    }
    fs.writeFileSync(this.file, String(process.pid), { mode: 0o600 });
  }

  isReplaced(): boolean {
    const holder = read(this.file);
    return holder !== undefined && holder !== String(process.pid);
  }

  release(): void {
    if (!this.isReplaced()) fs.rmSync(this.file, { force: true });
  }
}

export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function read(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
