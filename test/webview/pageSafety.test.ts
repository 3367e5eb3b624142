import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { HarnessedPage, launch } from './pageHarness.ts';
import { elsewhere, hostile, hostileTalk } from './worlds.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function opened(): Promise<HarnessedPage> {
  const harness = await HarnessedPage.open(browser, { world: hostileTalk(), width: 500, height: 900 });
  await harness.page.locator('.row').first().click();
  await harness.page
    .locator('.message')
    .nth(hostile.length - 1)
    .waitFor();
  return harness;
}

describe('a hostile message', () => {
  test('runs nothing, loads nothing, leads nowhere', async () => {
    await using harness = await opened();
    const { page } = harness;
    // Scrolling makes the browser render what it had skipped.
    for (let i = 0; i < 5; i++) {
      await page.locator('.history').evaluate((box, part) => (box.scrollTop = (box.scrollHeight * part) / 4), i);
      await page.waitForTimeout(100);
    }
    assert.equal(await page.evaluate('window.pwned'), undefined);
    assert.deepEqual(harness.strayed, []);
    assert.deepEqual(harness.errors, []);
    assert.equal(page.url(), 'https://page.test/');
    const inText = await page.evaluate(
      `document.querySelectorAll('ab-text :is(script, img, iframe, style, link, base, form, input, svg, math, object, embed, video, audio)').length`,
    );
    assert.equal(inText, 0);
    const attributes = await page.evaluate(
      `[...document.querySelectorAll('.md *')].flatMap((e) => [...e.attributes]).map((a) => a.name).filter((n) => /^on|^href$|^src$|^style$|^id$|^action$/.test(n))`,
    );
    assert.deepEqual(attributes, []);
  });

  test('a click on a link asks the extension and goes nowhere by itself', async () => {
    await using harness = await opened();
    const { page } = harness;
    for (const link of await page.locator('.md-link').all()) await link.click();
    const opened_ = harness.paramsOf('open') as { href: string; message: string }[];
    assert.ok(opened_.length >= 4);
    for (const { href, message } of opened_) {
      assert.match(href, /^https:\/\/evil\.example\//);
      assert.match(message, /^m[0-9a-z]+$/);
    }
    assert.equal(page.url(), 'https://page.test/');
    assert.deepEqual(harness.strayed, []);
  });

  test('the keyboard opens a link, too', async () => {
    await using harness = await opened();
    await harness.page.locator('.md-link').first().focus();
    await harness.page.keyboard.press('Enter');
    assert.equal(harness.countOf('open'), 1);
  });

  test('shows what was meant to be invisible', async () => {
    await using harness = await opened();
    const marks = await harness.page.locator('.md .hidden-mark').allTextContents();
    for (const wanted of ['RLO', 'zero-width space', 'hidden text'])
      assert.ok(marks.includes(wanted), `${wanted} in ${marks.join()}`);
    const options = await harness.page.locator('.answers .button').allTextContents();
    assert.ok(options.some((text) => text.includes('<b>yes</b>')));
    assert.ok(options.some((text) => text.includes('RLO')));
  });

  test('writes from right to left only within itself', async () => {
    await using harness = await opened();
    const direction = await harness.page.evaluate(
      `getComputedStyle([...document.querySelectorAll('.md p')].find((p) => p.textContent.includes('سلام'))).direction`,
    );
    assert.equal(direction, 'rtl');
    assert.equal(await harness.page.evaluate('getComputedStyle(document.body).direction'), 'ltr');
  });

  test('messages from anything but the window are harmless', async () => {
    await using harness = await opened();
    for (const nonsense of [
      '"text"',
      'null',
      '42',
      '{"type":"nonsense"}',
      '{"request":9999,"result":null}',
      '{"type":"events","events":[]}',
    ]) {
      await harness.page.evaluate(`window.postMessage(${nonsense}, '*')`);
    }
    await harness.page.waitForTimeout(50);
    assert.deepEqual(harness.errors, []);
  });
});

describe('an agent elsewhere', () => {
  const card = async (harness: HarnessedPage, name: string) => {
    await harness.page.locator('.chip', { hasText: name }).first().click();
    return harness.page.locator('.card');
  };

  test('shows skills, address and how it hears; one of here shows that others may ask it', async () => {
    await using harness = await HarnessedPage.open(browser, { world: elsewhere(), width: 300 });
    const remote = await card(harness, 'travel-planner');
    assert.deepEqual(await remote.locator('.skill').allInnerTexts(), [
      'Route planning',
      'Timetables',
      'Booking',
      'Visa rules',
    ]);
    const text = await remote.innerText();
    assert.match(text, /Address\s+https:\/\/agents\.example\.com\/travel\/planner\/v1/);
    assert.match(text, /Reached now: A2A/);
    assert.doesNotMatch(text, /Open to A2A/);
    await harness.page.keyboard.press('Escape');
    assert.match(await (await card(harness, 'shop-api-copilot')).innerText(), /Open to A2A/);
  });

  test('can’t do anything by its card', async () => {
    await using harness = await HarnessedPage.open(browser, { world: elsewhere(), width: 300 });
    const remote = await card(harness, 'mallory');
    assert.equal(await remote.locator(':is(script, img, iframe, a, b, style)').count(), 0);
    assert.equal(await harness.page.evaluate('window.pwned'), undefined);
    assert.match(await remote.innerText(), /<script>window\.pwned/, 'its words are text');
    assert.doesNotMatch(await remote.innerText(), /[\u202E\u0007]/, 'what can’t be seen is marked');
    assert.equal(await remote.locator('.skill').count(), 9, 'eight of them, and how many more');
    assert.deepEqual(harness.strayed, []);
    assert.deepEqual(harness.errors, []);
  });
});
