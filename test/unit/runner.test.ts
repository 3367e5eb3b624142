import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

// The test runner is itself tested: whatever goes wrong in a test file must end in a failed run.

const scripts = join(import.meta.dirname, '..', '..', 'scripts');
const scratch = mkdtempSync(join(tmpdir(), 'agent-bus-runner-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

interface Case {
  name: string;
  files: Record<string, string>;
  flags?: string[];
  last: string;
  says?: RegExp;
}

async function runWith({ name, files, flags = [] }: Case): Promise<{ code: number | null; lines: string[] }> {
  const root = join(scratch, name);
  mkdirSync(join(root, 'test', 'unit'), { recursive: true });
  cpSync(scripts, join(root, 'scripts'), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, 'test', 'unit', file), text);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const runner = join(root, 'scripts', 'test.mjs');
  const child = spawn(process.execPath, [runner, '--only', 'unit', ...flags], { cwd: root, env });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, lines: output.trimEnd().split('\n') };
}

const good = `import { test } from 'node:test';\ntest('good', () => {});\n`;
const cases: readonly Case[] = [
  { name: 'passes', files: { 'a.test.ts': good, 'b.test.ts': good }, last: '2 passed, 0 failed' },
  {
    name: 'assertion',
    files: { 'a.test.ts': `${good}test('wrong', () => { throw new Error('seven is not eight'); });\n` },
    last: '1 passed, 1 failed',
    says: /seven is not eight/,
  },
  {
    name: 'subtest',
    files: {
      'a.test.ts': `${good}test('outer', async (t) => { await t.test('inner', () => { throw new Error('x'); }); });\n`,
    },
    last: '1 passed, 2 failed',
    says: /outer › inner/,
  },
  {
    name: 'suite',
    files: {
      'a.test.ts': `import { describe, it } from 'node:test';\ndescribe('s', () => { it('t', () => { throw 1; }); it('u', () => {}); });\n`,
    },
    last: '1 passed, 1 failed',
    says: /s › t/,
  },
  {
    name: 'crash-at-load',
    files: { 'a.test.ts': `throw new Error('at load');\n`, 'b.test.ts': good },
    last: '1 passed, 1 failed',
    says: /Error: at load/,
  },
  {
    name: 'exit-early',
    files: {
      'a.test.ts': `${good}setTimeout(() => process.exit(0), 20);\ntest('never', () => new Promise((r) => setTimeout(r, 5000)));\n`,
    },
    last: '1 passed, 1 failed',
    says: /stopped before its tests were through/,
  },
  {
    name: 'too-slow',
    files: { 'a.test.ts': `${good}test('endless', () => new Promise((r) => setTimeout(r, 4_500)));\n` },
    last: '1 passed, 1 failed',
    says: /timed out after 3000ms/,
    flags: ['--timeout', '3'],
  },
  {
    name: 'never-ends',
    files: { 'a.test.ts': `${good}setInterval(() => {}, 1000);\n` },
    last: '1 passed, 1 failed',
    says: /nothing happened for 6 s/,
    flags: ['--timeout', '3'],
  },
  { name: 'no-test', files: { 'a.test.ts': `export const x = 1;\n` }, last: '0 passed, 1 failed', says: /no test in/ },
  { name: 'no-file', files: {}, last: '0 passed, 1 failed', says: /no test file/ },
  {
    name: 'skipped',
    files: { 'a.test.ts': `${good}test.skip('later', () => {});\n` },
    last: '1 passed, 0 failed',
    says: /1 skipped/,
  },
];

describe('the test runner', { concurrency: 3 }, () => {
  for (const example of cases) {
    const { name, last, says } = example;
    test(`${name}: ${last}`, async () => {
      const { code, lines } = await runWith(example);
      assert.equal(lines.at(-1), last, lines.join('\n'));
      assert.equal(code, last.endsWith(' 0 failed') ? 0 : 1);
      assert.equal(lines.filter((line) => /^\d+ passed, \d+ failed$/.test(line)).length, 1);
      if (says) assert.match(lines.join('\n'), says);
    });
  }
});
