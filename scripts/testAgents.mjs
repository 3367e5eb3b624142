// `npm run test:agents`: the tests with the real products of others, and the table of what they have shown. Arguments
// are those of `npm test`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forgetRows, reachTable, readRows } from '../test/support/agents/reachTable.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const table = join(root, '.cache', 'agents', 'table.md');

const files = process.argv.slice(2).filter((word) => word.endsWith('.ts'));
if (files.length === 0) process.argv.push('--only', 'agents');
forgetRows();
process.once('exit', () => {
  const rows = readRows();
  // Some files alone show less than the table promises.
  if (files.length > 0 || rows.length === 0) return;
  mkdirSync(dirname(table), { recursive: true });
  writeFileSync(table, reachTable(rows));
});
await import('./test.mjs');
