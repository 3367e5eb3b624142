import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ChatFiles, lastState } from '../../src/extension/window/chatFiles.ts';
import type { ObserveParams } from '../../src/protocol/reachMessages.ts';
import { until } from '../support/hubProcess.ts';
import { tempFolder } from '../support/tempFolder.ts';

// As VS Code 1.139 writes them.
const begun =
  '{"kind":2,"k":["requests"],"v":[{"requestId":"r","timestamp":1,"modelState":{"value":0},"response":[]}]}';
const state = (turn: number, value: string) => `{"kind":1,"k":["requests",${turn},"modelState"],"v":{${value}}}`;
const whole = '{"kind":0,"v":{"version":3,"requests":[{"modelState":{"value":1,"completedAt":70},"message":{}}]}}';

describe('the state of a chat from the editor’s file', () => {
  test('running, waiting, complete, cancelled, failed', () => {
    const after = (...lines: string[]) => lastState(lines.join('\n'), 5);
    assert.deepEqual(after(whole), { state: 'idle', at: 70 });
    assert.deepEqual(after(whole, begun), { state: 'working', at: 5 });
    assert.deepEqual(after(begun, state(0, '"value":4')), { state: 'approval', at: 5 });
    for (const value of [1, 2, 3]) {
      assert.deepEqual(after(begun, state(0, `"value":${value},"completedAt":9`)), { state: 'idle', at: 9 });
    }
    assert.deepEqual(after(state(0, '"value":1,"completedAt":9'), begun), { state: 'working', at: 5 });
  });

  test('nothing is made of what it does not know, or of what somebody wrote', () => {
    for (const text of ['', '{}', 'x'.repeat(1000), state(0, '"value":9'), state(0, '"value":"1"')]) {
      assert.equal(lastState(text, 5), undefined, text);
    }
    const said = JSON.stringify({ text: whole });
    assert.equal(lastState(said, 5), undefined);
  });
});

test('changes are told once, also of a folder that comes later', async (t) => {
  const folder = join(tempFolder(t), 'chatSessions');
  fs.mkdirSync(folder);
  const seen: ObserveParams[] = [];
  const files = new ChatFiles(folder, (one) => seen.push(one));
  t.after(() => files.dispose());
  const file = join(folder, 'c-1.jsonl');
  fs.writeFileSync(file, `${begun}\n`);
  await until('it works', () => seen.length === 1);
  fs.appendFileSync(file, `${state(0, '"value":2,"completedAt":9')}\n`);
  await until('it was cancelled', () => seen.length === 2);
  fs.appendFileSync(file, '{"kind":1,"k":["requests",0,"elapsedMs"],"v":7}\n');
  fs.appendFileSync(file, `${begun}\n`);
  await until('the next turn', () => seen.length === 3);
  assert.deepEqual(
    seen.map((one) => [one.chat, one.state]),
    [
      ['c-1', 'working'],
      ['c-1', 'idle'],
      ['c-1', 'working'],
    ],
  );
});

test('a folder that is not there is no trouble', async (t) => {
  const files = new ChatFiles(join(tempFolder(t), 'nowhere'), () => assert.fail());
  files.dispose();
});
