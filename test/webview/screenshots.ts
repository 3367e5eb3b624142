// Pictures of every screen in every theme and width: `node test/webview/screenshots.ts [part of a name] [theme…]`.
// They go to .cache/screenshots/page/, for a person to look at.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HarnessedPage, launch } from './pageHarness.ts';
import { screens } from './screens.ts';
import { themes, type Theme } from './themes.ts';

const folder = join(import.meta.dirname, '..', '..', '.cache', 'screenshots', 'page');
const widths = [300, 900];
const [wanted = '', ...only] = process.argv.slice(2);

mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const theme of Object.keys(themes) as Theme[]) {
  if (only.length > 0 && !only.includes(theme)) continue;
  for (const { name, opening, go } of screens) {
    if (!name.includes(wanted)) continue;
    for (const width of name === 'inbox' ? [200, ...widths] : widths) {
      await using harness = await HarnessedPage.open(browser, { ...opening(), theme, width, height: 700 });
      try {
        await go?.(harness);
      } catch (error) {
        console.error(`${name}: ${String(error)}`);
      }
      await harness.page.waitForTimeout(150);
      await harness.page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) });
      if (harness.errors.length > 0) console.error(name, harness.errors);
    }
  }
}
await browser.close();
