// Makes sure of everything a task needs, then runs it on Node 24: `node scripts/bootstrap.mjs TASK [args]`.
// It runs on an old Node 20 and without node_modules, hence plain JavaScript and built-in modules only.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hasProgram, installPackages as installDebianPackages } from './debian.mjs';
import { isAlive, readIfThere } from './lockFile.mjs';

const wantedNode = 24;
const windows = process.platform === 'win32';
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stamp = join(modules, '.agent-bus-installed');

const tasks = {
  start: { script: 'scripts/start.mjs' },
  // The power-loss and bad-disk tests watch and break system calls with it; without it they say so and are skipped.
  // The real editor is fetched by the tests that need it: scripts/editor.mjs.
  test: { script: 'scripts/test.mjs', programs: ['strace'] },
  agents: { script: 'scripts/testAgents.mjs' },
  desktop: { script: 'scripts/desktop.mjs', build: true },
  check: { script: 'scripts/test.mjs', args: ['--checks'] },
  build: { script: 'esbuild.mjs' },
  package: { script: 'scripts/package.mjs' },
  bench: { script: 'test/bench/main.ts', build: true },
  format: { script: 'node_modules/prettier/bin/prettier.cjs', args: ['--write', '--log-level', 'warn', '.'] },
};

const say = (text) => console.error(`[agent-bus] ${text}`);

function fail(text) {
  say(text);
  process.exit(1);
}

const [name = '', ...extra] = process.argv.slice(2);
const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
if (!task) fail(`Say which task to run: ${Object.keys(tasks).join(', ')}.`);

const node = ensureInstalled();
// Programs that are started by name or by a #! line find the same Node.
process.env.PATH = [dirname(node), process.env.PATH ?? ''].join(delimiter);
for (const program of task.programs ?? []) ensureProgram(program);
if (task.build) {
  const built = spawnSync(node, [join(root, 'esbuild.mjs')], { cwd: root, stdio: 'inherit' });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
await run(node, join(root, task.script), [...(task.args ?? []), ...extra]);

/** Installs what is missing; gives the path of a Node that is new enough. */
function ensureInstalled() {
  const ready = () => (packagesAreComplete() ? findNode() : undefined);
  const found = ready();
  if (found) return remember(found);
  return whileLocked(() => {
    const meanwhile = ready();
    if (meanwhile) return remember(meanwhile);
    for (const attempt of ['first', 'second']) {
      const began = Date.now();
      if (existsSync(modules)) say('The npm packages are unfinished or out of date: installing them anew.');
      else say('Installing the npm packages (first run: half a minute or so).');
      if (installPackages() && (findNode() ?? fetchNode())) {
        say(`Packages installed in ${Math.round((Date.now() - began) / 1000)} s.`);
        return remember(findNode());
      }
      if (attempt === 'first') say('That did not work; once more from nothing.');
    }
    fail('The npm packages could not be installed. The lines above say why; is the npm registry reachable?');
  });
}

/** Where it can't be installed, the task goes on without it. */
function ensureProgram(program) {
  if (process.platform !== 'linux' || hasProgram(program)) return;
  installDebianPackages([program], say);
  if (!hasProgram(program))
    say(`${program} is not installed and can't be from here: the tests that need it are skipped.`);
}

function lockHash() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

function remember(found) {
  if (readIfThere(stamp) !== lockHash()) writeFileSync(stamp, lockHash());
  return found;
}

/** Our stamp says so, or npm's own record, which npm writes last, after an install by hand. */
function packagesAreComplete() {
  if (readIfThere(stamp) === lockHash()) return true;
  const installed = readIfThere(join(modules, '.package-lock.json'));
  if (installed === undefined) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(installed).packages;
  for (const path of Object.keys(present)) if (wanted[path]?.version !== present[path].version) return false;
  return Object.keys(wanted).every(
    (path) => path === '' || wanted[path].optional || wanted[path].peer || present[path],
  );
}

function installPackages() {
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  // Windows can't delete the program that runs; npm install changes only what differs.
  if (windows && process.execPath.startsWith(modules)) return npm(['install', '--no-save', ...flags]);
  rmSync(modules, { recursive: true, force: true, maxRetries: 5 });
  return npm(['ci', ...flags]);
}

function npm(args) {
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !resolve(entry).startsWith(modules));
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: path.join(delimiter) } };
  const cli = process.env.npm_execpath;
  // Inside `npm run` npm says where it is; that spares us the shell and its quoting.
  // This very process may run on the Node that has just been removed with the packages.
  const program = existsSync(process.execPath) ? process.execPath : 'node';
  if (cli && /\.c?js$/.test(cli)) return spawnSync(program, [cli, ...args], options).status === 0;
  return spawnSync(windows ? 'npm.cmd' : 'npm', args, { ...options, shell: windows }).status === 0;
}

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= wantedNode && existsSync(process.execPath))
    return process.execPath;
  const candidate = join(modules, 'node', 'bin', windows ? 'node.exe' : 'node');
  const version = spawnSync(candidate, ['--version'], { encoding: 'utf8' });
  return version.status === 0 && Number(/^v(\d+)/.exec(version.stdout)?.[1]) >= wantedNode ? candidate : undefined;
}

/** Where npm was told to run no install scripts, the `node` package has not fetched its binary yet. */
function fetchNode() {
  const folder = join(modules, 'node');
  if (!existsSync(folder)) return undefined;
  say(`Fetching Node ${wantedNode}.`);
  spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: folder, stdio: 'inherit' });
  return findNode();
}

/** Two tasks started at once on a fresh clone: one installs, the other waits. */
function whileLocked(work) {
  const lock = join(root, '.cache', 'install.lock');
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
      if (!told) say('Another run is installing the packages; waiting for it.');
      told = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    }
  }
  process.on('exit', () => rmSync(lock, { force: true }));
  const result = work();
  rmSync(lock, { force: true });
  return result;
}

/** npm passes a signal to its shell, and the shell dies without passing it on; then we go as well. */
function endWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}

async function run(program, script, args) {
  if (process.env.npm_lifecycle_event && !windows) endWithParent();
  if (program === process.execPath) {
    process.argv = [program, script, ...args];
    await import(pathToFileURL(script).href);
    return;
  }
  const child = spawn(program, [script, ...args], { cwd: root, stdio: 'inherit' });
  // A terminal sends Ctrl-C to the child as well; we only have to outlive it. Other signals are passed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || (!process.stdin.isTTY && !windows)) child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`${program} could not be started: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
