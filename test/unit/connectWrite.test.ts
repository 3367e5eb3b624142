import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyChanges } from '../../src/connect/applyPlan.ts';
import { isOwnHook, Launch } from '../../src/connect/launch.ts';
import { planConnect, planDisconnect, type Change } from '../../src/connect/plan.ts';
import { products } from '../../src/connect/products/table.ts';
import { unifiedDiff } from '../../src/connect/unifiedDiff.ts';
import { BusError } from '../../src/core/errors.ts';
import { placeIn } from '../support/connectTexts.ts';
import { tempFolder } from '../support/tempFolder.ts';

function change(
  path: string,
  before: string | undefined,
  after: string | undefined,
  more: Partial<Change> = {},
): Change {
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text));
  return {
    path,
    before: bytes(before),
    after: bytes(after),
    backup: undefined,
    spent: [],
    scope: 'user',
    base: '/',
    ...more,
  };
}

const namesIn = (folder: string): string[] => fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

describe('writing several files', () => {
  test('a failure in the middle leaves everything as it was, copies and folders included', (t) => {
    const folder = tempFolder(t);
    const at = (name: string): string => join(folder, name);
    fs.writeFileSync(at('a'), 'one', { mode: 0o600 });
    fs.writeFileSync(at('gone'), 'two');
    const before = namesIn(folder);
    const changes = [
      change(at('a'), 'one', 'ONE', { backup: at('a.copy') }),
      change(at('deep/er/new'), undefined, 'new'),
      change(at('gone'), 'two', undefined),
      // A file stands where a folder would have to be.
      change(at('a/b'), undefined, 'never'),
    ];
    assert.throws(
      () => applyChanges(changes),
      (error) => error instanceof BusError && /as it was/.test(error.next),
    );
    assert.deepEqual(namesIn(folder), before);
    assert.equal(fs.readFileSync(at('a'), 'utf8'), 'one');
    assert.equal(fs.readFileSync(at('gone'), 'utf8'), 'two');
    assert.equal(fs.statSync(at('a')).mode & 0o777, 0o600);
  });

  test('a file that somebody has changed since is not overwritten', (t) => {
    const folder = tempFolder(t);
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    fs.writeFileSync(first, '1');
    fs.writeFileSync(second, 'newer');
    assert.throws(() => applyChanges([change(first, '1', '2'), change(second, 'older', 'x')]), /somebody else/);
    assert.deepEqual([fs.readFileSync(first, 'utf8'), fs.readFileSync(second, 'utf8')], ['1', 'newer']);
    assert.throws(() => applyChanges([change(second, undefined, 'x')]), /somebody else/);
  });

  test('what a killed process left behind goes, what another one is writing stays', (t) => {
    const folder = tempFolder(t);
    const path = join(folder, 'a');
    const [old, fresh] = [join(folder, '.a.1.agent-bus-draft'), join(folder, '.a.2.agent-bus-draft')];
    for (const draft of [old, fresh]) fs.writeFileSync(draft, '');
    const hourAgo = new Date(Date.now() - 3_600_000);
    fs.utimesSync(old, hourAgo, hourAgo);
    applyChanges([change(path, undefined, 'x')]);
    assert.deepEqual(namesIn(folder), ['.a.2.agent-bus-draft', 'a']);
  });

  test('a copy is never written over another', (t) => {
    const folder = tempFolder(t);
    const path = join(folder, 'a');
    fs.writeFileSync(path, '1');
    fs.writeFileSync(`${path}.copy`, 'older');
    assert.throws(() => applyChanges([change(path, '1', '2', { backup: `${path}.copy` })]));
    assert.equal(fs.readFileSync(`${path}.copy`, 'utf8'), 'older');
    assert.equal(fs.readFileSync(path, 'utf8'), '1');
  });
});

describe('planning', () => {
  test('with one file that can’t be read the others are planned, for whoever wants to go on', (t) => {
    const folder = tempFolder(t);
    const place = placeIn(folder, folder);
    fs.writeFileSync(join(folder, '.claude.json'), '{ broken');
    const plan = planConnect({ product: products.claude, place, scope: 'user', hooks: true });
    assert.deepEqual(
      plan.problems.map(({ path, line }) => [path, line]),
      [[join(folder, '.claude.json'), 1]],
    );
    assert.deepEqual(
      plan.changes.map(({ path }) => path),
      [join(folder, '.claude', 'settings.json')],
    );
  });

  test('files are where the products’ own variables say', (t) => {
    const folder = tempFolder(t);
    const env = { CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x', GEMINI_CLI_HOME: '/g', COPILOT_HOME: '/p' };
    const place = placeIn(folder, folder, env);
    const paths = ['claude', 'codex', 'gemini', 'copilot'] as const;
    assert.deepEqual(
      paths.flatMap((name) => products[name].files(place, 'user', true).map(({ path }) => path)),
      [
        '/c/.claude.json',
        '/c/settings.json',
        '/x/config.toml',
        '/x/hooks.json',
        '/g/.gemini/settings.json',
        '/p/mcp-config.json',
        '/p/hooks/agent-bus.json',
        '/p/extensions/agent-bus/extension.mjs',
        '/p/settings.json',
      ],
    );
  });

  test('nothing of ours in a file: there is nothing to disconnect', (t) => {
    const folder = tempFolder(t);
    const place = placeIn(folder, folder);
    fs.writeFileSync(join(folder, '.claude.json'), '{"mcpServers": {"agent-bus-2": {}}}');
    const plan = planDisconnect({ product: products.claude, place, scope: 'user', hooks: true });
    assert.deepEqual([plan.changes, plan.problems], [[], []]);
  });
});

describe('the lines that products run', () => {
  test('are taken for ours in every form that we write, and nobody else’s are', () => {
    const bins = ['/home/me/.local/share/agent-bus/bin', '/Users/a b/Application Support/agent-bus/bin', "/it's/bin"];
    for (const bin of bins) {
      for (const platform of ['linux', 'win32'] as const) {
        const launch = new Launch(bin, platform);
        for (const line of [launch.shell, launch.powershell, launch.native]) {
          const written = line.call(launch, 'hook', 'claude', 'Stop');
          assert.ok(isOwnHook(written, 'claude'), written);
          assert.ok(!isOwnHook(written, 'codex'), written);
        }
      }
    }
    const foreign = [
      'agent-bus inbox',
      '/x/my-agent-bus hook claude Stop',
      'agent-bus hook claude Stop; rm -rf /',
      '',
      7,
    ];
    for (const line of foreign) assert.ok(!isOwnHook(line, 'claude'), String(line));
  });

  test('mean themselves to a shell', { skip: process.platform === 'win32' }, (t) => {
    const bin = join(tempFolder(t), `it's a $HOME "bin"`);
    fs.mkdirSync(bin);
    fs.writeFileSync(join(bin, 'agent-bus'), '#!/bin/sh\nprintf "%s|" "$@"\n', { mode: 0o755 });
    const line = new Launch(bin, 'linux').shell('hook', 'claude', 'Stop');
    assert.equal(execFileSync('sh', ['-c', line], { encoding: 'utf8' }), 'hook|claude|Stop|');
  });
});

describe('a difference', () => {
  test('is what patch understands, for any two texts', { skip: !hasPatch() }, (t) => {
    const folder = tempFolder(t);
    const path = join(folder, 'file');
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', 'x y'), { maxLength: 14 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after && before !== '' && after !== '');
        fs.writeFileSync(path, before);
        execFileSync('patch', ['--quiet', path], { input: `${unifiedDiff(path, before, after)}\n` });
        assert.equal(fs.readFileSync(path, 'utf8'), after);
      }),
      { numRuns: 60 },
    );
  });

  test('shows a new file and one that goes', () => {
    assert.equal(unifiedDiff('/f', undefined, 'a\n'), '--- /dev/null\n+++ /f\n@@ -0,0 +1,1 @@\n+a');
    assert.equal(unifiedDiff('/f', 'a\n', undefined), '--- /f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a');
  });
});

function hasPatch(): boolean {
  try {
    execFileSync('patch', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
