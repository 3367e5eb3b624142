import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { until } from '../support/hubProcess.ts';

describe('the editor', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let web: EditorWindow;
  let api: EditorWindow;

  before(async () => {
    editor = await EditorServer.start();
    web = await editor.open('shop-web');
    api = await editor.open('shop-api');
  });
  after(() => editor?.dispose());

  test('has the extension, installed from its package and running in both windows', async () => {
    for (const window of [web, api]) {
      const extension = await window.evaluate((vscode) => {
        const found = vscode.extensions.getExtension('agent-bus.agent-bus');
        return { active: found?.isActive, path: found?.extensionPath };
      });
      assert.equal(extension.active, true);
      assert.ok(extension.path?.startsWith(editor.folder));
    }
    assert.notEqual(web.hostPid, api.hostPid);
  });

  test('shows the sidebar in every theme', async () => {
    const sidebar = await web.sidebar();
    await sidebar.locator('body').waitFor();
    for (const theme of ['light', 'high-contrast', 'dark'] as const) {
      await web.setTheme(theme);
      await web.screenshot(`smoke-sidebar-${theme}`);
    }
  });

  test('runs Copilot in two windows, each on its own script', async () => {
    for (const window of [web, api]) {
      editor.model.script(window.folder, ({ prompt }) => ({ say: `${window.name} heard: ${prompt}` }));
      await window.chat.enable();
    }
    for (const window of [web, api]) {
      const end = await window.chat.submit(`Hello,\n"${window.name}"`);
      assert.ok(end.metadata?.sessionId, JSON.stringify(end));
      await window.chat.responseWith(`${window.name} heard: Hello,`);
      await window.screenshot(`smoke-copilot-${window.name}`);
    }
    assert.deepEqual(
      editor.model.turns.map(({ folder, prompt }) => [folder, prompt]),
      [
        [web.folder, 'Hello,\n"shop-web"'],
        [api.folder, 'Hello,\n"shop-api"'],
      ],
    );
    assert.deepEqual(editor.model.faults, []);
  });

  test('answers as @bus in the chat, from the hub and without the model', async () => {
    const before = editor.model.turns.length;
    const ask = (query: string) =>
      web.command('workbench.action.chat.open', { query, mode: 'ask', blockOnResponse: true });
    await ask('@bus /agents');
    await web.chat.responseWith('shop-api-copilot');
    await ask('@bus /inbox');
    await web.chat.responseWith('Nothing waits for you');
    await web.screenshot('smoke-participant');
    assert.equal(editor.model.turns.length, before);
  });

  test('lets a test hold an answer back, read a draft, cancel, and see a failure', async () => {
    const gate = Promise.withResolvers<void>();
    editor.model.script(web.folder, async () => {
      await gate.promise;
      return { say: 'at last' };
    });
    await web.chat.draft('half a thought');
    const turn = web.chat.submit('take your time');
    gate.resolve();
    assert.ok((await turn).metadata);
    assert.equal(await web.chat.draftText(), 'half a thought');

    editor.model.script(
      web.folder,
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ say: 'too late' }));
          void web.chat.cancel();
        }),
    );
    assert.equal((await web.chat.submit('never mind')).metadata, undefined);

    editor.model.script(web.folder, () => ({ fail: 500 }));
    assert.ok((await web.chat.submit('break')).errorDetails);
  });

  test('lets a test answer the question whether a tool may run', async () => {
    const command = {
      command: 'touch made',
      explanation: 'Makes a file',
      goal: 'A file',
      mode: 'sync',
      timeout: 10_000,
    };
    editor.model.script(web.folder, ({ results }) =>
      results.length === 0 ? { call: 'run_in_terminal', with: command } : { say: `it said: ${results[0]}` },
    );
    assert.equal(await web.chat.confirmation(), undefined);
    assert.equal((await web.chat.submit('make a file')).type, 'confirmation');
    await until('the question is shown', async () => (await web.chat.confirmation())?.includes('touch made'));
    await web.screenshot('smoke-confirmation');
    await web.chat.answer('Skip');
    await web.chat.responseWith('it said: The user chose to skip');
    await until('the question is gone', async () => (await web.chat.confirmation()) === undefined);
  });

  test('runs a command from the palette', async () => {
    await web.palette('Preferences: Open User Settings (JSON)');
    await until('the settings are open', () =>
      web.evaluate((vscode) => vscode.window.activeTextEditor?.document.fileName.endsWith('settings.json')),
    );
  });

  test('has a new extension host after a reload', async () => {
    const before = api.hostPid;
    await api.reload();
    assert.notEqual(api.hostPid, before);
    assert.equal(await api.evaluate((vscode, add) => vscode.workspace.name + add, '!'), 'shop-api!');
  });
});
