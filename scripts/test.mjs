// `npm test`: checks, build, all tests; the last line is `N passed, N failed`.
//   --only unit,hub   those folders of test/, without the checks
//   --checks          types, lint, format and the import table: the inner loop, `npm run check`
//   FILE…             those test files, without the checks
//   --timeout SECONDS how long one test may take, instead of the usual
//   --verbose         what passing tests printed, too
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checks, runCheck } from './checks.mjs';
import { runTestFile } from './testFile.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const importTable = join(root, 'test', 'unit', 'importTable.test.ts');
const cores = Math.max(2, Math.min(4, availableParallelism()));
/** Most of the time tests of the hub wait for something: with one more than there are cores, these are seldom idle. */
const waiters = cores + 1;

/**
 * In this order; `parallel` files of one group run side by side, and so does a whole group that is `beside` the one before
 * it; `editor` ones need a real VS Code, `agents` ones the products of others, which is why they run only when they are named.
 */
const groups = [
  { folders: ['unit', 'protocol', 'hub', 'security'], parallel: waiters, testTimeout: 120_000 },
  { folders: ['webview', 'faults'], parallel: 1, testTimeout: 600_000, timeouts: { webview: 120_000 } },
  { folders: ['vscode'], parallel: 1, testTimeout: 300_000, editor: true, beside: true },
  { folders: ['agents'], parallel: 2, testTimeout: 400_000, agents: true, editor: true },
];
const folders = groups.flatMap((group) => group.folders);

const total = { passed: 0, failed: 0, skipped: 0 };
const failedNames = [];
const secondRuns = [];
/** Of the editor, which several groups of tests may ask for. */
let preparation;
let warming;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    checks: { type: 'boolean' },
    timeout: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const only = values.only?.split(',').map((name) => name.trim());
const unknown = only?.filter((name) => !folders.includes(name)) ?? [];
if (unknown.length > 0) {
  console.error(`There is no test folder ${unknown.join(', ')}; there are ${folders.join(', ')}.`);
  process.exit(2);
}
const everything = !only && positionals.length === 0;
const began = performance.now();

if (everything) await runChecks();
if (everything && !values.checks) warming = warmEditor();
if (!values.checks) {
  if (everything || positionals.length > 0 || only.some((name) => name !== 'unit')) await buildCheck();
  if (positionals.length > 0) await runNamedFiles();
  else
    for (const stage of stagesOf(groups.filter(({ agents }) => only || !agents)))
      await Promise.all(stage.map(runGroup));
}
finish();

function stagesOf(some) {
  const stages = [];
  for (const group of some) {
    if (group.beside && stages.length > 0) stages.at(-1).push(group);
    else stages.push([group]);
  }
  return stages;
}

async function runChecks() {
  heading('checks');
  await eachOf(checks(root, { fast: values.checks === true }), cores, async (check) => {
    report(check.name, await runCheck(root, check));
  });
  await runFiles([importTable], { parallel: 1, testTimeout: 120_000 });
}

async function buildCheck() {
  if (!existsSync(join(root, 'esbuild.mjs'))) return;
  const start = performance.now();
  const { build } = await import('../esbuild.mjs');
  const output = await build().then(
    () => undefined,
    (error) => (error instanceof Error ? error.message : String(error)),
  );
  report('build', { ok: output === undefined, ms: performance.now() - start, output });
}

async function runGroup(group) {
  const files = [];
  for (const folder of group.folders.filter((name) => !only || only.includes(name))) {
    const found = globSync(join(root, 'test', folder, '**', '*.test.ts')).sort();
    if (found.length === 0) report(`test/${folder}`, { ok: false, ms: 0, output: 'There is no test file in it.' });
    // The import table has run among the checks.
    files.push(...found.filter((file) => !everything || file !== importTable));
  }
  if (files.length === 0) return;
  heading(group.folders.filter((name) => !only || only.includes(name)).join(', '));
  await runFiles(files, group);
}

async function runNamedFiles() {
  const files = positionals.map((file) => resolve(file));
  for (const file of files.filter((name) => !existsSync(name))) {
    report(relative(root, file), { ok: false, ms: 0, output: 'There is no such file.' });
  }
  const groupOf = (file) => groups.find((group) => group.folders.includes(folderOf(file))) ?? groups[0];
  for (const group of groups) {
    const own = files.filter((file) => existsSync(file) && groupOf(file) === group);
    if (own.length > 0) await runFiles(own, group);
  }
}

function folderOf(file) {
  return relative(join(root, 'test'), file).split(sep)[0];
}

function editorReady() {
  return (preparation ??= prepareEditor());
}

/** From now on, in a process of its own. @returns when that has ended */
function warmEditor() {
  const child = spawn(process.execPath, [join(root, 'scripts', 'warmEditor.mjs')], { stdio: 'inherit' });
  const end = () => child.kill();
  process.once('exit', end);
  return new Promise((done) => child.on('error', done).on('close', done)).finally(() => process.off('exit', end));
}

/** Before the tests, not in one of them: the first time it takes minutes. Where it can't be had, the tests say so. */
async function prepareEditor() {
  await warming;
  const { ensureChromium, ensureEditor, EditorUnavailable } = await import('./editor.mjs');
  const say = (text) => console.log(`  ${text}`);
  try {
    await ensureChromium({ say });
    await ensureEditor({ say });
  } catch (error) {
    if (!(error instanceof EditorUnavailable)) throw error;
    process.env.AGENT_BUS_NO_EDITOR = error.message;
    if (process.env.CI) report('a real VS Code', { ok: false, ms: 0, output: error.message });
    else say(`Tests in a real VS Code are skipped: ${error.message}`);
  }
}

/** A product that can't run is a failure; without all of them nothing is proved. */
async function agentsReady() {
  const { ensureAgents, AgentsUnavailable } = await import('./agents.mjs');
  try {
    await ensureAgents({ say: (text) => console.log(`  ${text}`) });
    return true;
  } catch (error) {
    if (!(error instanceof AgentsUnavailable)) throw error;
    report('the agent products', { ok: false, ms: 0, output: error.message });
    return false;
  }
}

async function runFiles(files, { parallel, testTimeout, timeouts = {}, editor, agents }) {
  if (editor) await editorReady();
  if (agents && !(await agentsReady())) return;
  /** Those of the products that failed beside others: they are run once more, alone, and that is told at the end. */
  const again = [];
  await eachOf(files, parallel, (file) =>
    runFile(file, timeouts[folderOf(file)] ?? testTimeout, agents ? () => again.push(file) : undefined),
  );
  for (const file of again) await runFile(file, testTimeout);
  secondRuns.push(...again.map((file) => relative(root, file).replaceAll('\\', '/')));
}

/** With `onFailure` a failure is shown, and counted only if it comes again. */
async function runFile(file, testTimeout, onFailure) {
  const name = relative(root, file).replaceAll('\\', '/');
  const onSlow = (test, ms) => console.log(`    … ${name}: ${test} (${seconds(ms)})`);
  const result = await runTestFile(file, { testTimeout: Number(values.timeout) * 1000 || testTimeout, onSlow });
  const isCounted = result.failed === 0 || onFailure === undefined;
  if (isCounted) {
    total.passed += result.passed;
    total.failed += result.failed;
    total.skipped += result.skipped;
  } else onFailure();
  const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : '';
  const good = result.failed === 0;
  const counts = good ? `${result.passed} passed${skipped}` : `${result.passed} passed, ${result.failed} FAILED`;
  console.log(`  ${good ? '✔' : '✖'} ${name}  ${counts}  ${seconds(result.ms)}`);
  for (const problem of result.problems) {
    console.log(indent(`✖ ${problem}`));
    if (isCounted) failedNames.push(`${name}: ${problem.split('\n', 1)[0]}`);
  }
  if ((!good || values.verbose) && result.output)
    console.log(indent(`printed by ${name}:\n${result.output.trimEnd()}`));
}

function report(name, { ok, ms, output }) {
  total[ok ? 'passed' : 'failed']++;
  console.log(`  ${ok ? '✔' : '✖'} ${name}  ${seconds(ms)}`);
  if (ok) return;
  failedNames.push(name);
  if (output) console.log(indent(output.trimEnd()));
}

function finish() {
  if (total.passed + total.failed === 0) report('this selection', { ok: false, ms: 0, output: 'Nothing was tested.' });
  if (failedNames.length > 0) console.log(`\nFailed:\n${failedNames.map((name) => `  ✖ ${name}`).join('\n')}`);
  if (secondRuns.length > 0)
    console.log(`\nRun twice, since they failed the first time:\n  ${secondRuns.join('\n  ')}`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`\n${seconds(performance.now() - began)}${skipped}\n${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

async function eachOf(items, parallel, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

function heading(text) {
  console.log(`\n${text}`);
}

function indent(text) {
  return text.replace(/^/gm, '      ');
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
