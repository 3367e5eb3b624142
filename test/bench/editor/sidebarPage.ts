import type { FrameLocator } from 'playwright-core';
import type { EditorWindow } from '../../support/editor/editorWindow.ts';

/** The bench opens no tab, so the only page of the extension is the one in the sidebar. VS Code calls it a view only the first time. */
const frame = 'iframe.webview[src*="extensionId=agent-bus.agent-bus"]';

export async function openSidebar(window: EditorWindow): Promise<FrameLocator> {
  await window.command('workbench.view.extension.agentBus');
  const page = window.page.locator(`${frame}.ready`).first();
  await page.waitFor();
  return page.contentFrame().frameLocator('#active-frame');
}

export async function closeSidebar(window: EditorWindow): Promise<void> {
  await window.command('workbench.view.explorer');
  await window.page.locator(frame).waitFor({ state: 'detached' });
}
