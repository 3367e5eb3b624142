/**
 * The programs of the bus in a place that outlives updates of the extension: `app/<version>-<hash>` in the folder of the
 * bus holds a copy of the bundles, `bin/agent-bus` starts it. A folder in `app` is complete or not there, and is never
 * changed afterwards, so a hub that runs from it is not pulled from under its feet.
 */
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { compareVersions } from '../client/versions.ts';
import { busHome, type BusHome } from '../hub/home.ts';
import { ensurePrivateFolder } from '../hub/privateFolder.ts';
import { posixLauncher, readMark, windowsLauncher, type LauncherParts } from './launcher.ts';

export interface Installation {
  home: BusHome;
  /** The folder that goes on the PATH. */
  bin: string;
  hubScript: string;
}

export interface InstallOptions {
  /** The bundles as they came with the extension. */
  from: string;
  version: string;
  runtime?: string;
  home?: BusHome;
  env?: Record<string, string | undefined>;
}

/** What only the window itself needs stays with the extension. */
const forTheWindow = ['extension.js', 'emulator.js', 'webview.js'];
const keptCopies = 2;
const abandonedMs = 10 * 60_000;
const windows = process.platform === 'win32';

export async function install(options: InstallOptions): Promise<Installation> {
  const { version, env = process.env, runtime = process.execPath } = options;
  const home = options.home ?? busHome(env);
  const bin = join(home.folder, 'bin');
  ensurePrivateFolder(home.folder);
  const newer = await newerInstallation(bin, version);
  const app = newer ?? (await copyBundles(options.from, home, version));
  if (newer === undefined) {
    const usual = busHome({ ...env, AGENT_BUS_HOME: undefined }).folder;
    const custom = home.folder === usual ? undefined : home.folder;
    const cache = join(home.folder, 'compile-cache');
    await writeLaunchers(bin, { version, runtime, app, home: custom, cache }, env);
    // What was compiled from a copy that is gone is of no use to anybody.
    if (await removeOld(join(home.folder, 'app'), app)) await fs.rm(cache, { recursive: true, force: true });
  }
  return { home, bin, hubScript: join(app, 'hub.js') };
}

/** The editor in another window may be ahead of this one: its copy serves both. */
async function newerInstallation(bin: string, version: string): Promise<string | undefined> {
  const launcher = await fs.readFile(join(bin, windows ? 'agent-bus.cmd' : 'agent-bus'), 'utf8').catch(() => '');
  const found = readMark(launcher);
  if (!found || compareVersions(found.version, version) <= 0) return undefined;
  const works = await fs.access(join(found.app, 'cli.js')).then(
    () => true,
    () => false,
  );
  return works ? found.app : undefined;
}

async function copyBundles(from: string, home: BusHome, version: string): Promise<string> {
  const names = (await fs.readdir(from))
    .filter((name) => (name.endsWith('.js') || name === 'package.json') && !forTheWindow.includes(name))
    .sort();
  const hash = createHash('sha256');
  const files = new Map<string, Buffer>();
  for (const name of names) {
    const bytes = await fs.readFile(join(from, name));
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    files.set(name, bytes);
  }
  const target = join(home.folder, 'app', `${version}-${hash.digest('hex').slice(0, 8)}`);
  if (await isWhole(target, files)) return target;

  const draft = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  await fs.mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    for (const [name, bytes] of files) await fs.writeFile(join(draft, name), bytes, { mode: 0o600 });
    await moveInto(draft, target, files);
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
  return target;
}

/** Another window may have been faster; what is there but damaged makes room. */
async function moveInto(draft: string, target: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await fs.rename(draft, target);
    } catch (error) {
      if (await isWhole(target, files)) return;
      if (attempt >= 5) throw error;
      await fs.rename(target, `${target}.${randomBytes(6).toString('hex')}.tmp`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    }
  }
}

async function isWhole(folder: string, files: ReadonlyMap<string, Buffer>): Promise<boolean> {
  try {
    for (const [name, { length }] of files) if ((await fs.stat(join(folder, name))).size !== length) return false;
    return true;
  } catch {
    return false;
  }
}

async function writeLaunchers(
  bin: string,
  parts: Omit<LauncherParts, 'path'>,
  env: Record<string, string | undefined>,
): Promise<void> {
  await fs.mkdir(bin, { recursive: true, mode: 0o700 });
  const posix = join(bin, 'agent-bus');
  if (!windows) return replace(posix, posixLauncher({ ...parts, path: posix }));
  // Git Bash does not look for agent-bus.cmd.
  const cmd = `${posix}.cmd`;
  await replace(cmd, windowsLauncher({ ...parts, path: cmd }, env));
  await replace(posix, posixLauncher({ ...parts, path: cmd, app: parts.app.replaceAll('\\', '/') }));
}

/** Whoever starts the launcher at this moment gets the old one or the new one. */
async function replace(path: string, text: string): Promise<void> {
  if ((await fs.readFile(path, 'utf8').catch(() => undefined)) === text) return;
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await fs.writeFile(draft, text, { mode: 0o700, flag: 'wx' });
    await fs.rename(draft, path);
  } finally {
    await fs.rm(draft, { force: true });
  }
}

/** The last copy before this one may still have a hub or an MCP bridge running from it. */
async function removeOld(folder: string, current: string): Promise<boolean> {
  const others: { path: string; at: number }[] = [];
  for (const name of await fs.readdir(folder)) {
    const path = join(folder, name);
    const at = (await fs.stat(path).catch(() => undefined))?.mtimeMs;
    if (path === current || at === undefined) continue;
    if (!name.endsWith('.tmp')) others.push({ path, at });
    else if (Date.now() - at > abandonedMs) others.push({ path, at: 0 });
  }
  others.sort((a, b) => b.at - a.at);
  const gone = others.slice(keptCopies - 1);
  for (const { path } of gone) {
    // One that is in use on Windows stays for the next time.
    await fs.rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
  return gone.length > 0;
}
