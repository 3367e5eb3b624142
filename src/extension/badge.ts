import * as vscode from 'vscode';
import type { Attention } from './attention.ts';
import type { InboxView } from './inboxView.ts';

/**
 * The number on the activity bar. A webview has a badge only after it was opened once; until then a tree view that is
 * never shown (`when: false`) carries it for the same container.
 */
export class Badge implements vscode.Disposable {
  static readonly standIn = 'agentBus.badge';
  private readonly tree: vscode.TreeView<never>;
  private readonly subscriptions: vscode.Disposable[];
  private view: vscode.WebviewView | undefined;

  constructor(attention: Attention, inbox: InboxView) {
    const nothing: vscode.TreeDataProvider<never> = { getChildren: () => [], getTreeItem: (element) => element };
    this.tree = vscode.window.createTreeView(Badge.standIn, { treeDataProvider: nothing });
    const show = (): void => {
      const { unread } = attention;
      const tooltip = unread === 1 ? 'Agent Bus: 1 unread message' : `Agent Bus: ${unread} unread messages`;
      const badge = unread > 0 ? { value: unread, tooltip } : undefined;
      this.tree.badge = this.view ? undefined : badge;
      if (this.view) this.view.badge = badge;
    };
    this.subscriptions = [
      this.tree,
      attention.onChange(show),
      inbox.onView((view) => {
        this.view = view;
        show();
      }),
    ];
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
  }
}
