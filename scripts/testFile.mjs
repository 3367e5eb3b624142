// Runs one test file in a process of its own and says how it went. A file that crashes, hangs, stops early or has no
// test in it counts as failed: only a file that reported its own end, with tests in it, can be good.
import { run } from 'node:test';
import { inspect } from 'node:util';

/** A file may be silent for as long as one test may take, and a little more for its start and end. */
const patienceFor = (testTimeout) => testTimeout + Math.min(testTimeout, 15_000);

/**
 * @param {string} file absolute path
 * @param {{ testTimeout: number, onSlow?: (name: string, ms: number) => void }} options
 * @returns {Promise<{ passed: number, failed: number, skipped: number, ms: number, problems: string[], output: string }>}
 */
export async function runTestFile(file, { testTimeout, onSlow }) {
  const began = performance.now();
  const result = { passed: 0, failed: 0, skipped: 0, ms: 0, problems: [], output: '' };
  const silence = new AbortController();
  const patience = patienceFor(testTimeout);
  const hung = new Error(`nothing happened for ${patience / 1000} s; the process was ended`);
  const watchdog = setTimeout(() => silence.abort(hung), patience);
  const problem = (text) => {
    result.failed++;
    result.problems.push(text);
  };

  let finished = false;
  let crash;
  const open = [];
  const events = run({ files: [file], execArgv: [`--test-timeout=${testTimeout}`], signal: silence.signal });
  for await (const { type, data } of events) {
    watchdog.refresh();
    if (type === 'test:stdout' || type === 'test:stderr') result.output += data.message;
    if (type === 'test:summary' && data.file !== undefined) finished = true;
    if (type === 'test:start') open[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.name === file) {
      if (type === 'test:fail') crash = data.details.error;
      continue;
    }
    const name = [...open.slice(0, data.nesting), data.name].join(' › ');
    if (data.details.type !== 'suite' && data.details.duration_ms >= 3_000) onSlow?.(name, data.details.duration_ms);
    if (type === 'test:fail' && data.todo === undefined) {
      if (data.details.error.failureType === 'subtestsFailed') {
        // Its parts have been told already; a test (not a suite) still counts as one that failed.
        if (data.details.type !== 'suite') result.failed++;
      } else problem(`${name}\n${explain(data.details.error)}`);
    } else if (data.skip !== undefined || data.todo !== undefined) result.skipped++;
    else if (data.details.type !== 'suite') result.passed++;
  }
  clearTimeout(watchdog);

  const toldAlready = result.failed > 0 && ['subtestsFailed', 'testAborted'].includes(crash?.failureType);
  if (crash && !toldAlready) {
    const code = crash.exitCode ?? crash.signal;
    problem(`the file itself: ${crash.message}${code ? ` (exit ${code})` : ''}`);
  } else if (!finished && result.failed === 0) {
    problem(result.passed > 0 ? 'the file stopped before its tests were through' : 'there is no test in this file');
  } else if (result.passed + result.failed + result.skipped === 0) problem('there is no test in this file');
  result.ms = performance.now() - began;
  return result;
}

function explain(error) {
  const cause = error.cause ?? error;
  const text = typeof cause === 'string' ? cause : inspect(cause, { depth: 6 });
  return text.replace(/^/gm, '  ');
}
