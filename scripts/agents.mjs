// The real agent products from npm, pinned, once per machine in a cache folder, and tmux for their interactive sessions.
// `npm run test:agents` and the bench run them. Built-in modules only.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasProgram, installPackages } from './debian.mjs';
import { cacheFolder, npmInstall, whileLocked } from './devCache.mjs';
import { readIfThere } from './lockFile.mjs';

/** What was measured is true of these versions; a newer one is tried by changing its number here. */
export const agentVersions = {
  claude: ['@anthropic-ai/claude-code', '2.1.325'],
  codex: ['@openai/codex', '0.166.0'],
  gemini: ['@google/gemini-cli', '0.61.0'],
  copilot: ['@github/copilot', '1.0.102'],
};

/** The products can't be had on this machine; the message says why and what to do. */
export class AgentsUnavailable extends Error {}

/**
 * Installs the products and tmux unless they are there; that takes half a minute or more, once.
 * @returns {Promise<{ bin: string, node: string }>} the folder of their programs, and the Node to put first on PATH
 */
export async function ensureAgents({ say = () => {} } = {}) {
  if (process.platform === 'win32') {
    throw new AgentsUnavailable('These tests type into the products by tmux, which Windows has only inside WSL.');
  }
  ensureTmux(say);
  const node = newNode();
  const dependencies = Object.fromEntries(Object.values(agentVersions));
  const pinned = JSON.stringify({ dependencies, on: `${process.platform} ${process.arch}` });
  const folder = join(cacheFolder(), `agents-${createHash('sha256').update(pinned).digest('hex').slice(0, 12)}`);
  const stamp = join(folder, '.agent-bus-installed');
  const found = { bin: join(folder, 'node_modules', '.bin'), node };
  const isComplete = () => readIfThere(stamp) === pinned;
  if (isComplete()) return found;

  await whileLocked(`${folder}.lock`, { what: 'the agent products', say }, async () => {
    if (isComplete()) return;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    say('Installing Claude Code, Codex, Gemini CLI and Copilot CLI, once: 1.3 GB, about half a minute.');
    const manifest = { name: 'agent-bus-agents', dependencies };
    // Gemini's optional modules would be compiled by their scripts; it brings prebuilt ones, too.
    const flags = ['--ignore-scripts', '--include=optional'];
    const failure = await npmInstall({ folder, manifest, node, what: 'the agent products', flags, say });
    if (failure !== undefined) throw new AgentsUnavailable(`The agent products could not be installed (${failure}).`);
    // Claude's script only puts the program of this platform into its place.
    spawnSync(node, ['install.cjs'], { cwd: join(folder, 'node_modules', agentVersions.claude[0]) });
    for (const [product, [, version]] of Object.entries(agentVersions)) {
      const failed = whyNot(found, product, version);
      if (failed) throw new AgentsUnavailable(`${product} was installed in ${folder} but does not start: ${failed}`);
    }
    writeFileSync(stamp, pinned);
  });
  return found;
}

/** Each says its version, which proves that the program of this platform is there and runs. */
function whyNot({ bin, node }, product, version) {
  const env = { PATH: `${dirname(node)}:${process.env.PATH}`, HOME: join(bin, '..', '..', 'home') };
  const options = { encoding: 'utf8', timeout: 120_000, env };
  const { status, stdout, stderr, error } = spawnSync(join(bin, product), ['--version'], options);
  if (status === 0 && stdout.includes(version)) return undefined;
  return `${error?.message ?? ''} ${stdout ?? ''} ${stderr ?? ''}`.trim() || `it ended with ${status}`;
}

function ensureTmux(say) {
  if (hasTmux()) return;
  installPackages(['tmux'], say);
  if (!hasTmux()) {
    throw new AgentsUnavailable('The products run in tmux as in a terminal. Install tmux with your package manager.');
  }
}

function hasTmux() {
  return hasProgram('tmux');
}

/** Claude wants Node 22 for its installer, Gemini and Copilot run on it. */
function newNode() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const own = join(root, 'node_modules', 'node', 'bin', 'node');
  if (existsSync(own)) return own;
  throw new AgentsUnavailable(`The products need Node 22 or newer, this is ${process.version}.`);
}
