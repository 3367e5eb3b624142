/** What a person sees and does in the sidebar and in a tab, in real windows. Nothing here needs Copilot. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { FrameLocator } from 'playwright-core';
import { BusClient } from '../../src/client/busClient.ts';
import { busHome } from '../../src/hub/home.ts';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import { themes, type EditorWindow } from '../support/editor/editorWindow.ts';
import { PersonOnBus } from '../support/editor/personOnBus.ts';
import { until } from '../support/hubProcess.ts';
import { hostile } from '../webview/worlds.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('the views', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let web: EditorWindow;
  let api: EditorWindow;
  let person: PersonOnBus;
  let codex: BusClient;

  before(async () => {
    editor = await EditorServer.start();
    web = await editor.open('shop-web');
    api = await editor.open('shop-api');
    person = await PersonOnBus.join(editor.busHome);
    codex = await BusClient.connect({
      via: 'rpc',
      version: '0.1.0',
      home: busHome({ AGENT_BUS_HOME: editor.busHome }),
      start: false,
      reconnect: true,
      attach: { workspace: '/projects/infra', product: 'codex' },
    });
  });
  after(async () => {
    codex?.close();
    person?.close();
    await editor?.dispose();
  });

  const heard = (wanted: string) =>
    until(`the agent has "${wanted}" in its mail`, async () => {
      const { data } = await codex.call('inbox', { filter: 'all', limit: 100 });
      return data.messages.some(({ text }) => text === wanted);
    });
  const badges = () => Promise.all([web, api].map((window) => window.badge()));
  const bothBadges = (wanted: string | undefined) =>
    until(`both badges say ${wanted}`, async () => (await badges()).every((badge) => badge === wanted), 60_000);

  test('a person answers with one click; the waiting agent gets it; unread, badges and marks agree in both windows', async () => {
    const [here, there] = [await web.sidebar(), await api.sidebar()];
    const question = { text: 'Run the migration now?', options: ['Now', 'Tonight'], wait_seconds: 45 };
    const answer = codex.call('send', { to: ['person'], kind: 'request', ...question });
    for (const page of [here, there]) await page.getByRole('option', { name: /infra-codex.*1 unread/i }).waitFor();
    await bothBadges('1');
    await here.getByRole('radio', { name: /waiting for you|for you/i }).waitFor({ state: 'attached' });
    await web.screenshot('proof-2-inbox');

    await here.getByRole('option', { name: /infra-codex/ }).click();
    await here.getByRole('log').getByText('Run the migration now?').waitFor();
    await web.screenshot('proof-2-question');
    await here.getByRole('group', { name: 'Answer infra-codex' }).getByRole('button', { name: 'Tonight' }).click();
    assert.equal((await answer).data.answer?.text, 'Tonight');
    await bothBadges(undefined);
    await there.getByRole('option', { name: /infra-codex/ }).waitFor();
    await until(
      'the other window shows it as read',
      async () =>
        !/unread/.test((await there.getByRole('option', { name: /infra-codex/ }).getAttribute('aria-label')) ?? ''),
    );
    await here
      .getByRole('log')
      .getByText(/answered/i)
      .first()
      .waitFor();
    await here.getByRole('button', { name: 'Back to the inbox' }).click();

    const id = (await codex.call('send', { to: ['person'], text: 'Noted: tonight at ten.' })).data.id;
    await bothBadges('1');
    await there.getByRole('option', { name: /infra-codex/ }).click();
    await there.getByRole('log').getByText('Noted: tonight at ten.').waitFor();
    await bothBadges(undefined);
    assert.ok((await person.steps(id, 'person')).includes('shown by client'));
    await there.locator('.message', { hasText: 'Noted: tonight' }).hover();
    await there
      .locator('.message', { hasText: 'Noted: tonight' })
      .getByRole('button', { name: 'More actions' })
      .click();
    await there.getByRole('menuitem', { name: /unread/i }).click();
    await bothBadges('1');
    assert.equal((await person.steps(id, 'person')).filter((step) => step.startsWith('shown')).length, 1);
    await there.getByRole('button', { name: 'Back to the inbox' }).click();
  });

  test('a message written in the sidebar reaches the agent, and the tab shows the same conversation', async () => {
    const page = await web.sidebar();
    await page.getByRole('option', { name: /infra-codex/ }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('**Thanks.** See `src/db.ts:12`.');
    await page.getByRole('textbox', { name: 'Message' }).press('Control+Enter');
    await heard('**Thanks.** See `src/db.ts:12`.');
    await page.getByRole('button', { name: 'Open in an editor tab' }).click();
    const tab = await web.editorTab();
    await tab.getByRole('log').getByText('Thanks.').waitFor();
    await web.screenshot('proof-2-tab');
  });

  test('hostile messages render harmlessly', async () => {
    const asked: string[] = [];
    web.page.on('request', (request) => asked.push(request.url()));
    web.page.on('dialog', (dialog) => asked.push(`dialog ${dialog.message()}`));
    const texts = [...hostile, 'x'.repeat(1_048_576), Array.from({ length: 5_000 }, (_, i) => `line ${i}`).join('\n')];
    for (const text of texts) await codex.call('send', { to: ['person'], text });
    const before = asked.length;
    const page = await web.sidebar();
    const shown = page.locator('.message');
    await page.getByRole('log').getByText('line 0').first().waitFor();
    for (let i = 0; i < 12; i++) {
      await page.locator('.history').evaluate((box, part) => (box.scrollTop = box.scrollHeight * (1 - part / 11)), i);
      await page.locator('.history').evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(0)))');
    }
    assert.ok((await shown.count()) > 0);
    await page.locator('.history').evaluate((box) => (box.scrollTop = box.scrollHeight));
    await page
      .getByRole('button', { name: /show all/i })
      .last()
      .click();
    const foreign = 'script, img, iframe, style, link, base, form, svg image, math, object, embed, video, audio';
    assert.equal(await page.locator('.md').locator(foreign).count(), 0);
    const bad = await page
      .locator('.md *')
      .evaluateAll((all) =>
        all.flatMap((one) => one.getAttributeNames()).filter((name) => /^on|^href$|^src$|^style$|^action$/.test(name)),
      );
    assert.deepEqual(bad, []);
    assert.equal(await page.locator('body').evaluate(() => 'pwned' in globalThis), false);
    const outside = asked
      .slice(before)
      .filter(
        (url) =>
          !/^(https?:\/\/(127\.0\.0\.1|localhost|[^/]*vscode-resource[^/]*|[^/]*vscode-cdn[^/]*)[:/]|data:|blob:|vscode-)/.test(
            url,
          ),
      );
    assert.deepEqual(outside, [], 'no request leaves');
    assert.deepEqual(await web.page.locator('.monaco-dialog-box').count(), 0);
    // A page that froze would not answer.
    await page.getByRole('button', { name: 'Back to the inbox' }).click();
    await page.getByRole('option', { name: /infra-codex/ }).waitFor();
  });

  test('no accessibility violation in any theme, and pictures of every view to look at', async () => {
    await codex.call('send', {
      to: ['person'],
      kind: 'request',
      text: 'The migration locks `orders` for **40 s**.\n\n```sql\nALTER TABLE orders ADD COLUMN region text;\n```\n\nWhen may I run it?',
      options: ['Now', 'Tonight', 'Not at all'],
    });
    const page = await web.sidebar();
    for (const theme of Object.keys(themes) as (keyof typeof themes)[]) {
      await web.setTheme(theme);
      await page.getByRole('option', { name: /infra-codex/ }).waitFor();
      await check(page, `inbox, ${theme}`);
      await web.screenshot(`view-inbox-${theme}`);
      await page.getByRole('option', { name: /infra-codex/ }).click();
      await page.getByRole('log').getByText('When may I run it?').last().waitFor();
      await check(page, `conversation, ${theme}`);
      await web.screenshot(`view-conversation-${theme}`);
      await page.getByRole('button', { name: 'Show as a picture' }).click();
      await page.locator('.picture-box svg').first().waitFor();
      await check(page, `picture, ${theme}`);
      await web.screenshot(`view-picture-${theme}`);
      await page.getByRole('button', { name: 'Show the messages' }).click();
      await page.getByRole('button', { name: 'Back to the inbox' }).click();
    }
    await web.setTheme('dark');
  });

  test('by keyboard alone: from the inbox to a conversation, an answer, and back', async () => {
    const { keyboard } = api.page;
    const page = await api.sidebar();
    await api.palette('Agent Bus: Open Inbox');
    const focus = () => page.locator(':focus').first();
    await until('the list has the focus', async () => {
      if ((await page.locator('[role=listbox]:focus, [role=option]:focus').count()) > 0) return true;
      await keyboard.press('Tab');
      return false;
    });
    await keyboard.press('Home');
    await keyboard.press('Enter');
    await page.getByRole('log').getByText('When may I run it?').last().waitFor();
    await until('the composer has the focus', async () => {
      if ((await page.getByRole('textbox', { name: 'Message' }).and(page.locator(':focus')).count()) > 0) return true;
      await keyboard.press('Tab');
      return false;
    });
    await keyboard.type('Tonight, please.');
    await keyboard.press('Control+Enter');
    await heard('Tonight, please.');
    await keyboard.press('Escape');
    await page.getByRole('listbox').waitFor();
    await until(
      'the focus is back in the list',
      async () => (await page.locator('[role=listbox]:focus, [role=option]:focus').count()) > 0,
    );
    assert.ok(await focus().count());
  });
});

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

async function check(page: FrameLocator, what: string): Promise<void> {
  const handle = await page.locator('body').elementHandle();
  const frame = await handle?.ownerFrame();
  assert.ok(frame);
  // Through the debugger, past the page's own policy, which lets nothing in.
  await frame.evaluate(axe);
  const violations: Violation[] = await frame.evaluate(
    `axe.run(document.body, { resultTypes: ['violations'] }).then((result) => result.violations)`,
  );
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}\n${nodes[0]?.failureSummary}`);
  assert.deepEqual(told, [], what);
}
