import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { sizeOf, terminalDevice } from '../../src/extension/window/terminals/terminalSize.ts';
import { until } from '../support/hubProcess.ts';

const skip = process.platform === 'linux' ? false : 'the program that makes a terminal is called otherwise here';

test('the size of the terminal that a process is in, also after it has changed', { skip }, async () => {
  const shell = 'stty cols 77 rows 22; echo pid=$$; read line; stty cols 120; echo changed; read line';
  const child = spawn('script', ['-qfec', shell, '/dev/null']);
  try {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const pid = await until('the shell tells its process', () => /pid=(\d+)/.exec(output)?.[1]);
    const device = await terminalDevice(Number(pid));
    assert.match(device ?? '', /^\/dev\/pts\/\d+$/);
    assert.deepEqual(sizeOf(device ?? ''), { cols: 77, rows: 22 });
    child.stdin.write('\n');
    await until('the size has changed', () => output.includes('changed'));
    assert.deepEqual(sizeOf(device ?? ''), { cols: 120, rows: 22 });
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
});

test('of a process without a terminal, and of no device, nothing is known', async () => {
  assert.equal(await terminalDevice(2 ** 30), undefined);
  assert.equal(sizeOf('/dev/null'), undefined);
});
