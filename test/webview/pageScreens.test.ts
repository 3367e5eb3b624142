import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { HarnessedPage, launch } from './pageHarness.ts';
import { screens } from './screens.ts';
import { themes, type Theme } from './themes.ts';

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe('every screen in every theme', () => {
  for (const { name, opening, go } of screens) {
    test(`${name}: axe has nothing to say, nothing is out of the window`, async () => {
      await using harness = await HarnessedPage.open(browser, { ...opening(), width: name === 'tab' ? 900 : 300 });
      await go?.(harness);
      const faults: string[] = [];
      for (const theme of Object.keys(themes) as Theme[]) {
        await harness.setTheme(theme);
        for (const fault of await harness.violations()) faults.push(`${theme}: ${fault}`);
      }
      assert.deepEqual(faults, []);
      assert.deepEqual(harness.errors, []);
      assert.deepEqual(harness.strayed, []);
      for (const width of [200, 300, 1200]) {
        await harness.page.setViewportSize({ width, height: 600 });
        const overflow = await harness.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok(Number(overflow) <= 0, `${String(overflow)} px too wide at ${width}`);
      }
    });
  }

  test('the person’s own colours (forced) keep everything operable', async () => {
    await using harness = await HarnessedPage.open(browser, { ...screens[0]!.opening(), forcedColors: true });
    await harness.page.locator('.row').first().waitFor();
    // The browser itself sees to the contrast; axe reads the colours that it replaced.
    assert.deepEqual(await harness.violations('color-contrast'), []);
  });
});
