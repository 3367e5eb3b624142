import { readdir, readFile, readlink } from 'node:fs/promises';
import { isCodex } from './codexQueueRoute.ts';

/**
 * How many terminals people have Codex open in, in this folder; undefined where that can't be told for sure. Sessions
 * that run in Codex's server outlive their terminal for a while, and the server does not say who is before them.
 */
export async function codexTerminalsIn(folder: string, platform = process.platform): Promise<number | undefined> {
  if (platform !== 'linux') return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(pids.map((pid) => folderOf(pid)));
  const found = all.filter((one) => one !== undefined);
  return found.includes(elsewhere) ? undefined : found.filter((one) => one === folder).length;
}

/** Told to work in another folder than its own. */
const elsewhere = Symbol('elsewhere');

async function folderOf(pid: string): Promise<string | typeof elsewhere | undefined> {
  try {
    if (!isCodex(await readlink(`/proc/${pid}/exe`))) return undefined;
    const [, ...words] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    if (words.some((word) => notATerminal.has(word))) return undefined;
    if (words.some((word) => /^(-C|--cd)/.test(word))) return elsewhere;
    return await readlink(`/proc/${pid}/cwd`);
  } catch {
    // Another user's, or gone by now.
    return undefined;
  }
}

const notATerminal = new Set(['app-server', 'exec', 'e', 'review', 'mcp', 'mcp-server', 'queue', 'login', 'sandbox']);
