import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EditorServer } from '../../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../../support/editor/editorTools.ts';

const suite = join(import.meta.dirname, 'suite.cjs');

describe('the suite that desktop VS Code runs as well', { skip: skipWithoutEditor }, () => {
  test('passes in the extension host of a window', async () => {
    const editor = await EditorServer.start();
    try {
      const window = await editor.open('shop-web');
      await window.evaluate(async (_api, path) => {
        const { createRequire } = process.getBuiltinModule('node:module');
        const { run } = createRequire(path)(path) as { run(): Promise<void> };
        await run();
      }, suite);
    } finally {
      await editor.dispose();
    }
  });
});
