import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { InboxState } from '../protocol/webviewMessages.ts';
import type { HubLink } from './hubLink.ts';

/** The sidebar: the conversations of the bus by last activity. The page gets data only; it can ask for nothing but a start. */
export class InboxView implements vscode.WebviewViewProvider {
  static readonly id = 'agentBus.inbox';
  private readonly root: vscode.Uri;
  private readonly link: HubLink;
  private refreshing: NodeJS.Timeout | undefined;

  constructor(root: vscode.Uri, link: HubLink) {
    this.root = root;
    this.link = link;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { webview } = view;
    webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(this.root, 'dist'), vscode.Uri.joinPath(this.root, 'media')],
    };
    webview.html = this.page(webview);
    const refresh = (): void => {
      // Bursts become one.
      this.refreshing ??= setTimeout(() => {
        this.refreshing = undefined;
        void this.state().then((state) => webview.postMessage(state));
      }, 50);
    };
    const listening = [
      this.link.onChange(refresh),
      view.onDidChangeVisibility(refresh),
      webview.onDidReceiveMessage((message: unknown) => {
        if (message === 'ready') refresh();
        if (message === 'start') void vscode.commands.executeCommand('agentBus.startHub');
      }),
    ];
    view.onDidDispose(() => {
      clearTimeout(this.refreshing);
      for (const one of listening) one.dispose();
    });
  }

  private async state(): Promise<InboxState> {
    const client = this.link.current;
    if (!client) return { hub: this.link.state === 'off' ? 'off' : 'connecting', conversations: [] };
    try {
      const { data } = await client.call('conversations', { limit: 100 });
      return { hub: 'connected', conversations: 'conversations' in data ? data.conversations : [] };
    } catch {
      return { hub: 'connecting', conversations: [] };
    }
  }

  private page(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString('base64');
    const script = webview.asWebviewUri(vscode.Uri.joinPath(this.root, 'dist', 'webview.js')).toString();
    const style = webview.asWebviewUri(vscode.Uri.joinPath(this.root, 'media', 'inbox.css')).toString();
    const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
<title>Agent Bus</title>
</head>
<body><main id="inbox" aria-live="polite"></main><script nonce="${nonce}" src="${script}"></script></body>
</html>`;
  }
}
