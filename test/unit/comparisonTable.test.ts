/** README compares the bus with others, row by row. Each row is a promise: a test of its name has to keep it. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { commands } from '../../src/cli/commandTable.ts';
import { tools } from '../../src/tools/table.ts';

const root = join(import.meta.dirname, '..', '..');

/** The first column and the last of the table under that heading. */
function rows(): { operation: string; here: string }[] {
  const [, section = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('### Compared with agent-tool, ');
  const [, ...lines] = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(1).map((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    assert.equal(cells.length, 8, `six columns: ${line}`);
    return { operation: cells[1] ?? '', here: cells[6] ?? '' };
  });
}

function testNames(): string[] {
  return globSync('test/hub/comparison*.test.ts', { cwd: root }).flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    return source.statements.flatMap((statement) => {
      if (!ts.isExpressionStatement(statement) || !ts.isCallExpression(statement.expression)) return [];
      const { expression, arguments: given } = statement.expression;
      const [name] = given;
      return expression.getText() === 'test' && name && ts.isStringLiteral(name) ? [name.text] : [];
    });
  });
}

test('each row of the comparison has a test of its name, and each test has its row', () => {
  const operations = rows().map(({ operation }) => operation);
  assert.ok(operations.length >= 30, `only ${operations.length} rows were found`);
  assert.deepEqual(operations.toSorted(), testNames().toSorted());
});

test('each row names a tool or a command that there is', () => {
  const known = [...Object.keys(tools), ...commands.map(({ name }) => `agent-bus ${name}`)];
  for (const { operation, here } of rows()) {
    const named = [...here.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
    assert.ok(
      named.some((text) => known.some((one) => text === one || text.startsWith(`${one} `))),
      `${operation}: ${here}`,
    );
    for (const text of named.filter((one) => one.startsWith('agent-bus ')))
      assert.ok(known.includes(text.split(' ').slice(0, 2).join(' ')), text);
  }
});
