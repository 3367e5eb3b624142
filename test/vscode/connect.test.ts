/** "Connect an Agent…" as a person runs it, in a real window, on products of a throw-away home folder. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { PersonOnBus } from '../support/editor/personOnBus.ts';
import { until } from '../support/hubProcess.ts';

const ownSettings = '{\n    // theme\n    "ui": { "theme": "Dark" }, /* last */\n}\n\n';
const themes = ['dark', 'high-contrast', 'light'] as const;

describe('connecting a product', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let window: EditorWindow;
  let person: PersonOnBus;
  let home: string;

  before(async () => {
    editor = await EditorServer.start();
    home = join(editor.folder, 'home');
    fs.mkdirSync(join(home, '.codex'));
    fs.mkdirSync(join(home, '.gemini'));
    fs.writeFileSync(join(home, '.gemini', 'settings.json'), ownSettings);
    fs.mkdirSync(join(home, '.cursor'));
    fs.writeFileSync(join(home, '.cursor', 'mcp.json'), '{\n  "mcpServers": {\n    oops\n  }\n}\n');
    window = await editor.open('shop-web');
    person = await PersonOnBus.join(editor.busHome);
  });
  after(async () => {
    person?.close();
    await editor?.dispose();
  });

  const files = (folder: string): Record<string, string> =>
    Object.fromEntries(
      fs
        .readdirSync(join(home, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [path, fs.readFileSync(path, 'latin1')]),
    );
  const rows = (): Locator => window.page.locator('.quick-input-widget .quick-input-list .monaco-list-row');
  const row = (text: string | RegExp): Locator => rows().filter({ hasText: text }).first();
  const tabs = (): Locator => window.page.locator('.part.editor .tab', { hasText: 'What Would Change' });
  const begin = async (): Promise<void> => {
    void window.command('agentBus.connectAgent').catch(() => undefined);
    await row('Gemini CLI').waitFor();
  };
  const pictures = async (name: string): Promise<void> => {
    for (const theme of themes) {
      await window.setTheme(theme);
      await window.screenshot(`connect-${name}-${theme}`);
    }
  };
  const answer = async (text: string, button: string): Promise<void> => {
    await window.dialog.filter({ hasText: text }).waitFor();
    await window.dialog.getByRole('button', { name: button }).click();
    await window.dialog.waitFor({ state: 'detached' });
  };

  test('Gemini CLI is listed, shown, written, proved, connected, and taken back to the byte', async () => {
    const before = files('.gemini');
    await begin();
    assert.match(await row('Gemini CLI').innerText(), /not connected[\s\S]*found: ~\/\.gemini/);
    assert.match(await row('Codex').innerText(), /not connected/);
    assert.match(await row('VS Code').innerText(), /connected[\s\S]*by this extension/);
    assert.match(await row('Cursor').innerText(), /can’t be read[\s\S]*~\/\.cursor\/mcp\.json, line \d/);
    await pictures('list');

    await row('Gemini CLI').click();
    await row('Tools Only').first().waitFor();
    await pictures('deeds');
    await row('Connect').click();
    await window.dialog.filter({ hasText: 'May Gemini CLI be woken while it is idle?' }).waitFor();
    await pictures('experimental');
    await answer('May Gemini CLI be woken', 'Leave Off');
    await row('Leave Everything').waitFor();
    await tabs().waitFor();
    await window.page.locator('.part.editor .view-line', { hasText: 'SessionStart' }).first().waitFor();
    await pictures('preview');
    assert.deepEqual(files('.gemini'), before, 'nothing is written before the person says so');

    await row('Write').click();
    await window.dialog.filter({ hasText: 'Gemini CLI is connected, in your own settings.' }).waitFor();
    assert.match(await window.dialog.innerText(), /10 tools[\s\S]*shop-web-gemini[\s\S]*What remains for you/);
    await pictures('result');
    assert.equal(await tabs().count(), 0, 'the preview is closed');
    const written = files('.gemini');
    assert.equal(written[join(home, '.gemini', 'settings.json.agent-bus-backup')], ownSettings);
    assert.ok(written[join(home, '.gemini', 'settings.json')]?.includes(join(editor.busHome, 'bin', 'agent-bus')));
    await person.whenAgent('shop-web-gemini', 'was on the bus for the proof', () => true);
    await answer('is connected', 'Show Details');
    const details = window.page.locator('.part.editor .monaco-editor', { hasText: 'as it was' });
    await details.first().waitFor();
    await pictures('details');

    await begin();
    const listed = await row('Gemini CLI').innerText();
    assert.ok(listed.includes('connected') && !listed.includes('not connected'), listed);
    await row('Gemini CLI').click();
    await row('Test').click();
    await answer('Nothing to change: Gemini CLI is connected already', 'OK');
    assert.deepEqual(files('.gemini'), written);

    await begin();
    await row('Gemini CLI').click();
    await row('Disconnect').waitFor();
    await pictures('connected');
    await row('Disconnect').click();
    await row('Leave Everything').waitFor();
    await row('Disconnect').click();
    await until('the person is told', async () =>
      (await window.notifications()).some((text) => text.includes('Gemini CLI is no longer connected.')),
    );
    assert.deepEqual(files('.gemini'), before);
  });

  test('several files are shown in one tab, and none is written when the person leaves it', async () => {
    await begin();
    await row('Codex').click();
    await row('Connect').click();
    await row('Leave Everything').waitFor();
    await tabs().waitFor();
    await window.page.locator('.part.editor', { hasText: 'hooks.json' }).first().waitFor();
    await pictures('several');
    await window.page.keyboard.press('Escape');
    await tabs().waitFor({ state: 'detached' });
    assert.deepEqual(files('.codex'), {});
  });

  test('a file that can’t be read is opened where it is wrong, and stays as it is', async () => {
    const before = files('.cursor');
    await begin();
    await row('Cursor').click();
    await row('Show What Is Wrong').click();
    await window.dialog.filter({ hasText: 'mcp.json, line' }).waitFor();
    await pictures('wrong');
    await answer('mcp.json, line', 'Open File');
    await until('the file is open at that line', () =>
      window.evaluate((vscode) => {
        const active = vscode.window.activeTextEditor;
        return active?.document.fileName.endsWith('mcp.json') && active.selection.active.line === 2;
      }),
    );
    assert.deepEqual(files('.cursor'), before);
  });
});
