import '../support/fakeVscode.ts';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { BusError } from '../../src/core/errors.ts';
import { mcpConfigurations } from '../../src/extension/commands/mcpConfigurations.ts';
import { OnceAcrossWindows } from '../../src/extension/onceAcrossWindows.ts';
import { linkTarget } from '../../src/extension/page/linkTarget.ts';
import { assertStill, fileName } from '../../src/extension/page/pictureFile.ts';
import { deciding, isPageMethod, paramsOf } from '../../src/extension/page/requests.ts';
import { escaped, quotedBlock } from '../../src/extension/quoted.ts';
import { tempFolder } from '../support/tempFolder.ts';

const invalid = (error: unknown): boolean => error instanceof BusError && error.code === 'invalid-input';

describe('what a page asks', () => {
  test('is passed on with its declared fields only', () => {
    const draft = { to: ['alice'], text: 'hi', kind: 'inform', key: 'k', wait_seconds: 45, __proto__: { from: 'x' } };
    assert.deepEqual(paramsOf.send(draft, 'request'), { to: ['alice'], text: 'hi', kind: 'inform', key: 'k' });
    assert.deepEqual(paramsOf.hello({ more: 1 }, 'request'), {});
  });

  test('is refused where it is not what was declared', () => {
    const wrong: [keyof typeof paramsOf, unknown][] = [
      ['hello', undefined],
      ['overview', { filter: 'mine', limit: 10 }],
      ['overview', { filter: 'all', limit: 501 }],
      ['overview', { filter: 'all', limit: 1.5 }],
      ['story', { conversation: 'c1', limit: 10, before: 'c2' }],
      ['story', { conversation: '../c1', limit: 10 }],
      ['message', { id: 'm1; drop' }],
      ['send', { text: '', kind: 'inform', key: 'k' }],
      ['send', { text: 'x', kind: 'order', key: 'k' }],
      ['send', { to: 'alice', text: 'x', kind: 'inform', key: 'k' }],
      ['seen', { ids: 'm1' }],
      ['release', { id: 'm1', verdict: 'forever' }],
      ['pause', { on: 'yes' }],
      ['typing', { agent: 'alice', on: 1 }],
      ['tell', { agent: 'alice', on: 'yes' }],
      ['reach', { agent: 'x'.repeat(100) }],
      ['open', { href: 'x'.repeat(5_000), message: 'm1' }],
      ['exportSvg', { svg: 1, name: 'x' }],
    ];
    for (const [method, params] of wrong) assert.throws(() => paramsOf[method](params, 'request'), invalid, method);
  });

  test('never breaks a guard, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(paramsOf)),
        fc.anything({ withNullPrototype: true }),
        (method, params) => {
          try {
            paramsOf[method as keyof typeof paramsOf](params, 'request');
          } catch (error) {
            assert.ok(invalid(error), String(error));
          }
        },
      ),
    );
  });

  test('is one of the methods and nothing from their prototype', () => {
    assert.ok(isPageMethod('send'));
    for (const name of ['toString', 'constructor', '__proto__', 'call', undefined, 3]) assert.ok(!isPageMethod(name));
  });

  test('changes nothing without trust', () => {
    assert.deepEqual([...deciding].sort(), ['ack', 'cancel', 'pause', 'release', 'send', 'start', 'typing', 'unread']);
  });
});

describe('a link in a message', () => {
  test('to the web is opened as it stands', () => {
    assert.deepEqual(linkTarget('https://example.com/a?b#c'), { kind: 'web', url: 'https://example.com/a?b#c' });
    assert.equal(linkTarget('HTTP://example.com').kind, 'web');
  });

  test('to a file may name a line', () => {
    assert.deepEqual(linkTarget('src/a.ts'), { kind: 'file', path: 'src/a.ts', absolute: false });
    assert.deepEqual(linkTarget('src/a.ts:12'), { kind: 'file', path: 'src/a.ts', absolute: false, line: 12 });
    assert.deepEqual(linkTarget('a.ts:12:3'), { kind: 'file', path: 'a.ts', absolute: false, line: 12, column: 3 });
    assert.deepEqual(linkTarget('/x/a%20b.ts#L7-L9'), { kind: 'file', path: '/x/a b.ts', absolute: true, line: 7 });
    assert.deepEqual(linkTarget('file:///x/a.ts#L2'), { kind: 'file', path: '/x/a.ts', absolute: true, line: 2 });
    assert.deepEqual(linkTarget('file:///C:/x/a.ts'), { kind: 'file', path: 'C:/x/a.ts', absolute: true });
    assert.deepEqual(linkTarget('C:\\x\\a.ts:3'), { kind: 'file', path: 'C:\\x\\a.ts', absolute: true, line: 3 });
  });

  test('to anything else is refused', () => {
    const links = [
      'command:workbench.action.terminal.new',
      'COMMAND:x',
      ' command:x',
      'vscode:extension/x',
      'vscode-insiders://x',
      'javascript:alert(1)',
      'data:text/html,x',
      'mailto:a@b',
      'vscode-remote://ssh/x',
      'file://server/share/x',
      '\\\\server\\share\\x',
      '//server/share',
      '%2F%2Fserver/share',
      'https://good.example@evil.example/',
      'https://',
      '#top',
      'com\nmand:x',
      'a\0b',
    ];
    for (const link of links) assert.equal(linkTarget(link).kind, 'refused', link);
  });

  test('never throws and never becomes a scheme of its own', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (link) => {
        const target = linkTarget(link);
        if (target.kind === 'web') assert.match(target.url, /^https?:\/\//);
        if (target.kind === 'file') assert.doesNotMatch(target.path, /^[\\/]{2}/);
      }),
    );
  });
});

describe('a picture', () => {
  test('is saved if it is only a picture', () => {
    assertStill('<svg xmlns="http://www.w3.org/2000/svg"><text>set once = 1, javascript: &lt;script&gt;</text></svg>');
    assertStill('<?xml version="1.0"?>\n<svg><path d="M0 0"/></svg>');
    const moving = [
      '<html></html>',
      '<svg onload="x()"></svg>',
      '<svg><script>x()</script></svg>',
      '<svg><a href="javascript:x()">x</a></svg>',
      '<svg><foreignObject/></svg>',
      '<svg><image href="http://x"/></svg>',
      '<!DOCTYPE svg [<!ENTITY x "y">]><svg/>',
    ];
    for (const svg of moving) assert.throws(() => assertStill(svg), invalid, svg);
  });

  test('has a name that is a name', () => {
    assert.equal(fileName('shop-web, shop-api'), 'shop-web-shop-api');
    assert.equal(fileName('../../etc/passwd'), 'etc-passwd');
    assert.equal(fileName('«»'), 'conversation');
  });
});

describe('text of others in the chat', () => {
  test('cannot leave its block', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '```', '\n', 'a', '[x](command:y)', '\r')), (parts) => {
        const block = quotedBlock(parts.join(''));
        const fence = /^`+/.exec(block)?.[0] ?? '';
        const lines = block.split('\n');
        assert.ok(fence.length >= 3);
        assert.deepEqual(
          lines.slice(1).filter((line) => line.startsWith(fence)),
          [fence],
        );
        assert.equal(lines.at(-1), fence);
      }),
    );
  });

  test('loses what nobody would see', () => {
    assert.equal(quotedBlock('a\u202Eb\u200Bc\u0007'), '```text\nabc\n```');
    assert.match(quotedBlock('x'.repeat(9_000)), /1000 characters more/);
  });

  test('is no Markdown in a line', () => {
    assert.equal(escaped('[x](command:y) `z`\n**b**'), '\\[x\\]\\(command\\:y\\) \\`z\\` \\*\\*b\\*\\*');
  });
});

describe('once across windows', () => {
  test('one of many claims it', async (t) => {
    const folder = join(tempFolder(t), 'asked');
    const windows = Array.from({ length: 8 }, () => new OnceAcrossWindows(folder));
    const claims = await Promise.all(windows.map((window) => window.claim('m1-1700000000000')));
    assert.equal(claims.filter(Boolean).length, 1);
    assert.equal(await windows[0]?.claim('m1-1700000000001'), true);
  });

  test('claims nothing outside of its folder, and forgets what is old', async (t) => {
    const folder = tempFolder(t);
    const once = new OnceAcrossWindows(join(folder, 'asked'));
    assert.equal(await once.claim('../evil'), true);
    await mkdir(join(folder, 'asked'), { recursive: true });
    await writeFile(join(folder, 'asked', 'old'), '');
    await utimes(join(folder, 'asked', 'old'), 1, 1);
    assert.equal(await once.claim('old'), false);
    await once.sweep();
    assert.equal(await once.claim('old'), true);
    assert.equal(await once.claim('../evil'), false);
  });
});

test('the configuration to copy quotes what needs it and holds no token', () => {
  const [claude, , json, url] = mcpConfigurations('/home/a b/bin/agent-bus', 'http://127.0.0.1:1/mcp');
  assert.equal(claude?.copied, 'claude mcp add --scope user agent-bus -- "/home/a b/bin/agent-bus" mcp');
  assert.equal(JSON.parse(json?.copied ?? '').mcpServers['agent-bus'].command, '/home/a b/bin/agent-bus');
  assert.equal(JSON.parse(url?.copied ?? '').mcpServers['agent-bus'].headers.Authorization, 'Bearer TOKEN');
  assert.equal(mcpConfigurations('/x/agent-bus', undefined).length, 3);
});
