import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, posix, relative, sep } from 'node:path';
import { describe, test } from 'node:test';
import ts from 'typescript';

// The import table of the design: who may import whom. A room may always import itself.
//   'all'     values and types of every file in that room
//   'types'   `import type` only, and the shared vocabulary below
//   [files]   these files, folders (`mcp/`) or beginnings (`log*`) of that room, and types of nothing else
type Cell = 'all' | 'types' | readonly string[];
const mayImport: Record<string, Record<string, Cell>> = {
  core: {},
  storage: { core: 'all' },
  tools: { core: 'all' },
  protocol: { core: 'types' },
  transports: { core: 'all', tools: 'all', protocol: 'all' },
  hub: { core: 'all', storage: 'all', tools: 'all', protocol: 'all', transports: 'all', reach: 'all' },
  client: { core: 'types', tools: 'types', protocol: 'all', hub: ['discovery.ts', 'home.ts', 'private*'] },
  cli: {
    core: 'types',
    tools: 'all',
    protocol: 'all',
    transports: ['mcp/'],
    hub: ['discovery.ts', 'home.ts', 'private*', 'settings.ts', 'log*', 'version.ts'],
    client: 'all',
    connect: 'all',
  },
  reach: { core: 'types', protocol: 'all', client: 'all' },
  connect: { core: 'types', protocol: 'all', hub: ['home.ts', 'privateFolder.ts'], client: 'all' },
  extension: { core: 'types', tools: ['table.ts'], protocol: 'all', client: 'all', reach: 'all', connect: 'all' },
  webview: { core: 'types', protocol: ['webview*', 'story*'] },
};

/** Codes, bounds and id forms: whoever may import types of core may import these as values. */
const sharedVocabulary = ['core/errors.ts', 'core/limits.ts', 'core/model.ts'];

/** The programs: each starts its own room and knows no other. */
const entries: Record<string, string> = {
  'extension.ts': 'extension',
  'hub.ts': 'hub',
  'cli.ts': 'cli',
  'hook.ts': 'cli',
};

/** Modules that belong to certain rooms (or files), types included. */
const onlyIn: Record<string, readonly string[]> = {
  vscode: ['extension/', 'extension.ts'],
  'node:sqlite': ['storage/', 'hub/lock.ts'],
  'node:net': ['transports/', 'client/', 'hub/'],
  'node:http': ['transports/', 'client/', 'hub/', 'connect/routes/'],
  'node:https': ['transports/', 'client/', 'hub/'],
  'node:http2': ['transports/', 'client/', 'hub/'],
  'node:tls': ['transports/', 'client/', 'hub/'],
  'node:dgram': ['transports/', 'client/', 'hub/'],
};

/** core does no I/O, the webview runs in a page. */
const withoutNode = ['core', 'webview'];

const mostLines = 400;
const emptyNames = ['util', 'utils', 'helper', 'helpers', 'manager', 'managers', 'common'];

interface Import {
  specifier: string;
  typeOnly: boolean;
  line: number;
}

/** Every way a file can name another: import, export from, import(), import('x').T, require, getBuiltinModule. */
function importsOf(file: string, text: string): Import[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean) => {
    const name = specifier && ts.isStringLiteralLike(specifier) ? specifier.text : '(computed)';
    found.push({ specifier: name, typeOnly, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      // `import { type A }` is still loaded at run time; only `import type` vanishes.
      add(node, node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node, node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node)) {
      add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    } else if (ts.isCallExpression(node)) {
      const callee = node.expression.getText();
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword || /^require$|\bgetBuiltinModule$/.test(callee)) {
        add(node, node.arguments[0], false);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const matches = (path: string, patterns: readonly string[]) =>
  patterns.some((pattern) => {
    if (pattern.endsWith('*')) return path.startsWith(pattern.slice(0, -1));
    return pattern.endsWith('/') ? path.startsWith(pattern) : path === pattern;
  });

/** @returns the rule that `found` breaks in `file` (a path below src), if it breaks one. */
function brokenRule(file: string, found: Import): string | undefined {
  const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
  const { specifier, typeOnly } = found;
  if (specifier === '(computed)')
    return 'the name of an imported module is a literal, so that this table can be checked';
  if (!specifier.startsWith('.')) {
    if (specifier !== 'vscode' && !specifier.startsWith('node:') && isBuiltin(specifier)) {
      return `built-in modules are written node:${specifier}`;
    }
    const allowed = onlyIn[specifier];
    if (allowed && !matches(file, allowed)) return `only ${allowed.join(', ')} may import ${specifier}`;
    if (specifier.startsWith('node:') && withoutNode.includes(room)) return `${room}/ imports no node: module`;
    return undefined;
  }

  const target = posix.normalize(posix.join(posix.dirname(file), specifier));
  if (target.startsWith('..')) return 'src imports nothing that lies outside of src';
  const slash = target.indexOf('/');
  // The quick entry hands on what is not for it.
  if (file === 'hook.ts' && target === 'cli.ts') return undefined;
  if (slash === -1) return 'nobody imports an entry';
  const targetRoom = target.slice(0, slash);
  if (room === '') {
    const own = entries[file];
    return own === targetRoom ? undefined : `${file} may import ${own ?? 'no room'}/ only`;
  }
  if (targetRoom === room) return undefined;
  const cell = mayImport[room]?.[targetRoom];
  if (cell === undefined) return `${room}/ may not import ${targetRoom}/`;
  if (cell === 'all') return undefined;
  if (cell === 'types') {
    if (typeOnly || sharedVocabulary.includes(target)) return undefined;
    return `${room}/ may import types of ${targetRoom}/ only: write \`import type\``;
  }
  if (matches(target.slice(slash + 1), cell)) return undefined;
  return `${room}/ may import only ${cell.join(', ')} of ${targetRoom}/`;
}

/** @returns what is wrong with one file of src, as lines for a person. */
function faultsOf(file: string, text: string): string[] {
  const faults: string[] = [];
  const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
  if (room === '' ? !Object.hasOwn(entries, file) : !Object.hasOwn(mayImport, room)) {
    faults.push(`src/${file}: no room of the design (${Object.keys(mayImport).join(', ')}) and no entry`);
  }
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  if (lines > mostLines) faults.push(`src/${file}: ${lines} lines; a file has at most ${mostLines}`);
  const words = basename(file)
    .replace(/\..*$/, '')
    .split(/(?=[A-Z])|[-_]/);
  const empty = words.find((word) => emptyNames.includes(word.toLowerCase()));
  if (empty) faults.push(`src/${file}: "${empty}" says nothing; name the file after the one thing in it`);
  for (const found of importsOf(file, text)) {
    const rule = brokenRule(file, found);
    if (rule) faults.push(`src/${file}:${found.line}: imports '${found.specifier}', but ${rule}`);
  }
  return faults;
}

const src = join(import.meta.dirname, '..', '..', 'src');

function sourceFiles(): string[] {
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
    .map((entry) => relative(src, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

describe('the import table', () => {
  test('every file in src keeps to it', () => {
    const files = sourceFiles();
    assert.ok(files.includes('core/model.ts'), 'src was not found, so nothing was checked');
    const faults = files.flatMap((file) => faultsOf(file, readFileSync(join(src, file), 'utf8')));
    if (faults.length > 0) assert.fail(`\n${faults.join('\n')}\n`);
  });

  test('the files it names for all rooms exist', () => {
    for (const file of sharedVocabulary) assert.ok(existsSync(join(src, file)), `src/${file}`);
  });

  const forbidden: readonly [file: string, text: string, rule: RegExp][] = [
    ['core/bus.ts', `import { open } from '../storage/store.ts';`, /core\/ may not import storage\//],
    ['core/bus.ts', `import type { Store } from '../storage/store.ts';`, /core\/ may not import storage\//],
    ['core/bus.ts', `import { readFileSync } from 'node:fs';`, /core\/ imports no node: module/],
    ['core/bus.ts', `import { readFileSync } from 'fs';`, /written node:fs/],
    ['core/bus.ts', `const fs = process.getBuiltinModule('node:fs');`, /core\/ imports no node: module/],
    ['core/bus.ts', `const fs = require('node:fs');`, /core\/ imports no node: module/],
    ['core/bus.ts', `let a: import('../hub/hub.ts').Hub;`, /core\/ may not import hub\//],
    ['protocol/calls.ts', `import { Roster } from '../core/roster.ts';`, /types of core\/ only/],
    ['protocol/calls.ts', `import { type Roster } from '../core/roster.ts';`, /types of core\/ only/],
    ['protocol/calls.ts', `export { Roster } from '../core/roster.ts';`, /types of core\/ only/],
    ['protocol/calls.ts', `export * from '../core/roster.ts';`, /types of core\/ only/],
    ['transports/http.ts', `const s = await import('../storage/store.ts');`, /transports\/ may not import storage\//],
    ['transports/http.ts', `const s = await import(name);`, /literal/],
    ['transports/mcp/http.ts', `import { hub } from '../../hub/hub.ts';`, /transports\/ may not import hub\//],
    ['transports/http.ts', `import { DatabaseSync } from 'node:sqlite';`, /only storage\/, hub\/lock.ts/],
    ['hub/hub.ts', `import { DatabaseSync } from 'node:sqlite';`, /only storage\/, hub\/lock.ts/],
    ['tools/send.ts', `import type { Socket } from 'node:net';`, /only transports\/, client\/, hub\//],
    ['client/client.ts', `import { Hub } from '../hub/hub.ts';`, /may import only discovery.ts/],
    ['client/client.ts', `import type { Hub } from '../hub/hub.ts';`, /may import only discovery.ts/],
    ['cli/status.ts', `import { http } from '../transports/http.ts';`, /may import only mcp\//],
    ['extension/tools.ts', `import { send } from '../tools/send.ts';`, /may import only table.ts/],
    ['hub/hub.ts', `import * as vscode from 'vscode';`, /only extension\/, extension.ts may import vscode/],
    ['client/client.ts', `import type { Uri } from 'vscode';`, /only extension\/, extension.ts may import vscode/],
    ['webview/main.ts', `import { join } from 'node:path';`, /webview\/ imports no node: module/],
    ['cli.ts', `import { startHub } from './hub/startHub.ts';`, /cli.ts may import cli\/ only/],
    ['hub/hub.ts', `import '../cli.ts';`, /nobody imports an entry/],
    ['hub/hub.ts', `import manifest from '../../package.json' with { type: 'json' };`, /outside of src/],
    ['lib/x.ts', ``, /no room of the design/],
    ['other.ts', ``, /no entry/],
    ['core/big.ts', '\n'.repeat(401), /401 lines/],
    ['core/utils.ts', ``, /"utils" says nothing/],
    ['hub/connectionManager.ts', ``, /"Manager" says nothing/],
  ];
  for (const [file, text, rule] of forbidden) {
    test(`it flags ${text.trim() || file} in ${file}`, () => {
      const faults = faultsOf(file, text);
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults[0] ?? '', rule);
    });
  }

  const allowed: readonly [file: string, text: string][] = [
    ['core/bus.ts', `import { names } from './names.ts';`],
    ['storage/store.ts', `import { DatabaseSync } from 'node:sqlite';\nimport { limits } from '../core/limits.ts';`],
    ['hub/lock.ts', `import { DatabaseSync } from 'node:sqlite';`],
    ['protocol/calls.ts', `import type { Roster } from '../core/roster.ts';\nimport { z } from 'zod';`],
    ['protocol/calls.ts', `import { BusError } from '../core/errors.ts';\nlet r: import('../core/roster.ts').Roster;`],
    ['transports/http.ts', `import { createServer } from 'node:http';\nimport { table } from '../tools/table.ts';`],
    ['client/client.ts', `import { connect } from 'node:net';\nimport { readDiscovery } from '../hub/discovery.ts';`],
    ['cli/mcp.ts', `import { stdio } from '../transports/mcp/stdio.ts';\nimport { tail } from '../hub/logTail.ts';`],
    ['extension/view.ts', `import * as vscode from 'vscode';`],
    ['extension.ts', `import * as vscode from 'vscode';\nimport { start } from './extension/start.ts';`],
    ['core/big.ts', '\n'.repeat(400)],
    ['core/commonality.ts', `// import { x } from '../hub/x.ts';\nconst text = "import '../hub/x.ts'";`],
  ];
  for (const [file, text] of allowed) {
    test(`it lets ${text.trim().split('\n').at(-1) || file} pass in ${file}`, () => {
      assert.deepEqual(faultsOf(file, text), []);
    });
  }
});
