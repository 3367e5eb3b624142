// Bundles the programs and the webview into dist/. `node esbuild.mjs [--dev] [--force]`; nothing changed, nothing done.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, 'dist');
const record = join(dist, '.build.json');

/** The three programs, the command line's second entry, and what they start in threads and processes of their own. */
const programs = ['src/extension.ts', 'src/hub.ts', 'src/cli.ts'];
/** Hooks have no time for what they don't need: it goes without the banner. */
const hook = 'src/hook.ts';
const parts = [
  { in: 'src/storage/integrityWorker.ts', out: 'integrityWorker' },
  { in: 'src/hub/repairMain.ts', out: 'repair' },
  // The MCP SDK is ten times the rest of the command line, and only `agent-bus mcp` needs it.
  { in: 'src/cli/mcpServe.ts', out: 'mcpServe' },
  // What takes other programs' files apart is not loaded by every command.
  { in: 'src/cli/connectRun.ts', out: 'connectRun' },
  // Windows without an agent in a terminal do without a terminal's emulator.
  { in: 'src/extension/window/terminals/emulator.ts', out: 'emulator' },
];

/** What is imported with import() and has a bundle of its own is loaded from there. */
const apart = {
  name: 'apart',
  setup(build) {
    build.onResolve({ filter: /\.ts$/ }, ({ kind, path }) => {
      if (kind !== 'dynamic-import') return undefined;
      if (path === './cli.ts') return { path: './cli.js', external: true };
      const part = parts.find((one) => basename(one.in) === basename(path));
      return part && { path: `./${part.out}.js`, external: true };
    });
  },
};
const webview = 'src/webview/main.ts';

// Whitespace and syntax are minified, names are not: a bundle of the MCP SDK, zod and vscode-jsonrpc starts as fast as
// fully minified (medians within 4 % of each other), and a stack trace in somebody's log stays readable.
const shared = {
  bundle: true,
  write: false,
  metafile: true,
  absWorkingDir: root,
  outdir: dist,
  mainFields: ['module', 'main'],
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

const nodeProgram = {
  ...shared,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['vscode'],
  entryNames: '[name]',
  // The bundles are CommonJS, the sources are modules: import.meta must mean the bundle's own place.
  // Modules are strict, and that must come first.
  banner: { js: '"use strict";const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' },
};

/** The icons of the page: the font that VS Code itself uses, as it comes. */
const icons = ['codicon.css', 'codicon.ttf'].map((name) => ({
  path: join(dist, name),
  from: join(root, 'node_modules', '@vscode', 'codicons', 'dist', name),
}));

const page = { ...shared, platform: 'browser', format: 'iife', target: 'es2023', entryNames: 'webview' };

/** Builds if anything changed. Throws, after esbuild has said why, if a bundle can't be made. */
export async function build({ dev = false, force = false } = {}) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const hash = sourceHash(dev);
  if (!force && isCurrent(hash)) return;
  const began = performance.now();

  const esbuild = await import('esbuild');
  const define = { 'process.env.AGENT_BUS_VERSION': JSON.stringify(version) };
  const sourcemap = dev && 'inline';
  const results = await Promise.all([
    esbuild.build({
      ...nodeProgram,
      sourcemap,
      plugins: [apart],
      entryPoints: [...programs.map((file) => ({ in: file, out: basename(file, '.ts') })), ...parts],
      define: {
        ...define,
        'import.meta.url': 'importMetaUrl',
        'import.meta.dirname': '__dirname',
        'import.meta.filename': '__filename',
      },
    }),
    esbuild.build({
      ...nodeProgram,
      banner: { js: '"use strict";' },
      sourcemap,
      plugins: [apart],
      entryPoints: [hook],
      define,
    }),
    esbuild.build({ ...page, sourcemap, entryPoints: [webview], define }),
  ]);

  mkdirSync(dist, { recursive: true });
  const sizes = {};
  const copies = icons.map(({ path, from }) => ({ path, contents: readFileSync(from) }));
  for (const file of [...results.flatMap((result) => result.outputFiles), ...copies]) {
    sizes[basename(file.path)] = put(file);
  }
  put({ path: join(dist, 'package.json'), contents: '{ "type": "commonjs" }\n' });
  put({ path: record, contents: JSON.stringify({ hash, sizes }) });
  const list = Object.entries(sizes).map(([name, size]) => `${name} ${Math.ceil(size / 1024)} kB`);
  console.error(`[agent-bus] Built ${list.join(', ')} in ${Math.round(performance.now() - began)} ms.`);
}

/** By renaming, so that a hub that starts during a build never reads half a file. */
function put({ path, contents }) {
  const draft = `${path}.${process.pid}.draft`;
  const isCli = basename(path) === 'cli.js';
  const text = Buffer.from(contents);
  const bare = isCli && !text.subarray(0, 2).equals(Buffer.from('#!'));
  writeFileSync(draft, bare ? Buffer.concat([Buffer.from('#!/usr/bin/env node\n'), text]) : text);
  if (isCli) chmodSync(draft, 0o755);
  renameSync(draft, path);
  return statSync(path).size;
}

function sourceHash(dev) {
  const files = ['package.json', 'package-lock.json', 'esbuild.mjs', 'tsconfig.json'];
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
  }
  const hash = createHash('sha256').update(dev ? 'dev' : 'production');
  for (const file of files.sort()) {
    const path = file.startsWith(root) ? file : join(root, file);
    hash.update(`\0${path.slice(root.length)}\0`).update(existsSync(path) ? readFileSync(path) : '');
  }
  return hash.digest('hex');
}

function isCurrent(hash) {
  try {
    const built = JSON.parse(readFileSync(record, 'utf8'));
    const whole = ([name, size]) => statSync(join(dist, name)).size === size;
    return built.hash === hash && existsSync(join(dist, 'package.json')) && Object.entries(built.sizes).every(whole);
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await build({ dev: process.argv.includes('--dev'), force: process.argv.includes('--force') });
  } catch (error) {
    console.error(`[agent-bus] The build failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
