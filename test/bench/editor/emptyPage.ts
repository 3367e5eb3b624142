import type { Locator } from 'playwright-core';
import type * as vscode from 'vscode';
import type { EditorWindow } from '../../support/editor/editorWindow.ts';
import { untilPainted } from './painted.ts';

const frame = 'iframe.webview[src*="extensionId=agent-bus-test"]';

/** The least that any page of an extension takes in VS Code: a panel with one word in it. */
export async function emptyPage(window: EditorWindow): Promise<number> {
  const took = await untilPainted(async () => {
    await window.evaluate(openPanel);
    return wordIn(window);
  });
  await window.evaluate(closePanel);
  await window.page.locator(frame).waitFor({ state: 'detached' });
  return took;
}

function wordIn({ page }: EditorWindow): Locator {
  return page.locator(`${frame}.ready`).first().contentFrame().frameLocator('#active-frame').locator('#word');
}

// These run in the extension host and see nothing of this file.

type Kept = { benchPanel?: { dispose(): unknown } };

function openPanel(api: typeof vscode): void {
  const panel = api.window.createWebviewPanel('bench', 'Floor', api.ViewColumn.One, { enableScripts: true });
  panel.webview.html = '<!DOCTYPE html><html><body><p id="word">floor</p></body></html>';
  (globalThis as Kept).benchPanel = panel;
}

function closePanel(): void {
  (globalThis as Kept).benchPanel?.dispose();
}
