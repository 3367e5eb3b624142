/** One window of the editor: its page, its extension host, its sidebar and its chat. */
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import type * as vscode from 'vscode';
import { until } from '../hubProcess.ts';
import { ChatView } from './chatView.ts';
import type { EditorServer } from './editorServer.ts';
import { editorPatienceMs } from './editorTools.ts';
import { evaluateIn, findHost, type HostRecord } from './hostChannel.ts';

export const themes = {
  light: 'Light 2026',
  dark: 'Dark 2026',
  'high-contrast': 'Default High Contrast',
  'high-contrast-light': 'Default High Contrast Light',
} as const;

const themeClass = { light: 'vs', dark: 'vs-dark', 'high-contrast': 'hc-black', 'high-contrast-light': 'hc-light' };
const screenshots = join(import.meta.dirname, '..', '..', '..', '.cache', 'screenshots');

export class EditorWindow {
  readonly page: Page;
  /** The workspace folder. */
  readonly folder: string;
  readonly name: string;
  readonly chat: ChatView;
  private readonly server: EditorServer;
  private host: HostRecord | undefined;

  constructor(page: Page, folder: string, server: EditorServer) {
    this.page = page;
    this.folder = folder;
    this.name = basename(folder);
    this.server = server;
    this.chat = new ChatView(this);
    page.setDefaultTimeout(editorPatienceMs);
  }

  /** Process id of the window's extension host; a new one after each reload. */
  get hostPid(): number {
    if (!this.host) throw new Error('the window is not up');
    return this.host.pid;
  }

  get model(): EditorServer['model'] {
    return this.server.model;
  }

  async goto(url: string): Promise<void> {
    await this.page.goto(url);
    await this.ready();
  }

  /** Until the workbench is there, its extension host can be spoken to, and the extension under test has started. */
  async ready(): Promise<void> {
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor();
    this.host = await findHost(this.server.channel, this.folder, this.host?.pid);
    const started = () => this.evaluate((api) => api.extensions.getExtension('agent-bus.agent-bus')?.isActive ?? true);
    await until('Agent Bus is active', started, editorPatienceMs);
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** As a person closes a window. */
  async close(): Promise<void> {
    await this.page.close();
    this.server.windows.splice(this.server.windows.indexOf(this), 1);
  }

  /** Runs a function in the extension host. It is sent as text: it sees VS Code's API, the argument and nothing else. */
  evaluate<T, A = undefined>(run: (api: typeof vscode, argument: A) => T, argument?: A): Promise<Awaited<T>> {
    if (!this.host) throw new Error('the window is not up');
    return evaluateIn(this.host, run.toString(), argument);
  }

  /** Runs a command and gives what it returned, as JSON. */
  command<T = unknown>(id: string, ...args: unknown[]): Promise<T> {
    return this.evaluate((api, call) => api.commands.executeCommand<T>(call.id, ...call.args), { id, args });
  }

  /** Runs a command the way a person does, by its title. */
  async palette(title: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input');
    await this.page.keyboard.press('F1');
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first().waitFor();
    await this.page.keyboard.press('Enter');
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  }

  /** The extension's view in the activity bar, opened. */
  async sidebar(): Promise<FrameLocator> {
    await this.command('workbench.view.extension.agentBus');
    return this.webview('iframe.webview.ready[src*="purpose=webviewView"]');
  }

  /** The extension's page in an editor tab, once there is one. */
  editorTab(): Promise<FrameLocator> {
    return this.webview('iframe.webview.ready:not([src*="purpose=webviewView"])');
  }

  /** The toasts that are up, as texts. */
  notifications(): Promise<string[]> {
    return this.page.locator('.notifications-toasts .notification-list-item-message').allInnerTexts();
  }

  /** Clicks a button of the toast that says this. */
  async answerToast(text: string, button: string): Promise<void> {
    const toast = this.page.locator('.notifications-toasts .notification-toast').filter({ hasText: text }).first();
    await toast.locator('.monaco-button').filter({ hasText: button }).first().click();
    await toast.waitFor({ state: 'detached' });
  }

  /** What the badge of the view says in the activity bar. */
  async badge(): Promise<string | undefined> {
    const item = this.page
      .locator('.part.activitybar .action-item')
      .filter({ has: this.page.locator('[aria-label^="Agent Bus"]') });
    const badge = item.locator('.badge-content');
    if ((await badge.count()) === 0) return undefined;
    return (await badge.first().innerText()).trim() || undefined;
  }

  /** The text of the item in the status bar whose description begins so. */
  async statusBar(begin: string): Promise<string> {
    return this.page.locator(`.part.statusbar .statusbar-item [aria-label^="${begin}"]`).first().innerText();
  }

  /** A modal dialog, if one is open. */
  get dialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  /** For this window only: the setting goes into its workspace. */
  async setTheme(theme: keyof typeof themes): Promise<void> {
    await this.evaluate(
      (api, name) =>
        api.workspace.getConfiguration('workbench').update('colorTheme', name, api.ConfigurationTarget.Workspace),
      themes[theme],
    );
    await this.page.locator(`.monaco-workbench.${themeClass[theme]}`).waitFor();
  }

  /** Into .cache/screenshots, for a person to look at. */
  async screenshot(name: string): Promise<string> {
    fs.mkdirSync(screenshots, { recursive: true });
    const path = join(screenshots, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  private async webview(kind: string): Promise<FrameLocator> {
    const frame = this.page.locator(`${kind}[src*="extensionId=agent-bus.agent-bus"]`).first();
    await frame.waitFor();
    return frame.contentFrame().frameLocator('#active-frame');
  }
}
