/** Databases of several sizes. They take a while to make, so they are kept for the next run, for as long as they would come out the same. */
import { createHash } from 'node:crypto';
import { constants, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../options.ts';
import { startScript } from './processes.ts';

const cache = join(tmpdir(), 'agent-bus-bench-cache');
const makers = [
  'src/storage/schema.ts',
  'src/storage/searchIndex.ts',
  'test/bench/support/makeDatabase.ts',
  'test/bench/support/texts.ts',
];

export function isCached(messages: number): boolean {
  return existsSync(cachedPath(messages));
}

/** A copy to work on. */
export async function copyDatabase(messages: number, target: string): Promise<void> {
  const path = cachedPath(messages);
  if (!existsSync(path)) await make(messages, path);
  copyFileSync(path, target, constants.COPYFILE_FICLONE);
}

async function make(messages: number, path: string): Promise<void> {
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  removeOutdated();
  const draft = `${path}.${process.pid}`;
  const began = performance.now();
  console.log(`Making a database of ${messages.toLocaleString('en')} messages; the next run finds it in ${cache}.`);
  try {
    const maker = startScript(join(import.meta.dirname, 'makeDatabase.ts'), [draft, String(messages)]);
    const code = await new Promise((resolve) => maker.once('exit', resolve));
    if (code !== 0) throw new Error(`making a database of ${messages} messages failed`);
    renameSync(draft, path);
  } finally {
    for (const rest of ['', '-wal', '-shm']) rmSync(draft + rest, { force: true });
  }
  console.log(`  done in ${Math.round((performance.now() - began) / 1000)} s`);
}

function cachedPath(messages: number): string {
  return join(cache, `${key()}-${messages}.db`);
}

function removeOutdated(): void {
  for (const name of readdirSync(cache)) if (!name.startsWith(key())) rmSync(join(cache, name), { force: true });
}

function key(): string {
  const hash = createHash('sha256');
  for (const file of makers) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
