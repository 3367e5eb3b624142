// `npm run test:agents`: the tests with the real products of others, and the page of what they have shown. Arguments are
// those of `npm test`. The page goes to .cache/agents/agents.md; with --write it becomes docs/agents.md, whose figures
// would otherwise change with every run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentsDocument } from '../test/support/agents/agentsDocument.ts';
import { forgetRows, readConversation, readRows } from '../test/support/agents/reachTable.ts';
import { agentVersions } from './agents.mjs';
import { editorVersion } from './editor.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const isWritten = process.argv.includes('--write');
process.argv = process.argv.filter((word) => word !== '--write');

const files = process.argv.slice(2).filter((word) => word.endsWith('.ts'));
if (files.length === 0) process.argv.push('--only', 'agents');
forgetRows();
process.once('exit', (code) => {
  // Some files alone show less than the page promises, and so does a run in which something failed.
  if (files.length > 0 || code !== 0) return;
  const products = Object.entries(agentVersions).map(([name, [, version]]) => [name, version]);
  const versions = { ...Object.fromEntries(products), vscode: `(code-server ${editorVersion})` };
  const date = new Date().toISOString().slice(0, 10);
  const page = agentsDocument({ rows: readRows(), conversation: readConversation(), versions, date });
  for (const path of ['.cache/agents/agents.md', ...(isWritten ? ['docs/agents.md'] : [])]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), page);
  }
});
await import('./test.mjs');
