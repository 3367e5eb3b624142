import * as vscode from 'vscode';
import type { HubState } from '../protocol/webviewMessages.ts';
import type { Attention } from './attention.ts';
import type { HubLink } from './hubLink.ts';

interface Parts {
  link: HubLink;
  attention: Attention;
  home: { readonly agent: string | undefined; readonly onChange: vscode.Event<void> };
}

const stateTexts: Record<HubState, { icon: string; words: string }> = {
  off: { icon: '$(circle-slash)', words: 'the hub is not running' },
  connecting: { icon: '$(sync~spin)', words: 'connecting to the hub…' },
  connected: { icon: '$(comment-discussion)', words: 'connected' },
  lost: { icon: '$(sync~spin)', words: 'the hub went away; coming back…' },
};

const linked = ['openInbox', 'newMessage', 'pause', 'resume', 'startHub', 'showStatus', 'showAgents', 'showLog'];

/** The one item in the status bar: is the bus there, does something wait for me, who is this window. */
export class StatusItem implements vscode.Disposable {
  private readonly parts: Parts;
  private readonly item = vscode.window.createStatusBarItem('agentBus.status', vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];

  constructor(parts: Parts) {
    this.parts = parts;
    this.item.name = 'Agent Bus';
    this.item.command = 'agentBus.openInbox';
    const show = (): void => this.show();
    const { link, attention, home } = parts;
    this.subscriptions = [link.onState(show), attention.onChange(show), home.onChange(show)];
    this.show();
    this.item.show();
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
    this.item.dispose();
  }

  private show(): void {
    const { text, words } = this.summary();
    const lines = this.details();
    // Setting a property is a message to the renderer: only what changed is set.
    if (this.item.text !== text) this.item.text = text;
    const label = `Agent Bus: ${[words, ...lines].join('; ')}`;
    if (this.item.accessibilityInformation?.label === label) return;
    this.item.accessibilityInformation = { label, role: 'button' };
    this.item.tooltip = this.tooltip(words, lines);
  }

  private summary(): { text: string; words: string } {
    const { link, attention } = this.parts;
    const { icon, words } = stateTexts[link.state];
    if (link.state !== 'connected') return { text: `${icon} Bus`, words: link.problem?.message ?? words };
    const sign = attention.waiting > 0 ? '$(comment-unresolved)' : attention.paused ? '$(debug-pause)' : icon;
    return { text: `${sign} Bus${attention.unread > 0 ? ` ${attention.unread}` : ''}`, words };
  }

  private details(): string[] {
    const { link, attention, home } = this.parts;
    if (link.state !== 'connected') return link.problem ? [link.problem.next] : [];
    const { unread, waiting, paused } = attention;
    return [
      ...(home.agent === undefined ? [] : [`this window is ${home.agent}`]),
      unread === 0 ? 'nothing unread' : `${unread} unread`,
      ...(waiting > 0 ? [`${waiting === 1 ? 'one conversation waits' : `${waiting} conversations wait`} for you`] : []),
      ...(paused ? ['deliveries are paused'] : []),
    ];
  }

  private tooltip(words: string, lines: readonly string[]): vscode.MarkdownString {
    const { link, attention } = this.parts;
    const tooltip = new vscode.MarkdownString('**Agent Bus**: ', true);
    tooltip.isTrusted = { enabledCommands: linked.map((name) => `agentBus.${name}`) };
    tooltip.appendText(words);
    for (const line of lines) tooltip.appendMarkdown('\n- ').appendText(line);
    const links =
      link.state === 'connected'
        ? [
            '[Inbox](command:agentBus.openInbox)',
            '[New Message](command:agentBus.newMessage)',
            '[Agents](command:agentBus.showAgents)',
            attention.paused ? '[Resume](command:agentBus.resume)' : '[Pause](command:agentBus.pause)',
            '[Status](command:agentBus.showStatus)',
          ]
        : ['[Start the Hub](command:agentBus.startHub)', '[Show Log](command:agentBus.showLog)'];
    tooltip.appendMarkdown(`\n\n---\n\n${links.join(' · ')}`);
    return tooltip;
  }
}
