/** An agent's card: can it be reached now, and how. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { until } from '../support/hubProcess.ts';
import { HarnessedPage, launch } from './pageHarness.ts';
import { hostile, reaches } from './worlds.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const open = (): Promise<HarnessedPage> => HarnessedPage.open(browser, { world: reaches(), width: 300 });

async function card({ page }: HarnessedPage, name: string): Promise<Locator> {
  await page.locator('.chip', { hasText: name }).first().click();
  const found = page.locator('.card');
  await found.locator('.reach-now').waitFor();
  return found;
}

const rows = (found: Locator): Promise<string[]> =>
  found
    .locator('.reach tr')
    .allInnerTexts()
    .then((all) => all.map((text) => text.replace(/\s+/g, ' ').trim()));

describe('how an agent is reached, on its card', () => {
  test('a row for each state, and which of them it is in', async () => {
    await using harness = await open();
    const found = await card(harness, 'shop-web-copilot');
    assert.equal(await found.locator('.reach-now').innerText(), 'Reached now: new chat turn');
    assert.deepEqual(await rows(found), [
      'While busy next tool call',
      'End of turn before it ends',
      'While idle (as it is now) new chat turn',
    ]);
    assert.equal(await found.getByRole('table').getAttribute('aria-label'), 'How messages reach shop-web-copilot');
    assert.equal(await found.getByRole('rowheader').count(), 3);
    assert.equal(await found.getByRole('switch').count(), 0, 'it is in no terminal');
    assert.deepEqual(await harness.violations(), []);
  });

  test('what blocks and what to do, each reason once', async () => {
    await using harness = await open();
    const waiting = await card(harness, 'infra-copilot');
    assert.match(await waiting.locator('.reach-now').innerText(), /^Not reached before you have answered it/);
    assert.match(await waiting.locator('.reach-todo').first().innerText(), /answer it in its window of VS Code/);
    await harness.page.keyboard.press('Escape');
    const codex = await card(harness, 'api-codex');
    const text = await codex.innerText();
    assert.equal(text.match(/no hook of its session was heard yet/g)?.length, 1);
    assert.match(text, /Waits: next bus call\s+no hook/);
    assert.equal(text.match(/approve them with \/hooks/g)?.length, 1);
    assert.match(text, /While idle\s+no way\s+nothing is connected that could wake it/);
    assert.deepEqual(await harness.violations(), []);
    await harness.page.keyboard.press('Escape');
    const gone = await card(harness, 'docs-claude');
    assert.equal(await gone.locator('.reach').count(), 0);
    assert.match(await gone.locator('.reach-now').innerText(), /Not there; messages wait for it/);
  });

  test('changes while it is looked at', async () => {
    await using harness = await open();
    const found = await card(harness, 'shop-web-copilot');
    const asked = harness.countOf('reach');
    harness.world.reachable('shop-web-copilot', {
      state: 'working',
      now: { how: 'next tool call' },
      busy: { how: 'next tool call' },
      end_of_turn: { how: 'before it ends' },
      idle: { how: 'new chat turn' },
    });
    harness.world.tellPresence('shop-web-copilot', { presence: 'working' });
    await found.getByText('Reached now: next tool call').waitFor();
    await harness.page.keyboard.press('Escape');
    await harness.page.locator('.card').waitFor({ state: 'detached' });
    const after = harness.countOf('reach');
    assert.ok(after > asked);
    harness.world.tellPresence('shop-web-copilot', { presence: 'idle' });
    await harness.page.waitForTimeout(400);
    assert.equal(harness.countOf('reach'), after, 'nobody looks any more');
  });

  test('the switch for its terminal, by keyboard; not in a workspace that is not trusted', async () => {
    await using harness = await open();
    const found = await card(harness, 'api-codex');
    const typing = found.getByRole('switch', { name: 'May be typed to in its terminal' });
    assert.equal(await typing.isChecked(), false);
    await typing.focus();
    await harness.page.keyboard.press('Space');
    await found.locator('input:checked').waitFor();
    assert.deepEqual(harness.paramsOf('typing'), [{ agent: 'api-codex', on: true }]);
    await harness.page.keyboard.press('Space');
    await found.locator('input:not(:checked)').waitFor();
    assert.equal(harness.world.reachOf('api-codex').typing, false);

    await using untrusted = await HarnessedPage.open(browser, { world: reaches(), start: { readOnly: true } });
    assert.ok(await (await card(untrusted, 'api-codex')).getByRole('switch').isDisabled());
  });

  test('the switch goes back when it could not be done, and says why', async () => {
    await using harness = await open();
    const found = await card(harness, 'api-codex');
    harness.failing.set('typing', { code: 'disk-full', message: 'The disk is full.', next: 'Free some space.' });
    await found.getByRole('switch').click();
    await harness.page.getByText('The disk is full.').waitFor();
    await harness.page.locator('.card input:not(:checked)').waitFor();
  });

  test('a hub that can’t tell: what is known of it otherwise', async () => {
    await using harness = await open();
    harness.failing.set('reach', { code: 'unknown-tool', message: 'There is no method.', next: 'Update.' });
    await harness.page.locator('.chip', { hasText: 'api-codex' }).first().click();
    await harness.page.getByText('Hears by next tool call, then inbox').waitFor();
    assert.deepEqual(harness.errors, []);
  });

  test('words of others are text', async () => {
    const world = reaches();
    const [script = ''] = hostile;
    world.reachable('api-codex', {
      state: 'idle',
      now: { blocked: script, todo: script },
      busy: { how: script },
      end_of_turn: { how: 'a\u202Eb' },
      idle: { blocked: 'x', todo: script },
    });
    await using harness = await HarnessedPage.open(browser, { world, width: 300 });
    const found = await card(harness, 'api-codex');
    assert.equal(await found.locator(':is(script, img, iframe, a)').count(), 0);
    assert.equal(await harness.page.evaluate('window.pwned'), undefined);
    assert.doesNotMatch(await found.innerText(), /\u202E/);
    assert.deepEqual(harness.strayed, []);
  });

  test('the person is told when it is idle, and can take that back', async () => {
    await using harness = await open();
    const idle = await card(harness, 'shop-web-copilot');
    await until('it was asked', () => harness.countOf('tell') === 1);
    assert.equal(await idle.getByRole('button', { name: 'Tell me when idle' }).count(), 0);
    await harness.page.keyboard.press('Escape');
    const found = await card(harness, 'infra-copilot');
    const button = found.getByRole('button', { name: 'Tell me when idle' });
    await button.click();
    await found.locator('[aria-pressed=true]').waitFor();
    assert.equal(harness.world.telling.get('infra-copilot'), true);
    assert.deepEqual(await harness.violations(), []);
    await button.click();
    await found.locator('[aria-pressed=false]').waitFor();
    assert.equal(harness.world.telling.get('infra-copilot'), false);
  });
});
