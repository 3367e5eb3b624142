/** One file, replaced in one step: whoever reads it finds it as it was or as it will be. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const abandonedMs = 60_000;

/** Where a path really leads. A link stays a link, also one whose end is not there yet. */
export function endOfLinks(path: string): string {
  let end = resolve(path);
  for (let steps = 0; steps < 40; steps++) {
    const stat = fs.lstatSync(end, { throwIfNoEntry: false });
    if (!stat?.isSymbolicLink()) return end;
    end = resolve(dirname(end), fs.readlinkSync(end));
  }
  throw Object.assign(new Error(`${path}: its links lead in a circle`), { code: 'ELOOP' });
}

/** @param mode of a file that is not there yet; one that is keeps its own */
export function replaceFile(path: string, bytes: Uint8Array, mode: number): void {
  const end = endOfLinks(path);
  const known = fs.statSync(end, { throwIfNoEntry: false });
  removeDrafts(end);
  const draft = writeDraft(end, bytes, known ? known.mode & 0o7777 : mode);
  try {
    if (known) keepOwner(draft, known);
    fs.renameSync(draft, end);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

/** Complete or not there, and never over something that is. */
export function createFile(path: string, bytes: Uint8Array, mode: number): void {
  const draft = writeDraft(path, bytes, mode);
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    // Not every file system has links.
    if (fs.existsSync(path)) throw error;
    fs.renameSync(draft, path);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function writeDraft(path: string, bytes: Uint8Array, mode: number): string {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.agent-bus-draft`);
  const file = fs.openSync(draft, 'wx', mode);
  try {
    fs.writeFileSync(file, bytes);
    // The mask of the process may have taken something away.
    if (process.platform !== 'win32') fs.fchmodSync(file, mode);
    fs.fsyncSync(file);
    return draft;
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  } finally {
    fs.closeSync(file);
  }
}

/** What an earlier process left behind when it was killed in the middle. */
function removeDrafts(path: string): void {
  const folder = dirname(path);
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith(`.${basename(path)}.`) || !name.endsWith('.agent-bus-draft')) continue;
    const draft = join(folder, name);
    const stat = fs.statSync(draft, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > abandonedMs) fs.rmSync(draft, { force: true });
  }
}

function keepOwner(draft: string, { uid, gid }: fs.Stats): void {
  try {
    fs.chownSync(draft, uid, gid);
  } catch {
    // Only root may give a file away; whoever else may write here has it now.
  }
}
