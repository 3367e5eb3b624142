// Programs that the tests need and that are too big for node_modules: installed by npm, once per machine, in a folder
// of the user's cache. Built-in modules only.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive, readIfThere } from './lockFile.mjs';

export function cacheFolder() {
  if (process.env.XDG_CACHE_HOME) return join(process.env.XDG_CACHE_HOME, 'agent-bus-dev');
  const place = process.platform === 'darwin' ? join('Library', 'Caches') : '.cache';
  return join(homedir(), place, 'agent-bus-dev');
}

/**
 * `npm install` of the manifest in that folder.
 * @param {{ folder: string, manifest: object, node: string, what: string, flags?: string[], say: (text: string) => void, step?: () => string }} wanted
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function npmInstall({ folder, manifest, node, what, flags = [], say, step = () => '' }) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }, null, 2));
  const log = join(folder, 'install.log');
  const output = openSync(log, 'a');
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const ticker = setInterval(() => say(`Still installing ${what}: ${seconds()} s. ${step()}`.trimEnd()), 20_000);
  try {
    const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
    const [program, ...args] = [...npmCommand(node), 'install', ...quiet, ...flags];
    const child = spawn(program, args, { cwd: folder, env: npmEnvironment(node), stdio: ['ignore', output, output] });
    const end = () => child.kill();
    process.once('exit', end);
    const code = await new Promise((done) => child.on('error', done).on('close', done));
    process.off('exit', end);
    if (code === 0) {
      say(`${what[0].toUpperCase()}${what.slice(1)} installed in ${seconds()} s.`);
      return undefined;
    }
    const tail = (readIfThere(log) ?? '').trimEnd().split('\n').slice(-15).join('\n');
    return `${code instanceof Error ? code.message : `npm ended with ${code}`}\n${tail}`;
  } finally {
    clearInterval(ticker);
    closeSync(output);
  }
}

/** Two tasks at once: one installs, the other waits. */
export async function whileLocked(lock, { what, say }, work) {
  mkdirSync(dirname(lock), { recursive: true });
  let told = false;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isAlive(Number(readIfThere(lock)))) {
        rmSync(lock, { force: true });
        continue;
      }
      if (!told) say(`Another run is installing ${what}; waiting for it.`);
      told = true;
      await pause(500);
    }
  }
  const unlock = () => rmSync(lock, { force: true });
  process.once('exit', unlock);
  try {
    return await work();
  } finally {
    process.off('exit', unlock);
    unlock();
  }
}

function npmCommand(node) {
  const fromRun = process.env.npm_execpath;
  if (fromRun && /npm-cli\.c?js$/.test(fromRun) && existsSync(fromRun)) return [node, fromRun];
  for (const entry of (process.env.PATH ?? '').split(delimiter)) {
    const npm = join(entry, 'npm');
    if (!existsSync(npm)) continue;
    const script = realpathSync(npm);
    if (/\.c?js$/.test(script)) return [node, script];
  }
  return ['npm'];
}

/** Nothing of an `npm run` around us, which may run on an older Node; code-server's install script asks npm which. */
function npmEnvironment(node) {
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (
      !/^(npm_(package|lifecycle|config_(local_prefix|node_gyp|user_agent)|command|node_execpath)|INIT_CWD|NODE$)/i.test(
        name,
      )
    ) {
      env[name] = value;
    }
  }
  env.PATH = [dirname(node), env.PATH ?? ''].join(delimiter);
  env.npm_config_ignore_scripts = 'false';
  // The headers of whichever Node is installed here do, since all modules use Node-API; that spares a download.
  const headers = spawnSync(...withArgs(npmCommand(node), 'config', 'get', 'nodedir'), { encoding: 'utf8', env });
  if (!/\S/.test(headers.stdout ?? '') || /undefined|null/.test(headers.stdout)) {
    const prefix = (env.PATH ?? '').split(delimiter).map((entry) => join(entry, '..'));
    const nodedir = prefix.find((at) => existsSync(join(at, 'include', 'node', 'node_api.h')));
    if (nodedir) env.npm_config_nodedir = nodedir;
  }
  return env;
}

function withArgs([program, ...before], ...args) {
  return [program, [...before, ...args]];
}
