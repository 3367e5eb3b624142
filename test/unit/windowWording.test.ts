import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeName, plainLine } from '../../src/extension/window/plainLine.ts';
import { question, waitingText } from '../../src/extension/window/wording.ts';
import type { AskParams } from '../../src/protocol/reachMessages.ts';

describe('foreign text in a notification', () => {
  test('is one line without links, commands, icons and hidden characters', () => {
    const hostile =
      'Click [here](command:workbench.action.terminal.new)\n\n\u202Eevil\u200B $(alert) [x](https://evil.example) “ok”';
    const line = plainLine(hostile);
    assert.doesNotMatch(line, /[[\]\n\u202E\u200B“”]|\$\(/);
    assert.doesNotMatch(line, /\]\(/);
    assert.match(line, /^Click \(here\)\(command:/);
  });

  test('is cut at whole characters', () => {
    const line = plainLine('👍'.repeat(500), 50);
    assert.equal([...line].length, 50);
    assert.ok(line.isWellFormed());
  });

  test('names places by their own name', () => {
    assert.equal(placeName('/home/x/shop-api'), 'shop-api');
    assert.equal(placeName('C:\\work\\shop-api\\'), 'shop-api');
    assert.equal(placeName('/home/x/all.code-workspace'), 'all');
    assert.equal(placeName('/home/x/[a](command:b)'), '(a)(command:b)');
    assert.equal(placeName(undefined), undefined);
  });
});

describe('what the person is asked', () => {
  const base: Omit<AskParams, 'kind'> = {
    from: { agent: 'shop-web-copilot', workspace: '/w/shop-web' },
    to: { agent: 'shop-api-copilot', workspace: '/w/shop-api' },
    message: { id: 'm1', line: 'What does GET /orders return?' },
    waiting: 1,
  };

  test('consent names both sides and the message', () => {
    const { text, answers } = question({ ...base, kind: 'consent' });
    for (const part of [
      'shop-web-copilot (workspace shop-web)',
      'shop-api-copilot (workspace shop-api)',
      '“What does',
    ]) {
      assert.ok(text.includes(part), text);
    }
    assert.deepEqual(answers, { 'Allow once': 'once', 'Always allow': 'always', Never: 'never' });
  });

  test('hops can be continued or stopped', () => {
    const { text, answers } = question({ ...base, waiting: 3, kind: 'hops', hops: 20 });
    assert.match(text, /20 times in a row.*, and 2 more\./);
    assert.deepEqual(answers, { Continue: 'once', Stop: 'never' });
  });

  test('waiting messages are counted', () => {
    assert.equal(waitingText({ ids: ['a'], agent: 'x' }, 'bob'), 'A message from bob waits for Copilot (x).');
    assert.equal(waitingText({ ids: ['a', 'b'], agent: 'x' }, undefined), '2 messages wait for Copilot (x).');
  });
});
