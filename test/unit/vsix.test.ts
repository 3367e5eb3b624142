import { listFiles, PackageManager } from '@vscode/vsce';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

/** Everything that ships. A new file is a decision: add it here. */
const shipped = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'dist/cli.js',
  'dist/codicon.css',
  'dist/codicon.ttf',
  'dist/connectRun.js',
  'dist/emulator.js',
  'dist/extension.js',
  'dist/hook.js',
  'dist/hub.js',
  'dist/integrityWorker.js',
  'dist/mcpServe.js',
  'dist/package.json',
  'dist/repair.js',
  'dist/webview.js',
  'media/bus.svg',
  'media/icon.png',
  'media/page.css',
  'media/tab-dark.svg',
  'media/tab-light.svg',
  ...['inbox', 'copilot', 'message', 'terminal', 'permissions'].flatMap((name) => [
    `media/walkthrough/${name}-dark.png`,
    `media/walkthrough/${name}-light.png`,
  ]),
  'package.json',
  'plugin/.claude-plugin/plugin.json',
  'plugin/hook.cmd',
  'plugin/hook.sh',
  'plugin/hooks/hooks.json',
  'plugin/skills/agent-bus/SKILL.md',
];

const megabyte = 1024 * 1024;

describe('the package', () => {
  let files: string[];
  before(async () => {
    execFileSync(process.execPath, [join(root, 'esbuild.mjs')], { stdio: 'ignore' });
    files = (await listFiles({ cwd: root, packageManager: PackageManager.None })).map((file) =>
      file.replaceAll('\\', '/'),
    );
  });

  test('holds exactly what ships', () => {
    assert.deepEqual(files.toSorted(), shipped.toSorted());
  });

  test('is small', () => {
    const bytes = files.map((file) => statSync(join(root, file)).size).reduce((sum, size) => sum + size, 0);
    assert.ok(bytes < 6 * megabyte, `${(bytes / megabyte).toFixed(1)} MB unpacked`);
    assert.ok(statSync(join(root, 'dist/extension.js')).size < 300 * 1024, 'the extension itself loads fast');
  });

  test('has bundles without source maps, and an entry that VS Code can load', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.ok(files.includes(manifest.main.replace('./', '')));
    assert.equal(JSON.parse(readFileSync(join(root, 'dist/package.json'), 'utf8')).type, 'commonjs');
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      assert.doesNotMatch(readFileSync(join(root, file), 'utf8').slice(-200_000), /sourceMappingURL=data/, file);
    }
  });

  test('has an entry for hooks that loads next to nothing: agents wait for it at each step', () => {
    const bundle = readFileSync(join(root, 'dist/hook.js'), 'utf8');
    assert.ok(bundle.length < 48 * 1024, `${bundle.length} bytes`);
    const required = new Set([...bundle.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name));
    const dear = [...required].filter((name) => !['node:fs', 'node:net', 'node:path'].includes(name ?? ''));
    assert.deepEqual(dear.sort(), ['node:buffer', 'node:crypto']);
    const lazily = /__esm\(\{"src\/client\/proofs\.ts"\(\)\{[^{}]*require\("node:crypto"\)/;
    assert.match(bundle, lazily, 'what makes proofs is for where there is no socket to come by');
    // All properties of a module copied one by one: a namespace import does that.
    assert.doesNotMatch(bundle, /__toESM\(require\("node:/);
  });

  test('keeps the model schemas out of the extension host', () => {
    const bundle = readFileSync(join(root, 'dist/extension.js'), 'utf8');
    assert.doesNotMatch(bundle, /ZodObject|@modelcontextprotocol/);
  });
});
