import * as vscode from 'vscode';
import type { HubEvent } from '../protocol/messages.ts';
import { PageHost, type PageParts } from './page/pageHost.ts';
import { pageHtml, pageRoots } from './page/pageHtml.ts';
import { plainLine } from './window/plainLine.ts';

interface Tab {
  panel: vscode.WebviewPanel;
  host: PageHost;
}

/** Conversations in editor tabs: one tab each, named after the conversation, back again after a reload. */
export class ConversationTabs implements vscode.WebviewPanelSerializer, vscode.Disposable {
  static readonly id = 'agentBus.conversation';
  private readonly extension: vscode.Uri;
  private readonly parts: PageParts;
  private readonly tabs = new Map<string, Tab>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(extension: vscode.Uri, parts: PageParts) {
    this.extension = extension;
    this.parts = parts;
    this.subscriptions = [
      parts.link.onState((state) => {
        if (state === 'connected') this.nameAll();
      }),
      parts.link.onEvents((events: readonly HubEvent[]) => {
        if (events.some(({ type }) => type === 'agents')) this.nameAll();
      }),
    ];
  }

  open(conversation: string): void {
    const open = this.tabs.get(conversation);
    if (open) return open.panel.reveal();
    const options = { enableScripts: true, localResourceRoots: pageRoots(this.extension) };
    const panel = vscode.window.createWebviewPanel(
      ConversationTabs.id,
      'Conversation',
      vscode.ViewColumn.Active,
      options,
    );
    this.fill(panel, conversation);
  }

  /** What the page kept by setState names the conversation; it is checked like everything that comes from a page. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const saved = typeof state === 'object' && state !== null ? (state as { conversation?: unknown }) : {};
    const { conversation } = saved;
    if (typeof conversation !== 'string' || !/^c[0-9a-z]{1,10}$/.test(conversation) || this.tabs.has(conversation)) {
      panel.dispose();
      return;
    }
    panel.webview.options = { enableScripts: true, localResourceRoots: pageRoots(this.extension) };
    this.fill(panel, conversation);
  }

  /** The conversation of the tab in front, for commands that mean "this one". */
  get active(): string | undefined {
    for (const [conversation, { panel }] of this.tabs) if (panel.active) return conversation;
    return undefined;
  }

  /** Fresh pages that ask again what they may do. */
  reload(): void {
    for (const { panel, host } of this.tabs.values()) {
      host.hidden();
      panel.webview.html = pageHtml(panel.webview, this.extension, 'tab');
    }
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
    for (const { host } of this.tabs.values()) host.dispose();
  }

  private fill(panel: vscode.WebviewPanel, conversation: string): void {
    const host = new PageHost(panel.webview, { place: 'tab', conversation }, this.parts);
    this.tabs.set(conversation, { panel, host });
    panel.iconPath = {
      light: vscode.Uri.joinPath(this.extension, 'media', 'tab-light.svg'),
      dark: vscode.Uri.joinPath(this.extension, 'media', 'tab-dark.svg'),
    };
    panel.onDidChangeViewState(() => {
      if (!panel.visible) host.hidden();
    });
    panel.onDidDispose(() => {
      host.dispose();
      this.tabs.delete(conversation);
    });
    panel.webview.html = pageHtml(panel.webview, this.extension, 'tab');
    void this.name(conversation);
  }

  private nameAll(): void {
    for (const conversation of this.tabs.keys()) void this.name(conversation);
  }

  private async name(conversation: string): Promise<void> {
    try {
      const story = await this.parts.link.current?.request('story', { conversation, limit: 1 });
      const tab = this.tabs.get(conversation);
      if (story && tab) tab.panel.title = plainLine(story.conversation.title, 60);
    } catch {
      // The page itself says what is wrong with the conversation.
    }
  }
}
