import '../support/fakeVscode.ts';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { contributes } = manifest;
const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
const code = sources('src/extension').join('\n');

describe('commands', () => {
  const declared: string[] = contributes.commands.map(({ command }: { command: string }) => command);

  test('are declared exactly if they are registered', async () => {
    const { commandTable } = await import('../../src/extension/commands/register.ts');
    const registered = Object.keys(commandTable({} as never)).map((name) => `agentBus.${name}`);
    assert.deepEqual([...declared].sort(), registered.sort());
    assert.equal(new Set(declared).size, declared.length);
  });

  test('have a category, a title in title case and an icon', () => {
    const small = new Set(['a', 'an', 'or', 'over', 'the', 'to', 'into', 'for', 'in', 'on', 'as', 'of', 'is']);
    for (const { command, title, category, icon } of contributes.commands) {
      assert.equal(category, 'Agent Bus', command);
      assert.match(icon, /^\$\([a-z-]+\)$/, command);
      for (const word of title.replace('…', '').split(' ')) {
        assert.ok(/^[A-Z]/.test(word) || small.has(word), `${command}: "${title}"`);
      }
    }
  });

  test('use icons that VS Code has', () => {
    const codicons = readFileSync(join(root, 'node_modules/@vscode/codicons/dist/codicon.css'), 'utf8');
    for (const { icon } of contributes.commands) {
      assert.ok(codicons.includes(`.codicon-${icon.slice(2, -1)}:before`), icon);
    }
  });

  test('named in menus, keys, links and the walkthrough exist', () => {
    const menus = Object.values(contributes.menus).flat() as { command: string }[];
    const texts = JSON.stringify(contributes.walkthroughs) + code;
    const linked = [...texts.matchAll(/(?:command|onCommand):(agentBus\.\w+)/g)].map((found) => found[1] ?? '');
    for (const command of [...menus, ...contributes.keybindings].map((one) => one.command).concat(linked)) {
      assert.ok(declared.includes(command), command);
    }
  });

  test('have keys of their own, all behind one chord', () => {
    const taken = new Map<string, string>();
    for (const { key, mac, when, command } of contributes.keybindings) {
      // Free in VS Code's own table (test/vscode/host checks that) and no letter on any common keyboard with AltGr.
      assert.match(key, /^ctrl\+alt\+h [a-z]$/, command);
      assert.equal(mac, undefined, 'the same keys everywhere');
      const place = `${key} ${when ?? ''}`;
      assert.ok(!taken.has(place), `${command} and ${taken.get(place) ?? ''} both have ${place}`);
      taken.set(place, command);
    }
  });
});

describe('settings', () => {
  const properties = Object.entries<Record<string, unknown>>(contributes.configuration.properties);

  test('cannot be changed by a workspace', () => {
    for (const [name, { scope }] of properties) assert.ok(scope === 'application' || scope === 'machine', name);
    const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
    assert.deepEqual([...restricted].sort(), properties.map(([name]) => name).sort());
  });

  test('are described, have a default, and are read by somebody', () => {
    for (const [name, { markdownDescription, default: usual }] of properties) {
      assert.ok(typeof markdownDescription === 'string' && markdownDescription.length > 40, name);
      assert.notEqual(usual, undefined, name);
      const short = name.slice('agentBus.'.length);
      assert.ok(code.includes(`'${short}'`) || code.includes(`'${name}'`), `nobody reads ${name}`);
    }
  });
});

describe('views, chat and walkthrough', () => {
  test('views are provided', () => {
    for (const { id } of contributes.views.agentBus) assert.ok(code.includes(`'${id}'`), id);
    for (const { id } of contributes.chatParticipants) assert.ok(code.includes(`'${id}'`), id);
    for (const { id } of contributes.mcpServerDefinitionProviders) assert.ok(code.includes(`'${id}'`), id);
  });

  test('the commands of @bus are answered', () => {
    for (const { name } of contributes.chatParticipants[0].commands) assert.ok(code.includes(`case '${name}'`), name);
  });

  test('every file that the manifest names is there', () => {
    const texts = JSON.stringify({ contributes, icon: manifest.icon, main: undefined });
    const files = [...texts.matchAll(/"(?:\.\/)?((?:media|plugin)\/?[^"]*)"/g)].map((found) => found[1] ?? '');
    assert.ok(files.length > 5);
    for (const file of files) assert.ok(existsSync(join(root, file)), `${file} is missing`);
  });

  test('each step of the walkthrough is done by something', () => {
    const [walkthrough] = contributes.walkthroughs;
    assert.ok(walkthrough.steps.length >= 4);
    for (const { id, completionEvents, media, description } of walkthrough.steps) {
      assert.ok(completionEvents.length > 0, id);
      assert.ok(media.altText.length > 20, id);
      assert.match(description, /\]\(command:agentBus\./, id);
    }
    assert.ok(code.includes(`#${walkthrough.id}`));
  });
});

describe('the extension', () => {
  test('uses no API that the oldest supported VS Code does not have', () => {
    const version = (text: string): number[] => (/\d+\.\d+/.exec(text)?.[0] ?? '').split('.').map(Number);
    assert.deepEqual(version(manifest.devDependencies['@types/vscode']), version(manifest.engines.vscode));
  });

  test('says where it runs and what it does without trust', () => {
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, 'limited');
    assert.equal(manifest.capabilities.virtualWorkspaces.supported, 'limited');
    assert.equal(manifest.enabledApiProposals, undefined);
  });
});
