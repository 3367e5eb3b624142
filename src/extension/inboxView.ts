import * as vscode from 'vscode';
import type { PageEvent } from '../protocol/webviewMessages.ts';
import { PageHost, type PageParts } from './page/pageHost.ts';
import { pageHtml, pageRoots } from './page/pageHtml.ts';

/**
 * The sidebar. VS Code drops the page while it is hidden (a kept one would cost a process's memory all day); the page
 * keeps its place and its drafts by setState, and reads again what it shows when it comes back.
 */
export class InboxView implements vscode.WebviewViewProvider, vscode.Disposable {
  static readonly id = 'agentBus.inbox';
  private readonly extension: vscode.Uri;
  private readonly parts: PageParts;
  private readonly resolved = new vscode.EventEmitter<vscode.WebviewView | undefined>();
  private host: PageHost | undefined;
  private view: vscode.WebviewView | undefined;
  private wish: Extract<PageEvent, { type: 'show' }> | undefined;
  /** The view, once it was opened, and again nothing when it is gone. */
  readonly onView = this.resolved.event;

  constructor(extension: vscode.Uri, parts: PageParts) {
    this.extension = extension;
    this.parts = parts;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: pageRoots(this.extension) };
    const host = new PageHost(webview, { place: 'sidebar' }, this.parts);
    this.host?.dispose();
    this.host = host;
    if (this.wish) host.show(this.wish);
    this.wish = undefined;
    const visibility = view.onDidChangeVisibility(() => {
      if (!view.visible) host.hidden();
    });
    view.onDidDispose(() => {
      visibility.dispose();
      host.dispose();
      if (this.host === host) this.host = this.view = undefined;
      this.resolved.fire(undefined);
    });
    this.view = view;
    this.reload();
    this.resolved.fire(view);
  }

  /** Opens the sidebar and shows that. */
  async show(event: Extract<PageEvent, { type: 'show' }>): Promise<void> {
    if (this.host) this.host.show(event);
    else this.wish = event;
    await vscode.commands.executeCommand(`${InboxView.id}.focus`);
  }

  /** A fresh page that asks again what it may do. What was in it is kept by setState. */
  reload(): void {
    this.host?.hidden();
    if (this.view) this.view.webview.html = pageHtml(this.view.webview, this.extension, 'sidebar');
  }

  dispose(): void {
    this.host?.dispose();
    this.resolved.dispose();
  }
}
