/** The official conformance suite against a fixture server made of the hub's own transport modules. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { startConformanceServer } from '../support/conformanceServer.ts';

/**
 * Scenario → why it cannot pass here. (`server-sse-polling` passes with warnings only: it recommends resumable streams,
 * which we leave out, since a lost answer is fetched again by asking again.)
 */
const expectedFailures: Record<string, string> = {};

interface Run {
  code: number | null;
  output: string;
}

function runSuite(url: string): Promise<Run> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
  const cli = join(dirname(manifest), 'dist', 'index.js');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, 'server', '--url', url, '--suite', 'all'], {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer): void => void (output += chunk.toString());
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

test('the server scenarios of the conformance suite pass', { timeout: 120_000 }, async () => {
  const server = await startConformanceServer();
  try {
    const { output } = await runSuite(server.url);
    const results = [...output.matchAll(/^(✓|✗) ([a-z0-9-]+): (\d+) passed, (\d+) failed/gm)].map(
      ([, mark, scenario, , failed]) => ({ scenario: scenario!, failed: mark !== '✓' || failed !== '0' }),
    );
    assert.ok(results.length >= 32, `only ${results.length} results in:\n${output.slice(-3_000)}`);
    const failed = results.filter((result) => result.failed).map((result) => result.scenario);
    assert.deepEqual(failed, Object.keys(expectedFailures), output.slice(-6_000));
  } finally {
    await server.close();
  }
});
