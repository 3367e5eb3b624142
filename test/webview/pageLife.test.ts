import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { HarnessedPage, launch } from './pageHarness.ts';
import { longTalk, longTexts, morning, notices, tenThousand } from './worlds.ts';
import { me } from './world.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (await condition()) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.fail(`It did not happen: ${what}`);
}

const scrollTop = (page: Page, selector: string) => page.locator(selector).evaluate((box) => box.scrollTop);

describe('while things happen', () => {
  test('a new message moves its conversation up; elsewhere in the list nothing jumps', async () => {
    await using harness = await HarnessedPage.open(browser, { world: tenThousand() });
    const { page, world } = harness;
    await page.locator('.row').first().waitFor();
    await page.locator('.list').evaluate((box) => (box.scrollTop = 1_000));
    await page.waitForTimeout(200);
    const place = () =>
      page
        .locator('.row[data-id]', { hasText: 'topic-21' })
        .first()
        .evaluate((row) => row.getBoundingClientRect().top);
    const before = await place();
    const talk = world.talks[5_000];
    assert.ok(talk);
    world.arrive(talk, talk.members[1] ?? '', 'News!');
    await until('the conversation is on top', async () => {
      await page.waitForTimeout(50);
      return harness.countOf('overview') >= 3;
    });
    await page.waitForTimeout(200);
    assert.ok(Math.abs((await place()) - before) < 2, `${before} became ${await place()}`);
    await page.locator('.list').evaluate((box) => (box.scrollTop = 0));
    await page.locator('.row[aria-posinset="1"]', { hasText: 'News!' }).waitFor();
    assert.deepEqual(harness.errors, []);
  });

  test('at the end of a history one stays there; further up one is told', async () => {
    await using harness = await HarnessedPage.open(browser, { world: longTalk(100) });
    const { page, world } = harness;
    await page.locator('.row').first().click();
    await page.locator('.message', { hasText: 'Number 99:' }).waitFor();
    const talk = world.talks[0];
    assert.ok(talk);
    const atEnd = () =>
      page.locator('.history').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 3);
    await until('the history is at its end', atEnd);
    world.arrive(talk, 'builder', 'One more at the end');
    await page.locator('.message', { hasText: 'One more at the end' }).waitFor();
    await until('the history is still at its end', atEnd);
    assert.match((await page.locator('[role=status].hidden-text').textContent()) ?? '', /builder: One more at the end/);

    await page.locator('.history').evaluate((box) => (box.scrollTop = box.scrollHeight / 2));
    await page.waitForTimeout(150);
    const top = await scrollTop(page, '.history');
    world.arrive(talk, 'builder', 'Far below');
    await page.locator('.pill', { hasText: '1 new' }).waitFor();
    assert.ok(Math.abs((await scrollTop(page, '.history')) - top) < 2);
    await page.locator('.pill').click();
    await until('the pill leads to the end', atEnd);
  });

  test('older messages load above without moving what one reads', async () => {
    await using harness = await HarnessedPage.open(browser, { world: longTalk(300) });
    const { page } = harness;
    await page.locator('.row').first().click();
    await page.locator('.message', { hasText: 'Number 299:' }).waitFor();
    assert.equal(harness.countOf('story'), 1);
    await page.locator('.history').evaluate((box) => (box.scrollTop = 200));
    await until('an older page has come', async () => (await page.locator('ab-message').count()) > 60);
    const seen = () =>
      page.evaluate(`(() => {
        const box = document.querySelector('.history').getBoundingClientRect();
        const first = [...document.querySelectorAll('ab-message')].find((e) => e.getBoundingClientRect().bottom > box.top + 1);
        return first.textContent.match(/Number (\\d+)/)[1];
      })()`);
    const number = Number(await seen());
    assert.ok(number >= 238 && number <= 244, `at ${number}`);
  });

  test('only what was in view for a while counts as seen', async () => {
    const world = longTalk(80);
    const talk = world.talks[0];
    assert.ok(talk);
    for (const message of talk.messages.slice(-30)) if (message.from !== me) message.unread = true;
    await using harness = await HarnessedPage.open(browser, { world, height: 500 });
    const { page } = harness;
    await page.locator('.row').first().click();
    await page.locator('.unread-line').waitFor();
    assert.equal(harness.countOf('seen'), 0);
    await until('something was seen', () => harness.countOf('seen') > 0);
    await page.waitForTimeout(800);
    const ids = (harness.paramsOf('seen') as { ids: string[] }[]).flatMap((params) => params.ids);
    assert.ok(ids.length > 0 && ids.length < 12, `${ids.length} seen in a window for few`);
    const first = talk.messages.find(({ id }) => id === ids[0]);
    assert.ok(first && ids.every((id) => talk.messages.some((message) => message.id === id && message.from !== me)));
    // The rest is still unread.
    assert.ok(talk.messages.some((message) => message.unread));
    await page.locator('.history').evaluate((box) => (box.scrollTop = box.scrollHeight));
    await until('the last ones, too', () => talk.messages.at(-1)?.unread !== true);
  });

  test('what the person takes back to unread stays unread, though it is in view', async () => {
    const world = longTalk(3);
    await using harness = await HarnessedPage.open(browser, { world });
    const { page } = harness;
    await page.locator('.row').first().click();
    const message = page.locator('.message', { hasText: 'Number 2:' });
    await message.click();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Mark as unread' }).click();
    await until('it is unread', () => world.talks[0]?.messages[2]?.unread === true);
    await page.waitForTimeout(1_000);
    assert.equal(harness.countOf('seen'), 0);
    await page.getByRole('button', { name: 'Back to the inbox' }).click();
    await page.locator('.row .badge').waitFor();
    await page.locator('.row').first().click();
    await until('looked at again, it is seen', () => harness.countOf('seen') === 1);
  });

  test('receipts and answers show at once', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page, world } = harness;
    await page.locator('.row', { hasText: 'The export job' }).click();
    await page.locator('.decide').waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
    await until('the bar is gone', async () => (await page.locator('.decide').count()) === 0);
    assert.deepEqual((harness.paramsOf('release') as { verdict: string }[])[0]?.verdict, 'once');
    const talk = world.talks[0];
    const own = talk?.messages.find(({ text }) => text.startsWith('Please agree'));
    assert.ok(own);
    world.receipt(own, 'shop-api-copilot', 'undeliverable');
    await page.locator('[aria-label*="Could not be delivered for 1 of 2"]').first().waitFor();
  });

  test('an open receipt follows its message', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page, world } = harness;
    await page.locator('.row', { hasText: 'The export job' }).click();
    const own = world.talks[0]?.messages.find(({ text }) => text.startsWith('Please agree'));
    assert.ok(own);
    await page.locator('.message', { hasText: 'Please agree' }).locator('.receipt').click();
    const receipt = page.locator('.receipt-card');
    await receipt.locator('.steps').first().waitFor();
    world.receipt(own, 'shop-api-copilot', 'undeliverable');
    await receipt.locator('.step-what', { hasText: 'Could not be delivered' }).waitFor();
  });

  test('a page that missed something reads again what it shows', async () => {
    await using harness = await HarnessedPage.open(browser, { world: longTalk(10) });
    const { page, world } = harness;
    await page.locator('.row').first().click();
    await page.locator('.message', { hasText: 'Number 9:' }).waitFor();
    world.onEvents = () => undefined;
    world.arrive(world.talks[0]!, 'builder', 'Nobody told me');
    await harness.tell({ type: 'missed' });
    await page.locator('.message', { hasText: 'Nobody told me' }).waitFor();
  });
});

describe('the hub', () => {
  test('off, started, lost and back', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning(), start: { hub: 'off' } });
    const { page } = harness;
    await page.getByText('The hub is not running').waitFor();
    await page.getByRole('button', { name: 'Start the hub' }).click();
    await page.locator('.row').first().waitFor();
    assert.equal(harness.countOf('start'), 1);
    await harness.hub('lost');
    await page.getByText('Reconnecting').waitFor();
    assert.ok((await page.locator('.row').count()) > 0, 'what was there stays');
    await harness.hub('connected');
    await until('the banner is gone', async () => (await page.locator('.banner').count()) === 0);
  });

  test('paused, and resumed from here', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning(), start: { paused: true } });
    await harness.page.getByRole('button', { name: 'Resume' }).click();
    await until('the banner is gone', async () => (await harness.page.locator('.banner').count()) === 0);
    assert.deepEqual(harness.paramsOf('pause'), [{ on: false }]);
  });

  test('in an untrusted workspace nothing can be sent or decided', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning(), start: { readOnly: true } });
    const { page } = harness;
    await page.locator('.row', { hasText: 'The migration needs' }).click();
    await page.locator('.message').first().waitFor();
    assert.ok(await page.locator('textarea').isDisabled());
    assert.ok(await page.getByRole('button', { name: 'Now', exact: true }).isDisabled());
  });
});

describe('notices of the bus itself', () => {
  test('can’t be answered, and their conversation has nowhere to write', async () => {
    await using harness = await HarnessedPage.open(browser, { world: notices() });
    const { page } = harness;
    await page.locator('.row', { hasText: 'is idle now' }).click();
    await page.getByText('Nobody reads an answer here').waitFor();
    assert.equal(await page.locator('textarea').count(), 0);
    assert.equal(await page.locator('.head .chip').count(), 0, 'the bus is no agent and has no card');
    await page.locator('.message').last().hover();
    assert.equal(await page.getByRole('button', { name: 'Reply' }).count(), 0);
    assert.equal(await page.getByText(/not on the bus/i).count(), 0);
  });

  test('about a request stand in its conversation, which goes on', async () => {
    await using harness = await HarnessedPage.open(browser, { world: notices() });
    const { page } = harness;
    await page.locator('.row', { hasText: 'has expired' }).click();
    await page.locator('.message-notice').waitFor();
    assert.equal(await page.locator('textarea').getAttribute('placeholder'), 'Message release-bot');
  });
});

describe('what the person wrote', () => {
  test('is there after a reload, with the screen and the filter', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.filter', { hasText: 'Unread' }).click();
    await page.locator('.row', { hasText: 'The migration needs' }).click();
    await page.locator('textarea').fill('Half a thou');
    await page.waitForTimeout(250);
    await page.reload();
    await page.locator('.message').first().waitFor();
    assert.equal(await page.locator('textarea').inputValue(), 'Half a thou');
    await page.getByRole('button', { name: 'Back to the inbox' }).click();
    assert.ok(await page.locator('.filter input').nth(1).isChecked());
  });

  test('stays when sending fails, and a second try is the same message', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.row', { hasText: 'Understood' }).click();
    await page.locator('textarea').fill('Once');
    harness.failing.set('send', { code: 'no-answer', message: 'No answer.', next: 'Try again.' });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').waitFor();
    assert.match((await page.getByRole('alert').textContent()) ?? '', /No answer\..*Try again\..*no-answer/);
    assert.equal(await page.locator('textarea').inputValue(), 'Once');
    harness.failing.delete('send');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.message', { hasText: 'Once' }).waitFor();
    assert.equal(await page.locator('textarea').inputValue(), '');
    const keys = (harness.paramsOf('send') as { key: string; to: string[] }[]).map(({ key }) => key);
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
    assert.deepEqual((harness.paramsOf('send') as { to: string[] }[])[0]?.to, ['#release']);
  });

  test('to several, as a question with answers to choose from, opens its conversation', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning() });
    const { page } = harness;
    await page.locator('.button-new').click();
    for (const name of ['docs', 'release-']) {
      await page.getByRole('combobox').fill(name);
      await page.keyboard.press('Enter');
    }
    await page.locator('textarea').fill('Ready?');
    await page.locator('.kinds .filter', { hasText: 'Ask' }).click();
    await page.getByText('Add answers to choose from').click();
    await page.keyboard.type('Yes');
    await page.keyboard.press('Control+Enter');
    await page.locator('.message', { hasText: 'Ready?' }).waitFor();
    const [sent] = harness.paramsOf('send') as { to: string[]; kind: string; options: string[] }[];
    assert.deepEqual(sent?.to, ['docs-gemini', 'release-bot']);
    assert.equal(sent?.kind, 'request');
    assert.deepEqual(sent?.options, ['Yes']);
    await page.getByText('Waiting for docs-gemini and release-bot').waitFor();
  });
});

describe('in a tab', () => {
  const opening = () => ({ world: morning(), place: 'tab' as const, start: { conversation: 'c1' }, width: 900 });

  test('a message to others opens a tab of its own and leaves this one', async () => {
    await using harness = await HarnessedPage.open(browser, opening());
    const { page } = harness;
    await page.locator('.members .chip', { hasText: 'shop-web-claude' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Message' }).click();
    await page.locator('textarea').fill('Just between us');
    await page.keyboard.press('Control+Enter');
    await until('its tab was asked for', () => harness.countOf('openTab') === 1);
    await page.locator('.message').first().waitFor();
    assert.match((await page.locator('h1').textContent()) ?? '', /shop-api-copilot, shop-web-claude/);
  });

  test('the state names the conversation, for a restored tab', async () => {
    await using harness = await HarnessedPage.open(browser, opening());
    await harness.page.locator('.message').first().waitFor();
    await until(
      'the state was kept',
      () => (harness.state as { conversation?: string } | undefined)?.conversation === 'c1',
    );
  });
});

describe('long texts', () => {
  test('are folded; all of it comes in slices while the page stays alive', async () => {
    await using harness = await HarnessedPage.open(browser, { world: longTexts(), width: 600 });
    const { page } = harness;
    await page.locator('.row').first().click();
    await page.locator('.message').nth(3).waitFor();
    const log = page.locator('ab-message').nth(0);
    const isWhole = async () => (await log.locator('.md').textContent())?.includes('line 199 of the log') ?? false;
    assert.equal(await isWhole(), false);
    await log.getByRole('button', { name: /Show all/ }).click();
    await until('all lines are there', isWhole);
    await log.getByRole('button', { name: 'Show less' }).click();
    assert.equal(await isWhole(), false);

    const megabyte = page.locator('ab-message').nth(2);
    await page.evaluate(`window.longest = 0; (function tick(last) {
      requestAnimationFrame((now) => { window.longest = Math.max(window.longest, now - last); tick(now); });
    })(performance.now())`);
    await megabyte.getByRole('button', { name: /Show all/ }).click();
    await until(
      'all of it is there',
      async () => Number(await megabyte.evaluate((e) => e.textContent?.length ?? 0)) > 1_000_000,
    );
    assert.equal(harness.countOf('message'), 1);
    const longest = Number(await page.evaluate('window.longest'));
    assert.ok(longest < 2_000, `a frame of ${Math.round(longest)} ms`);
    await page.locator('textarea').fill('still alive');
  });
});

describe('search', () => {
  test('opens the conversation around the message and marks it', async () => {
    const world = longTalk(400);
    await using harness = await HarnessedPage.open(browser, { world });
    const { page } = harness;
    await page.locator('.row').first().waitFor();
    await page.getByRole('searchbox').fill('Number 123:');
    await page.locator('.hit', { hasText: 'Number 123:' }).click();
    await page.locator('.flash', { hasText: 'Number 123:' }).waitFor();
    assert.equal((harness.paramsOf('story') as { around?: string }[])[0]?.around?.startsWith('m'), true);
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'Number 123:');
  });
});

describe('the picture', () => {
  test('is saved as an SVG that stands for itself', async () => {
    await using harness = await HarnessedPage.open(browser, { world: morning(), width: 900 });
    const { page } = harness;
    await page.locator('.row', { hasText: 'The export job' }).click();
    await page.getByRole('button', { name: 'Show as a picture' }).click();
    await page.locator('.p-arrow').first().waitFor();
    await page.getByRole('button', { name: 'Save as SVG' }).click();
    await until('it was handed over', () => harness.countOf('exportSvg') === 1);
    const { svg, name } = harness.paramsOf('exportSvg')[0] as { svg: string; name: string };
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    assert.match(svg, /<title>Agent Bus: /);
    assert.match(svg, /<desc>8 messages between /);
    assert.doesNotMatch(svg, /var\(|class=|<!--|script|tabindex|aria-label|url\(/);
    assert.match(svg, /stroke="rgb/);
    assert.equal(name, 'shop-api-copilot-shop-web-claude');
  });

  test('draws up to five hundred messages', async () => {
    await using harness = await HarnessedPage.open(browser, { world: longTalk(700) });
    const { page } = harness;
    await page.locator('.row').first().click();
    await page.locator('.message', { hasText: 'Number 699:' }).waitFor();
    await page.getByRole('button', { name: 'Show as a picture' }).click();
    await until('all are drawn', async () => (await page.locator('.p-arrow').count()) === 500);
    assert.match((await page.locator('.picture-count').textContent()) ?? '', /500 newest messages/);
  });
});
