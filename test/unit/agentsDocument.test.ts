import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentVersions } from '../../scripts/agents.mjs';
import { agentsDocument, productTitles } from '../support/agents/agentsDocument.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'agents.md'), 'utf8');
const states = ['busy', 'at the end of a turn', 'idle'];

test('docs/agents.md has a row for every product in every state, and none was forgotten', () => {
  for (const title of Object.values(productTitles)) {
    for (const state of states) assert.ok(page.includes(`| ${title} | ${state} |`), `${title}, ${state}`);
  }
  assert.doesNotMatch(page, /not looked at/);
});

test('docs/agents.md is of the products that the tests run, and README leads to it', () => {
  for (const [name, [, version]] of Object.entries(agentVersions)) {
    const said = `${productTitles[name]} ${version}`;
    assert.ok(page.includes(said), `"${said}": run npm run test:agents -- --write after an update`);
  }
  assert.ok(readFileSync(join(root, 'README.md'), 'utf8').includes('](docs/agents.md)'));
});

test('what was seen to fail is said as such, and what was seen once is not mixed with it', () => {
  const text = agentsDocument({
    rows: [
      { product: 'gemini', state: 'idle', route: 'none', proof: 'it was not woken' },
      { product: 'gemini', state: 'idle', route: 'background | command', latencyMs: 1200, proof: 'it heard' },
      {
        product: 'gemini',
        state: 'idle',
        route: 'background | command',
        latencyMs: 9000,
        proof: 'it heard',
        crashed: true,
      },
    ],
    conversation: [],
    versions: { gemini: '1.0' },
    date: '2026-01-31',
  });
  assert.ok(text.includes('| Gemini CLI | idle | **nothing** | – | it was not woken |'));
  assert.ok(
    text.includes(
      '| Gemini CLI | idle | background \\| command | 1.20 s | it heard; also with the hub killed in between |',
    ),
  );
  assert.ok(text.includes('- Gemini CLI, idle: it was not woken.'));
  assert.ok(text.includes('| Claude Code | busy | – | – | not looked at |'));
});
