// A real VS Code without a desktop: code-server from npm, once per machine in a cache folder, and a browser to show it.
// `npm start`, the tests and the bench share it. Built-in modules only.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasProgram, installPackages } from './debian.mjs';
import { cacheFolder, npmInstall, whileLocked } from './devCache.mjs';
import { readIfThere } from './lockFile.mjs';

/** code-server 4.x.y holds VS Code 1.x.y. */
export const editorVersion = '4.139.1';
const nodeMajor = 24;

/** The editor or the browser can't be had on this machine; the message says why and what to do. */
export class EditorUnavailable extends Error {}

const quietly = () => {};

/**
 * Installs the editor unless it is there; that takes some minutes, once.
 * @returns {Promise<{ entry: string, node: string, version: string }>} run `node entry …`, with `node` first on PATH
 */
export async function ensureEditor({ say = quietly } = {}) {
  if (process.platform === 'win32') {
    throw new EditorUnavailable(
      'code-server does not run on Windows. `npm run test:desktop` tries the installed VS Code.',
    );
  }
  const node = nodeForEditor();
  const folder = join(cacheFolder(), `vscode-${editorVersion}`);
  const entry = join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js');
  const found = { entry, node, version: editorVersion };
  if (isComplete(folder)) return found;

  await whileLocked(`${folder}.lock`, { what: 'VS Code', say }, async () => {
    if (isComplete(folder) || adoptByHand(folder, found)) return;
    ensureCompiler(say);
    if (existsSync(folder)) say('An unfinished install of VS Code is removed first.');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    await install(folder, node, say);
    if (!answers(found)) throw new EditorUnavailable(`code-server was installed in ${folder} but does not start.`);
    writeFileSync(stampOf(folder), `${editorVersion}\n`);
  });
  return found;
}

/** @returns {Promise<string>} the path of a Chromium or Chrome, installed from Debian's packages if need be */
export async function ensureChromium({ say = quietly } = {}) {
  const found = findChromium();
  if (found) {
    if (!hasFonts()) installPackages(['fonts-dejavu-core', 'fonts-noto-color-emoji'], say);
    return found;
  }
  // Without a font a page is blank.
  installPackages(['chromium', 'fonts-dejavu-core', 'fonts-noto-color-emoji'], say);
  const installed = findChromium();
  if (installed) return installed;
  throw new EditorUnavailable('There is no Chromium or Chrome here. Install one, or name it in AGENT_BUS_CHROMIUM.');
}

/** Flags for a Chromium that shows the editor, also as root in a container and with several windows at once. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];

/** code-server wants exactly this Node; npm's `node` package brings it. */
function nodeForEditor() {
  if (Number(process.versions.node.split('.')[0]) === nodeMajor) return process.execPath;
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const own = join(root, 'node_modules', 'node', 'bin', 'node');
  if (existsSync(own)) return own;
  throw new EditorUnavailable(`code-server needs Node ${nodeMajor}, this is ${process.version}.`);
}

const stampOf = (folder) => join(folder, '.agent-bus-installed');

function isComplete(folder) {
  return readIfThere(stampOf(folder))?.trim() === editorVersion;
}

/** Somebody has run `npm install` there: npm writes its own record last. */
function adoptByHand(folder, editor) {
  if (!existsSync(join(folder, 'node_modules', '.package-lock.json')) || !answers(editor)) return false;
  writeFileSync(stampOf(folder), `${editorVersion}\n`);
  return true;
}

function answers({ entry, node }) {
  if (!existsSync(join(dirname(entry), '..', '..', 'lib', 'vscode', 'node_modules', 'node-pty'))) return false;
  const { status, stdout } = spawnSync(node, [entry, '--version'], { encoding: 'utf8', timeout: 60_000 });
  return status === 0 && stdout.includes(editorVersion);
}

/** The native modules are compiled: node-gyp wants Python, make and g++, and kerberos wants its header. */
function ensureCompiler(say) {
  if (process.platform !== 'linux') return;
  const missing = [
    ['g++', hasProgram('g++')],
    ['make', hasProgram('make')],
    ['python3', hasProgram('python3')],
    ['libkrb5-dev', ['/usr/include', '/usr/local/include'].some((at) => existsSync(join(at, 'gssapi', 'gssapi.h')))],
  ];
  const packages = missing.filter(([, there]) => !there).map(([name]) => name);
  if (packages.length > 0 && !installPackages(packages, say)) {
    throw new EditorUnavailable(
      `To compile VS Code's native modules, ${packages.join(', ')} must be installed first (the names of Debian's packages).`,
    );
  }
}

async function install(folder, node, say) {
  say(`Installing VS Code ${editorVersion.replace(/^4/, '1')} for the browser, once: 740 MB, about 3 minutes.`);
  const manifest = {
    name: 'agent-bus-editor',
    dependencies: { 'code-server': editorVersion },
    // A newer npm runs no install script that is not named here; code-server's own manifests name theirs.
    allowScripts: { 'code-server': true, argon2: true },
  };
  const step = () => stepIn(folder);
  const flags = ['--foreground-scripts'];
  const failure = await npmInstall({ folder, manifest, node, what: 'VS Code', flags, say, step });
  if (failure !== undefined) throw new EditorUnavailable(`VS Code could not be installed (${failure}).`);
}

function stepIn(folder) {
  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  if (!existsSync(vscode)) return 'Packages are fetched.';
  if (existsSync(join(vscode, 'extensions', 'node_modules'))) return 'Its built-in extensions are completed.';
  return 'Its native modules are compiled.';
}

function findChromium() {
  const named = process.env.AGENT_BUS_CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  const places = (process.env.PATH ?? '').split(delimiter);
  for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) {
    const place = places.find((entry) => existsSync(join(entry, name)));
    if (place) return join(place, name);
  }
  const programs = [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA];
  return [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ...programs.filter(Boolean).map((at) => join(at, 'Google', 'Chrome', 'Application', 'chrome.exe')),
  ].find((file) => existsSync(file));
}

function hasFonts() {
  if (process.platform !== 'linux') return true;
  const places = ['/usr/share/fonts', '/usr/local/share/fonts', join(homedir(), '.local', 'share', 'fonts')];
  return places.some(
    (at) => existsSync(at) && readdirSync(at, { recursive: true }).some((file) => /\.(ttf|otf|ttc|pfb)$/i.test(file)),
  );
}
