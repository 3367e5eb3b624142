import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { connected, disconnected, type Edit } from '../../src/connect/files/configEdits.ts';
import { JsonText } from '../../src/connect/files/jsonText.ts';
import { withoutTomlTable, withTomlTable } from '../../src/connect/files/tomlTable.ts';
import { Unreadable } from '../../src/connect/files/unreadable.ts';
import type { ConfigFile, Product, Scope } from '../../src/connect/products/product.ts';
import { products } from '../../src/connect/products/table.ts';
import { jsonTexts, moreTomlTables, placeIn, tomlTexts } from '../support/connectTexts.ts';

const place = placeIn('/home/it’s me', '/projects/shop');

interface Case {
  product: Product;
  edit: Edit;
}

/** Every file that we write, of every product. */
const cases: Case[] = Object.values(products).flatMap((product) =>
  (['user', 'project'] as Scope[]).flatMap((scope) =>
    product
      .files(place, scope, true)
      .map(unswitched)
      .filter(({ parts }) => parts.length > 0)
      .map((file) => ({ product, edit: { product: product.name, wanted: file, all: file, original: undefined } })),
  ),
);

/** Switches are written only where the person says so. */
function unswitched(file: ConfigFile): ConfigFile {
  return { ...file, parts: file.parts.filter(({ kind }) => kind !== 'switch') };
}

const jsonCases = cases.filter(({ edit }) => edit.wanted.format === 'json');
const jsonCase = fc.nat(jsonCases.length - 1);
const editOf = (index: number): Edit => (jsonCases[index] as Case).edit;

describe('a JSON file of somebody else', () => {
  test('ours goes in, goes in again without a change, and comes out to the byte', () => {
    fc.assert(
      fc.property(jsonTexts, jsonCase, (text, index) => {
        const edit = editOf(index);
        const first = connected(text, edit) ?? '';
        assert.notEqual(first, text);
        assert.equal(connected(first, { ...edit, original: text }), first, 'twice');
        assert.equal(disconnected(first, { ...edit, original: text }), text);
      }),
      { numRuns: 1_000 },
    );
  });

  test('everything of the person’s is still there, in its order', () => {
    fc.assert(
      fc.property(jsonTexts, jsonCase, (text, index) => {
        const edit = editOf(index);
        const keys = (of: string): string[] => Object.keys(parse(of, [], { allowTrailingComma: true }) as object);
        const before = keys(text);
        assert.deepEqual(
          keys(connected(text, edit) ?? '').filter((key) => before.includes(key)),
          before,
        );
      }),
      { numRuns: 300 },
    );
  });

  test('what the person adds around ours stays, whatever was known of the file before', () => {
    fc.assert(
      fc.property(jsonTexts, jsonCase, fc.boolean(), (text, index, known) => {
        const edit = editOf(index);
        const original = known ? text : undefined;
        const full = new JsonText(connected(text, edit) ?? '');
        const { at, kind } = edit.wanted.parts.at(-1) ?? { at: [], kind: 'hook' };
        const theirs = { command: 'theirs' };
        const added = kind === 'hook' ? full.append(at, theirs) : full.set([at[0] ?? '', 'zzz'], theirs);
        const left = new JsonText(disconnected(added.set(['more'], [1]).text, { ...edit, original }) ?? '');
        assert.deepEqual(left.value(['more']), [1]);
        assert.ok(!left.text.includes('bus folder'), 'nothing of ours is left');
        if (kind === 'hook') assert.deepEqual((left.value(at) as unknown[]).at(-1), theirs);
        else assert.deepEqual(left.value([at[0] ?? '', 'zzz']), theirs);
      }),
      { numRuns: 500 },
    );
  });

  test('laid out anew by another program, ours still comes out and nothing else does', () => {
    fc.assert(
      fc.property(jsonTexts, jsonCase, (text, index) => {
        const edit = editOf(index);
        const plain = (of: string): unknown => new JsonText(of).value();
        const again = JSON.stringify(plain(connected(text, edit) ?? ''), null, 4);
        const left = disconnected(again, { ...edit, original: text }) ?? '{}';
        assert.deepEqual(plain(left), plain(JSON.stringify(plain(text))));
      }),
      { numRuns: 300 },
    );
  });

  test('one that was not there is made, and goes again', () => {
    for (const { edit } of cases) {
      for (const text of [undefined, '', '\n', ' \r\n']) {
        if (text !== undefined && edit.wanted.format === 'toml') continue;
        const made = connected(text, edit) ?? '';
        assert.ok(made.endsWith('\n'));
        assert.equal(connected(made, edit), made);
        assert.equal(disconnected(made, { ...edit, original: text }), undefined, edit.wanted.path);
      }
    }
  });

  test('a server of that name that is another one is replaced; keys that the person added to ours stay', () => {
    const { edit } = cases[0] as Case;
    const http = '{"mcpServers": {"agent-bus": {"type": "http", "url": "http://127.0.0.1:1/mcp"}, "b": {}}}';
    const ours = new JsonText(connected(http, edit) ?? '');
    assert.deepEqual(ours.value(['mcpServers', 'agent-bus']), edit.wanted.parts[0]?.value);
    assert.deepEqual(ours.value(['mcpServers', 'b']), {});
    const longer = ours.set(['mcpServers', 'agent-bus', 'timeout'], 9).text;
    assert.equal(connected(longer, edit), longer);
  });

  test('hooks of an earlier launcher are replaced, those that are not wanted any more are taken out', () => {
    const { edit } = cases.find(({ edit: { wanted } }) => wanted.path.endsWith('settings.json')) as Case;
    const old = JSON.stringify({
      hooks: {
        Stop: [{ matcher: '', hooks: [{ type: 'command', command: 'theirs' }, own('Stop')] }, { hooks: [own('Stop')] }],
        PreToolUse: [{ hooks: [own('PreToolUse')] }],
        Notification: [],
      },
    });
    const hooks = new JsonText(connected(old, edit) ?? '').value(['hooks']) as Record<string, unknown[]>;
    assert.equal(hooks['PreToolUse'], undefined);
    assert.deepEqual(hooks['Notification'], [], 'the person’s, and empty');
    assert.deepEqual(hooks['Stop']?.[0], { matcher: '', hooks: [{ type: 'command', command: 'theirs' }] });
    assert.equal(hooks['Stop']?.length, 2);
    function own(event: string): object {
      return { type: 'command', command: `'/old place/agent-bus' hook claude ${event}` };
    }
  });

  test('what can’t be read is not touched, and the line is named', () => {
    const { edit } = cases[0] as Case;
    for (const [text, line] of [
      ['{\n  "a": 1,\n  oops\n}', 3],
      ['[]', 1],
      ['{"mcpServers": []}', 1],
      ['{\n"mcpServers":\n "x"}', 3],
      ['{"a": 1', 1],
      ['<<<<<<< HEAD\n{}', 1],
      ['{}{}', 1],
    ] as const) {
      assert.throws(
        () => connected(text, edit),
        (error) => error instanceof Unreadable && error.line === line,
        text,
      );
    }
    assert.throws(() => connected('['.repeat(100_000), edit), Unreadable);
  });
});

describe('a TOML file of somebody else', () => {
  const path = ['mcp_servers', 'agent-bus'];
  const table = { command: '/it’s/a "bin"/agent-bus', args: ['mcp', '--product', 'codex'] };

  test('ours goes in, goes in again without a change, and comes out to the byte', () => {
    fc.assert(
      fc.property(tomlTexts, (text) => {
        const first = withTomlTable(text, path, table);
        assert.ok(first.startsWith(text));
        assert.equal(withTomlTable(first, path, table), first);
        assert.equal(withoutTomlTable(first, path) ?? '', text);
      }),
      { numRuns: 1_000 },
    );
  });

  test('in the middle of other tables, and with tables in it, ours is replaced and taken out', () => {
    fc.assert(
      fc.property(tomlTexts, moreTomlTables, (before, rest) => {
        const ended = before === '' || before.endsWith('\n') ? before : `${before}\n`;
        const own = `[mcp_servers.agent-bus]\ncommand = "old"\n# remark\nenabled = false\n`;
        const inner = '[mcp_servers.agent-bus.tools.send]\napproval_mode = "approve"\n';
        const text = `${ended}${own}${inner}${rest}`;
        const replaced = withTomlTable(text, path, table);
        assert.ok(replaced.startsWith(ended) && replaced.endsWith(inner + rest));
        assert.equal(withTomlTable(replaced, path, table), replaced);
        assert.equal(withoutTomlTable(text, path) ?? '', ended.replace(/(?<=\n)\r?\n$/, '') + rest);
      }),
      { numRuns: 500 },
    );
  });

  test('what can’t be read or extended is not touched, and the line is named where it is known', () => {
    for (const [text, line] of [
      ['a = 1\nb = \n', 2],
      ['a = 1\n[x\n', 2],
      ['mcp_servers = { other = { command = "x" } }\n', undefined],
      ['[mcp_servers]\nagent-bus = { command = "x" }\n', 2],
      ['mcp_servers.agent-bus.command = "x"\n', 1],
      ['mcp_servers = 5\n', undefined],
    ] as const) {
      assert.throws(
        () => withTomlTable(text, path, table),
        (error) => error instanceof Unreadable && (line === undefined || error.line === line),
        text,
      );
    }
  });
});
