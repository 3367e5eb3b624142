import * as vscode from 'vscode';
import type { HubLink, LinkState } from './hubLink.ts';

const texts: Record<LinkState, { icon: string; tooltip: string }> = {
  off: { icon: '$(circle-slash)', tooltip: 'Agent Bus: the hub is not running. Click to start it.' },
  connecting: { icon: '$(sync~spin)', tooltip: 'Agent Bus: connecting to the hub…' },
  connected: { icon: '$(comment-discussion)', tooltip: 'Agent Bus: connected. Click for the status of the hub.' },
  lost: { icon: '$(sync~spin)', tooltip: 'Agent Bus: the hub went away; coming back…' },
};

/** The one item in the status bar. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('agentBus.status', vscode.StatusBarAlignment.Right, 90);
  private readonly subscription: vscode.Disposable;

  constructor(link: HubLink) {
    this.item.name = 'Agent Bus';
    const show = (): void => {
      const { icon, tooltip } = texts[link.state];
      this.item.text = `${icon} Bus`;
      this.item.tooltip = tooltip;
      this.item.command = link.state === 'off' ? 'agentBus.startHub' : 'agentBus.showStatus';
    };
    this.subscription = link.onChange(show);
    show();
    this.item.show();
  }

  dispose(): void {
    this.subscription.dispose();
    this.item.dispose();
  }
}
