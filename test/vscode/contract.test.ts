/**
 * What src/extension/window relies on in VS Code and its Copilot without any documentation promising it. When this fails
 * after an update of the editor, contract.ts is where to look first.
 */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { lastState } from '../../src/extension/window/chatFiles.ts';
import { chatFolder, chatSessionUri, internalCommands, toolPrefix } from '../../src/extension/window/contract.ts';
import { tools } from '../../src/tools/table.ts';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { until } from '../support/hubProcess.ts';

describe('what this VS Code does for us', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let window: EditorWindow;
  let firstChat = '';

  before(async () => {
    editor = await EditorServer.start();
    window = await editor.open('shop');
    await window.chat.enable();
  });
  after(() => editor?.dispose());

  const confirmTools = (on: boolean) =>
    window.evaluate(
      (api, value) =>
        api.workspace.getConfiguration('agentBus').update('confirmTools', value, api.ConfigurationTarget.Global),
      on,
    );
  const tabs = () =>
    window.evaluate((api) => api.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label)));
  const fileOf = (chat: string) => {
    const storage = join(editor.folder, 'user', 'User', 'workspaceStorage');
    return fs
      .readdirSync(storage)
      .map((id) => join(storage, id, chatFolder, `${chat}.jsonl`))
      .find((file) => fs.existsSync(file));
  };
  const stateOf = (chat: string) => {
    const file = fileOf(chat);
    return file && lastState(fs.readFileSync(file, 'utf8'), 0)?.state;
  };

  test('it has the commands', async () => {
    const known = await window.evaluate((api) => api.commands.getCommands(false));
    for (const command of Object.values(internalCommands)) assert.ok(known.includes(command), command);
  });

  test('its hooks run ours from the plugin, know their window, and hand on what they say', async () => {
    editor.model.script(window.folder, () => ({ say: 'hello' }));
    const { metadata } = await window.chat.submit('first question');
    firstChat = metadata?.sessionId ?? '';
    const seen = editor.model.turnsOf(window.folder).at(-1)?.text ?? '';
    assert.match(seen, /You are "shop-copilot" on Agent Bus/, 'SessionStart, with the environment of the window');
    const environment = await window.evaluate(() => [
      process.env['AGENT_BUS_WORKSPACE'],
      process.env['AGENT_BUS_WINDOW'],
    ]);
    assert.equal(environment[0], window.folder);
    assert.ok(environment[1]);
  });

  test('it offers each tool once, the instructions of the server, and the skill by its description only', () => {
    const turn = editor.model.turnsOf(window.folder).at(-1);
    for (const name of Object.keys(tools)) {
      assert.equal(turn?.tools.filter((tool) => tool === `${toolPrefix}${name}`).length, 1, name);
    }
    assert.match(turn?.text ?? '', /Agent Bus connects you/);
    assert.equal(turn?.text.split('<name>agent-bus</name>').length, 2);
    assert.doesNotMatch(turn?.text ?? '', /Working with other agents/);
  });

  test('PreToolUse may allow a tool that would ask', async () => {
    const call = { call: `${toolPrefix}send`, with: { to: ['person'], text: 'hello' } };
    editor.model.script(window.folder, ({ results }) => (results.length > 0 ? { say: 'sent' } : call));
    assert.ok((await window.chat.submit('send it')).metadata, 'no dialog');

    await confirmTools(true);
    const asked = await window.chat.submit('send it again');
    assert.equal(asked.type, 'confirmation');
    await until('the editor writes down that it waits', () => stateOf(firstChat) === 'approval');
    await window.chat.cancel();
    await until('the editor writes down that it was cancelled', () => stateOf(firstChat) === 'idle');
    await confirmTools(false);
  });

  test('one exact chat can be brought to the front without leaving a tab behind, and drafts stay', async () => {
    editor.model.script(window.folder, ({ prompt }) => ({ say: `heard ${prompt}` }));
    await window.chat.newChat();
    const second = await window.chat.submit('second chat');
    assert.notEqual(second.metadata?.sessionId, firstChat);
    await window.chat.draft('half a thought');
    const before = await tabs();

    await window.evaluate(
      (api, uri) => api.commands.executeCommand('vscode.open', api.Uri.parse(uri), { preview: false }),
      chatSessionUri(firstChat),
    );
    await window.command(internalCommands.chatToSideBar);
    assert.deepEqual(await tabs(), before);
    assert.equal((await window.chat.submit('wake up')).metadata?.sessionId, firstChat);
    assert.match(editor.model.turnsOf(window.folder).at(-1)?.text ?? '', /first question/, 'with its history');

    await window.evaluate(
      (api, uri) => api.commands.executeCommand('vscode.open', api.Uri.parse(uri), { preview: false }),
      chatSessionUri(second.metadata?.sessionId ?? ''),
    );
    await window.command(internalCommands.chatToSideBar);
    assert.equal(await window.chat.draftText(), 'half a thought');
  });
});
