// The checks that are programs of their own. Each is good if all its commands end with 0.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const bin = (root, ...path) => join(root, 'node_modules', ...path);

/** With `fast`, the linter trusts what it knows about unchanged files, although types elsewhere may have changed. */
export function checks(root, { fast }) {
  const tsc = bin(root, 'typescript', 'bin', 'tsc');
  const eslintCache = fast ? ['--cache', '--cache-location', join('.cache', 'eslint')] : [];
  const prettierCache = ['--cache', '--cache-location', join('.cache', 'prettier')];
  return [
    { name: 'lint', commands: [[bin(root, 'eslint', 'bin', 'eslint.js'), '.', '--max-warnings=0', ...eslintCache]] },
    {
      name: 'types',
      commands: [
        [tsc, '-p', '.'],
        [tsc, '-p', join('src', 'webview')],
      ],
    },
    {
      name: 'format',
      commands: [[bin(root, 'prettier', 'bin', 'prettier.cjs'), '--check', '--log-level=warn', ...prettierCache, '.']],
      advice: 'npm run format puts it right.',
    },
  ];
}

/** @returns {Promise<{ ok: boolean, ms: number, output: string }>} */
export async function runCheck(root, check) {
  const began = performance.now();
  let ok = true;
  let output = '';
  for (const command of check.commands) {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise((done) => child.on('error', done).on('close', done));
    if (code !== 0) ok = false;
    if (code instanceof Error) output += `${code.message}\n`;
  }
  if (!ok && check.advice) output += `${check.advice}\n`;
  return { ok, ms: performance.now() - began, output };
}
