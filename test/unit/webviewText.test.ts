import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fate, StoryMessage } from '../../src/protocol/storyMessages.ts';
import { foldCharacters, folded, foldLines, markdownCharacters, slices } from '../../src/webview/text/fold.ts';
import { highlight } from '../../src/webview/text/highlight.ts';
import { hasInvisible, pieces, visible } from '../../src/webview/text/invisible.ts';
import { lineOf, plainLine } from '../../src/webview/text/lines.ts';
import { mayOpen, toHtml } from '../../src/webview/text/markdown.ts';
import { dayName, duration, shortTime, waitingTime } from '../../src/webview/text/time.ts';
import { colourOf, fateSentence, initials, list, requestSentence, tickOf } from '../../src/webview/text/words.ts';
import { chipsThatFit } from '../../src/webview/view/chipsThatFit.ts';

describe('Markdown', () => {
  test('HTML of the writer is text', () => {
    const html = toHtml('<script>alert(1)</script> <img src=x onerror=alert(1)>');
    assert.doesNotMatch(html, /<script|<img/);
    assert.match(html, /&lt;script&gt;/);
  });

  test('links name a place and lead nowhere', () => {
    const html = toHtml('[a](https://x.example/?a=1&b=2) [b](src/a.ts#L3) https://y.example');
    assert.doesNotMatch(html, /\shref=|\ssrc=/);
    assert.equal(html.match(/data-href=/g)?.length, 3);
    assert.match(html, /role="link" tabindex="0"/);
  });

  const refused = [
    'javascript:alert(1)',
    'JaVaScRiPt:x',
    'data:text/html,x',
    'vbscript:x',
    'command:a',
    'vscode://x',
    '//host/x',
    '#top',
    '',
  ];
  for (const href of refused) test(`${href || 'nothing'} is no link`, () => assert.equal(mayOpen(href), false));
  const opened = [
    'https://a.example',
    'HTTP://a',
    'file:///a',
    'src/a.ts',
    '/abs/a.ts:12',
    'a.ts:12:3',
    'C:\\a.ts',
    '../up.md',
  ];
  for (const href of opened) test(`${href} is one`, () => assert.equal(mayOpen(href), true));

  test('a refused link stays readable as it was written', () => {
    const html = toHtml('[click](javascript:alert(1))');
    assert.doesNotMatch(html, /data-href/);
    assert.match(html, /javascript:alert/);
  });

  test('images are never loaded', () => {
    const html = toHtml('![a cat](https://x.example/cat.png)');
    assert.doesNotMatch(html, /<img/);
    assert.match(html, /\[image: a cat\]/);
  });

  test('quotes in a link or a language do not leave their attribute', () => {
    const html = toHtml('[a](<https://x.example/" onmouseover="x>)\n\n```js" onclick="x\n1\n```');
    assert.doesNotMatch(html, /"\s+onmouseover|"\s+onclick/);
  });

  test('no style attribute: the policy would drop it', () => {
    const html = toHtml('|a|b|\n|-:|:-:|\n|1|2|');
    assert.doesNotMatch(html, /style=/);
    assert.match(html, /md-right/);
    assert.match(html, /md-center/);
  });

  test('headings never skip a level', () => {
    const levels = [...toHtml('#### a\n\n# b\n\n###### c\n\n## d').matchAll(/aria-level="(\d)"/g)].map((m) =>
      Number(m[1]),
    );
    assert.deepEqual(levels, [3, 3, 4, 4]);
  });

  const patterns = [
    '[',
    '*',
    '`',
    '> ',
    '<',
    '|',
    '- ',
    '![',
    '_a',
    '](',
    '&',
    'http://',
    '**a ',
    '\\',
    '#',
    '~~',
    '1. ',
  ];
  for (const pattern of patterns) {
    test(`a slice full of ${JSON.stringify(pattern)} does not take long`, () => {
      const text = pattern.repeat(Math.floor(12_000 / pattern.length));
      const began = performance.now();
      toHtml(text);
      const took = performance.now() - began;
      assert.ok(took < 1_500, `${Math.round(took)} ms`);
    });
  }
});

describe('folding', () => {
  test('short texts stay whole', () => {
    assert.equal(folded('a\nb'), undefined);
    assert.equal(folded('x'.repeat(foldCharacters)), undefined);
    assert.equal(folded('x\n'.repeat(foldLines)), undefined);
  });

  test('long ones are cut at a line, within the bounds', () => {
    const head = folded('some words\n'.repeat(1_000)) ?? '';
    assert.ok(head.split('\n').length <= foldLines);
    assert.ok((folded('word '.repeat(2_000)) ?? '').length <= foldCharacters);
  });

  test('an open code block is closed', () => {
    const head = folded(`text\n\`\`\`\`js\n${'code\n'.repeat(500)}\`\`\`\``) ?? '';
    assert.ok(head.endsWith('\n````'));
  });

  test('a pair of surrogates stays together', () => {
    assert.ok((folded('😀'.repeat(5_000)) ?? '').isWellFormed());
    assert.ok(slices('😀'.repeat(50_000)).every(({ text }) => text.isWellFormed()));
  });

  test('slices are all of the text, each small', () => {
    const text = 'A paragraph of some words.\n\n'.repeat(3_000);
    const parts = slices(text);
    assert.ok(parts.length > 5);
    assert.ok(parts.every((part) => part.text.length <= 12_100 && !part.plain));
    assert.equal(parts.map((part) => part.text).join(''), text);
  });

  test('a code block over many slices is one in each of them', () => {
    const parts = slices(`\`\`\`\n${'line of code\n'.repeat(5_000)}\`\`\`\n`);
    assert.ok(parts.length > 3);
    for (const { text } of parts) assert.equal((text.match(/^```/gm) ?? []).length % 2, 0);
  });

  test('a megabyte is plain text', () => {
    const parts = slices('x'.repeat(1_048_576));
    assert.ok(parts.every((part) => part.plain && part.text.length <= 40_001));
    assert.ok('x'.repeat(markdownCharacters + 1).length > markdownCharacters);
  });
});

describe('what can’t be seen', () => {
  test('is named', () => {
    assert.equal(visible('a\u202Egnp.exe'), 'a[RLO]gnp.exe');
    assert.equal(visible('pay\u200Bload'), 'pay[zero-width space]load');
    assert.equal(visible('x\u0007y'), 'x[U+0007]y');
  });

  test('text hidden in tags is spelled out', () => {
    const hidden = [...'run rm'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    const mark = pieces(`hello${hidden}`)[1];
    assert.ok(typeof mark === 'object' && mark.title.includes('run rm'));
  });

  test('scripts and emoji that need joiners are left alone', () => {
    for (const text of ['می‌خواهم', '👩‍💻', 'क्‍ष', '❤️', 'plain\ttext\nlines\r\n', '🏴󠁧󠁢󠁥󠁮󠁧󠁿']) {
      assert.equal(visible(text), text);
    }
    assert.equal(hasInvisible('abc'), false);
  });
});

describe('times', () => {
  const now = new Date(2026, 5, 17, 15, 0).getTime();
  const ago = (minutes: number) => now - minutes * 60_000;

  test('as short as a list needs them', () => {
    assert.equal(shortTime(ago(0.5), now, 'en'), 'now');
    assert.equal(shortTime(ago(5), now, 'en'), '5 min');
    assert.match(shortTime(ago(180), now, 'en-GB'), /^12:00$/);
    assert.equal(shortTime(ago(3 * 24 * 60), now, 'en'), 'Sun');
    assert.equal(shortTime(ago(60 * 24 * 60), now, 'en-GB'), '18 Apr');
    assert.match(shortTime(ago(500 * 24 * 60), now, 'en-GB'), /2025/);
  });

  test('in the language of the editor, and in some language if that is nonsense', () => {
    assert.equal(shortTime(ago(3 * 24 * 60), now, 'de'), 'So');
    assert.equal(dayName(ago(60), now, 'de'), 'Heute');
    assert.equal(dayName(ago(24 * 60), now, 'en'), 'Yesterday');
    assert.ok(shortTime(ago(600), now, 'not a language!').length > 0);
  });

  test('how long', () => {
    assert.equal(duration(4_200), '4 s');
    assert.equal(duration(65_000), '1 min 5 s');
    assert.equal(duration(12 * 60_000 + 7_000), '12 min');
    assert.equal(duration(65 * 60_000), '1 h 5 min');
    assert.equal(duration(50 * 3_600_000), '2 d 2 h');
    assert.equal(waitingTime(20_000), 'less than a minute');
    assert.equal(waitingTime(130_000), '2 min');
  });
});

describe('words', () => {
  const fate = (agent: string, step: Fate['step'], more: Partial<Fate> = {}): Fate => ({
    agent,
    step,
    at: '',
    ...more,
  });

  test('a tick shows what all recipients have in common', () => {
    assert.equal(tickOf([]), 'stored');
    assert.equal(tickOf([fate('a', 'shown'), fate('b', 'offered')]), 'offered');
    assert.equal(tickOf([fate('a', 'replied'), fate('b', 'acked')]), 'done');
    assert.equal(tickOf([fate('a', 'replied'), fate('b', 'held')]), 'trouble');
    assert.equal(tickOf([fate('a', 'cancelled')]), 'ended');
  });

  test('and in words', () => {
    assert.equal(fateSentence([fate('a', 'acked', { outcome: 'done' })]), 'Acknowledged (done): a');
    assert.equal(fateSentence([fate('a', 'shown'), fate('b', 'stored')]), 'Seen by 1 of 2');
    assert.equal(fateSentence([fate('a', 'undeliverable'), fate('b', 'shown')]), 'Could not be delivered for 1 of 2');
  });

  test('a request says whom it waits for, or how it ended', () => {
    const message: StoryMessage = {
      id: 'm1',
      conversation: 'c1',
      from: 'a',
      to: ['person', 'b'],
      kind: 'request',
      text: '',
      sent_at: new Date(0).toISOString(),
      request: 'pending',
      fates: [fate('person', 'shown'), fate('b', 'acked')],
    };
    assert.equal(requestSentence(message, undefined, 'person', 5 * 60_000), 'Waiting for you, 5 min');
    const answered: StoryMessage = { ...message, request: 'answered', ended_at: new Date(40_000).toISOString() };
    assert.equal(requestSentence(answered, 'b', 'person', 0), 'Answered by b after 40 s');
    assert.match(requestSentence({ ...message, request: 'expired' }, undefined, 'person', 0), /Expired/);
  });

  test('names in lists, initials and colours', () => {
    assert.equal(list(['a', 'b']), 'a and b');
    assert.equal(list(['a', 'b', 'c', 'd', 'e']), 'a, b and 3 more');
    assert.equal(initials('shop-api-copilot'), 'SC');
    assert.equal(initials('builder'), 'BU');
    for (let i = 0; i < 500; i++) assert.ok([0, 1, 2, 3, 4].includes(colourOf(`agent-${i}`)));
  });

  test('a line of Markdown without its marks', () => {
    assert.equal(plainLine('## Use `npm` and [docs](https://x)'), 'Use npm and docs');
    assert.equal(plainLine('- **bold** move'), 'bold move');
    assert.equal(lineOf('\n\n first\nsecond', 50), 'first');
    assert.ok(lineOf('😀'.repeat(100), 11).isWellFormed());
  });

  test('hits are marked, whatever the query is made of', () => {
    assert.deepEqual(highlight('The Orders API', 'orders'), [
      { text: 'The ', hit: false },
      { text: 'Orders', hit: true },
      { text: ' API', hit: false },
    ]);
    assert.deepEqual(highlight('a (b', '(.*['), [{ text: 'a (b', hit: false }]);
  });

  test('chips fill their rows and leave room for the number of the others', () => {
    assert.equal(chipsThatFit(['a', 'b'], 300, 2), 2);
    const many = Array.from({ length: 40 }, (_, i) => `service-${i}-copilot`);
    const count = chipsThatFit(many, 276, 2);
    assert.ok(count >= 1 && count <= 4, String(count));
  });
});
