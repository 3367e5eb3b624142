import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fence, fenceNote } from '../../src/core/envelope.ts';
import type { MessageView } from '../../src/core/model.ts';
import { newsText } from '../../src/core/news.ts';
import { pushBudget, stopReason, wakePrompt, wakeTokens } from '../../src/core/wakePrompt.ts';
import { tokensAtMost } from '../support/tokens.ts';

const token = 'wake-AbCdEfGhIjKlMnOpQrSt_-';
const message = (part: Partial<MessageView> = {}): MessageView => ({
  id: 'm1f',
  conversation: 'c2',
  from: 'shop-web-copilot',
  workspace: 'shop-web',
  to: ['shop-api-copilot'],
  kind: 'request',
  text: 'what does GET /orders return?',
  sent_at: '2026-01-01T00:00:00.000Z',
  ...part,
});
const prompt = (...messages: MessageView[]) => wakePrompt('shop-api-copilot', messages, token, 0);
const count = (text: string, part: RegExp): number => text.match(new RegExp(part, 'g'))?.length ?? 0;

describe('what a delivered message costs beyond its own text', () => {
  const beyond = (text: string): number => tokensAtMost(text) - tokensAtMost(message().text);
  const push = [
    ['as a turn of its own', prompt(message()).text],
    ['at the end of a turn', stopReason('shop-api-copilot', [message()], 0).text],
    ['as news', newsText([fence(message(), { brief: true })], 0)],
  ] as const;
  for (const [how, text] of push) {
    test(`${how}: 150 tokens at most`, () => assert.ok(beyond(text) <= 150, `${beyond(text)}\n${text}`));
  }
});

describe('the prompt of a wake', () => {
  test('begins with a line for people, carries the fenced message, says how to answer, and holds the token', () => {
    const { text, whole } = prompt(message());
    assert.deepEqual(text.split('\n'), [
      'Message from shop-web-copilot (shop-web) via Agent Bus',
      '',
      fenceNote,
      '<message id="m1f" from="shop-web-copilot" workspace="shop-web" kind="request">',
      'what does GET /orders return?',
      '</message>',
      '',
      'You are "shop-api-copilot". Answer with the bus tool send (reply_to "m1f"; text), or ack with a note.',
      `(${token})`,
    ]);
    assert.deepEqual(whole, ['m1f']);
    assert.deepEqual(wakeTokens(text), [token]);
  });

  test('names several senders, the person by what it is, and what is left', () => {
    const several = [message(), message({ id: 'm2', from: 'person' }), message({ id: 'm3' })];
    const { text } = wakePrompt('x', several, token, 2);
    assert.match(text, /^3 messages from shop-web-copilot \(shop-web\), the person via Agent Bus\n/);
    assert.match(text, /\n2 more wait: call inbox\.\n/);
    assert.match(text, /\(reply_to "m1f" or "m2" or "m3"; text\)/);
  });

  test('carries a long text as an excerpt, which does not count as seen', () => {
    const long = message({ id: 'm9', text: 'x'.repeat(pushBudget.length + 1) });
    const { text, whole } = prompt(message(), long);
    assert.deepEqual(whole, ['m1f']);
    assert.match(text, /1 more characters: conversation \{"id":"m9","offset":8000\}/);
    assert.deepEqual(prompt(message({ text: 'x'.repeat(pushBudget.length) })).whole, ['m1f']);
  });

  test('can’t be broken by what it carries', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc
        .array(
          fc.constantFrom('</message>', '<message id="m1" from="person">', '\n', token, 'wake-', '(', '"', '\u202e'),
          { maxLength: 20 },
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, (text, from, workspace) => {
        for (const { text: out } of [
          prompt(message({ text, from, workspace })),
          stopReason(from, [message({ text, workspace })], 0),
        ]) {
          assert.equal(count(out, /<message /), 1);
          assert.equal(count(out, /<\/message>/), 1);
          assert.equal(count(out, /\n<\/message>\n/), 1);
        }
        const lines = prompt(message({ text, from, workspace })).text.split('\n');
        assert.match(lines[0] ?? '', / via Agent Bus$/);
        assert.equal(lines[1], '');
        assert.equal(lines.at(-1), `(${token})`);
      }),
    );
  });
});

describe('the tokens in a prompt', () => {
  test('are found whatever stands around them, and are not found in longer words', () => {
    assert.deepEqual(wakeTokens(`please:\n> (${token})\n${token}`), [token]);
    assert.deepEqual(wakeTokens(`${token}x awake-${token} wake-short`), []);
    assert.deepEqual(wakeTokens(''), []);
    assert.equal(
      wakeTokens(Array.from({ length: 50 }, (_, i) => `wake-${String(i).padStart(22, '0')}`).join(' ')).length,
      20,
    );
  });
});
