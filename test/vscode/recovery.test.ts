/** Windows stay open while everything under them goes away and comes back. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { BusClient } from '../../src/client/busClient.ts';
import { busHome } from '../../src/hub/home.ts';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { PersonOnBus } from '../support/editor/personOnBus.ts';
import { bundleVersion, HubBundle } from '../support/hubBundle.ts';
import { hubScript, hubsOf, until } from '../support/hubProcess.ts';

describe('open windows', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let web: EditorWindow;
  let api: EditorWindow;
  let person: PersonOnBus;
  let codex: BusClient;
  let bundle: HubBundle | undefined;
  const expected: string[] = [];

  before(async () => {
    editor = await EditorServer.start();
    web = await editor.open('shop-web');
    api = await editor.open('shop-api');
    person = await PersonOnBus.join(editor.busHome);
    codex = await agent(bundleVersion);
    for (const window of [web, api]) await window.sidebar();
    await say('the first');
    for (const window of [web, api]) await show(window);
  });
  after(async () => {
    codex?.close();
    person?.close();
    await editor?.dispose();
    bundle?.dispose();
  });

  const agent = (version: string, script = hubScript) =>
    BusClient.connect({
      via: 'rpc',
      version,
      hubScript: script,
      home: busHome({ AGENT_BUS_HOME: editor.busHome }),
      reconnect: true,
      attach: { workspace: '/projects/infra', product: 'codex' },
    });
  const say = async (text: string) => {
    expected.push(text);
    await codex.call('send', { to: ['person'], text });
  };
  const show = async (window: EditorWindow) => {
    const page = await window.sidebar();
    await page.getByRole('option', { name: /infra-codex/ }).click();
    await page.locator('.message').first().waitFor();
  };
  const shown = async (window: EditorWindow) => (await window.sidebar()).locator('.message .md').allInnerTexts();
  const bothShowAll = () =>
    until('both windows show everything, once', async () => {
      const both = await Promise.all([web, api].map(shown));
      return both.every((texts) => JSON.stringify(texts.map((text) => text.trim())) === JSON.stringify(expected));
    });

  test('after the hub was killed they go on by themselves; nothing is lost or doubled', async () => {
    await bothShowAll();
    const [pid] = hubsOf(editor.busHome);
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    await say('sent right after the kill');
    await bothShowAll();
    await until('both windows have their agents again', async () => {
      const agents = await person.agents();
      return ['shop-web-copilot', 'shop-api-copilot'].every((name) =>
        agents.some((one) => one.name === name && one.presence !== 'offline'),
      );
    });
    assert.notEqual(hubsOf(editor.busHome)[0], pid);
    for (const window of [web, api]) assert.match(await window.statusBar('Agent Bus'), /Bus/);
  });

  test('after a reload a window has its name, its view and its draft', async () => {
    const page = await web.sidebar();
    await page.getByRole('textbox', { name: 'Message' }).fill('half a sentence');
    await until('the draft is on disk', () =>
      fs
        .globSync('user/User/workspaceStorage/*/agent-bus.agent-bus/pages.json', { cwd: editor.folder })
        .some((file) => fs.readFileSync(join(editor.folder, file), 'utf8').includes('half a sentence')),
    );
    await web.reload();
    await say('while it was away');
    await web.sidebar();
    await until('it shows the conversation or the list', async () => {
      const again = await web.sidebar();
      return (await again.locator('.message, [role=option]').count()) > 0;
    });
    const again = await web.sidebar();
    if ((await again.locator('.message').count()) === 0) await show(web);
    await bothShowAll();
    assert.equal(await again.getByRole('textbox', { name: 'Message' }).inputValue(), 'half a sentence');
    await person.whenAgent('shop-web-copilot', 'is back under its name', ({ presence }) => presence !== 'offline');
    assert.deepEqual(
      (await person.agents()).map(({ name }) => name).filter((name) => name.startsWith('shop-web')),
      ['shop-web-copilot'],
    );
  });

  test('an upgrade of the hub passes without anybody noticing', async () => {
    const [before] = hubsOf(editor.busHome);
    // A newer client asks the older hub to make room, as a freshly updated window does.
    bundle = new HubBundle('9.9.9');
    const newer = await agent(bundle.version, bundle.script);
    newer.close();
    await say('after the upgrade');
    await bothShowAll();
    const [now] = hubsOf(editor.busHome);
    assert.notEqual(now, before);
    assert.equal(codex.hub?.version, '9.9.9');
    const all = (await person.everything()).map(({ text }) => text);
    assert.deepEqual(all, expected);
  });
});
