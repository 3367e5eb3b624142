import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const keptMs = 24 * 3600_000;

/** Every window hears every question, but only one of them may put it to the person: the one that makes the file. */
export class OnceAcrossWindows {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** @returns whether this window was the first to claim it. If that can't be known, the person is rather asked twice. */
  async claim(what: string): Promise<boolean> {
    try {
      await mkdir(this.folder, { recursive: true });
      await writeFile(join(this.folder, what.replace(/[^\w.-]/g, '_')), '', { flag: 'wx' });
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EEXIST';
    }
  }

  async sweep(now = Date.now()): Promise<void> {
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names) {
      const path = join(this.folder, name);
      const at = (await stat(path).catch(() => undefined))?.mtimeMs ?? now;
      if (now - at > keptMs) await rm(path, { force: true }).catch(() => undefined);
    }
  }
}
