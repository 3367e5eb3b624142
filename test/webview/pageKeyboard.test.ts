import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { HarnessedPage, launch } from './pageHarness.ts';
import { morning, tenThousand } from './worlds.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const focused = (page: Page) =>
  page.evaluate<string>(
    `(() => { const e = document.activeElement; return e === document.body ? '' : e.getAttribute('aria-label') ?? e.textContent.trim(); })()`,
  );

async function tabUntil(page: Page, wanted: RegExp, most = 40): Promise<void> {
  for (let i = 0; i < most; i++) {
    if (wanted.test(await focused(page))) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`The keyboard did not get to ${wanted.source}; it is at ${await focused(page)}`);
}

describe('with the keyboard alone', () => {
  test('from the inbox into a conversation, an answer, and back to the row', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.row').first().waitFor();
    await tabUntil(page, /^Conversations$/);
    await page.keyboard.press('ArrowDown');
    assert.match((await page.locator('.row-active').textContent()) ?? '', /infra-codex[^]*For you[^]*1 unread/);
    await page.keyboard.press('Enter');
    await page.locator('.message').first().waitFor();
    assert.match(await focused(page), /^infra-codex asked: The migration needs/);

    await page.keyboard.press('r');
    await page.locator('.composer-quote').waitFor();
    assert.equal(await focused(page), 'Message');
    await page.keyboard.type('Go ahead at two.');
    await page.keyboard.press('Control+Enter');
    await page.locator('.message', { hasText: 'Go ahead at two.' }).waitFor();
    const [sent] = harness.paramsOf('send') as { text: string; kind: string; reply_to?: string; key: string }[];
    assert.equal(sent?.text, 'Go ahead at two.');
    assert.equal(sent?.kind, 'reply');
    assert.ok(sent?.reply_to && sent.key);
    await page.getByText(/Answered by you/).waitFor();

    await page.keyboard.press('Escape');
    await page.locator('.list:focus').waitFor();
    assert.match((await page.locator('.row-active').textContent()) ?? '', /infra-codex/);
  });

  test('messages that come late take the keyboard from nobody who writes already', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    const row = page.locator('.row', { hasText: 'The migration needs' });
    await row.waitFor();
    harness.delay = 1_000;
    await row.click();
    await page.getByRole('textbox', { name: 'Message' }).click();
    await page.keyboard.type('r');
    assert.equal(await page.locator('.message').count(), 0, 'they are not there yet');
    await page.locator('.message').first().waitFor();
    await page.waitForTimeout(100);
    assert.equal(await focused(page), 'Message');
    await page.keyboard.type('eally?');
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'really?');
    assert.equal(await page.locator('.composer-quote').count(), 0, 'no letter was taken for a command');
  });

  test('options are answered with one key press', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.row', { hasText: 'The migration needs' }).click();
    await page.getByRole('button', { name: 'Tonight at 02:00' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.message-mine', { hasText: 'Tonight at 02:00' }).waitFor();
    assert.equal((harness.paramsOf('send')[0] as { text: string }).text, 'Tonight at 02:00');
    await page.locator('.answers').waitFor({ state: 'detached' });
  });

  test('messages by arrow keys, their actions by menu; Escape closes the menu and gives the focus back', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.row').first().waitFor();
    await page.locator('.list').focus();
    await page.keyboard.press('Enter');
    await page.locator('article:focus').waitFor();
    const at = await focused(page);
    await page.keyboard.press('ArrowUp');
    assert.notEqual(await focused(page), at);
    await page.keyboard.press('Shift+F10');
    await page.locator('[role=menu] :focus').waitFor();
    assert.equal(await focused(page), 'Copy text');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(page), 'Reply');
    await page.keyboard.press('Escape');
    await page.locator('article:focus').waitFor();
    await page.locator('.menu').waitFor({ state: 'detached' });
    await page.keyboard.press('Shift+F10');
    await page.locator('[role=menu] :focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.menu').waitFor({ state: 'detached' });
    assert.equal(harness.countOf('copy'), 1);
  });

  test('through ten thousand rows: arrows, pages, Home and End, with few nodes in the page', async () => {
    await using harness = await HarnessedPage.open(browser, { world: tenThousand() });
    const { page } = harness;
    await page.locator('.row').first().waitFor();
    await page.locator('.list').focus();
    const active = () => page.locator('.row-active').getAttribute('aria-posinset');
    assert.equal(await page.locator('.row-active').getAttribute('aria-setsize'), '10000');
    await page.keyboard.press('PageDown');
    assert.ok(Number(await active()) > 5);
    await page.keyboard.press('End');
    await page.locator('.row[aria-posinset="10000"]:not(.row-loading)').waitFor({ timeout: 30_000 });
    assert.equal(await active(), '10000');
    const requests = harness.paramsOf('overview') as { limit: number; cursor?: string }[];
    assert.ok(requests.length <= 30, `${requests.length} requests`);
    const nodes = Number(await page.evaluate('document.querySelectorAll("*").length'));
    assert.ok(nodes < 1_500, `${nodes} nodes`);
    assert.ok((await page.locator('.row').count()) < 60);
    await page.keyboard.press('Home');
    assert.equal(await active(), '1');
  });

  test('the agents’ cards, the picture and its arrows', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.row').first().waitFor();
    await tabUntil(page, /infra-codex/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'About infra-codex' }).waitFor();
    assert.equal(await focused(page), 'Message');
    await page.keyboard.press('Escape');
    assert.match(await focused(page), /infra-codex/);

    await page.locator('.list').focus();
    await page.keyboard.press('Enter');
    await page.locator('article:focus').waitFor();
    await page.getByRole('button', { name: 'Show as a picture' }).press('Enter');
    await page.locator('.p-arrow').first().waitFor();
    await tabUntil(page, /The export job is ready/);
    await page.keyboard.press('ArrowUp');
    assert.match(await focused(page), /Can you freeze the schema/);
    await page.keyboard.press('Enter');
    await page.locator('article:focus').waitFor();
    assert.match(await focused(page), /Can you freeze the schema/);
  });
});
