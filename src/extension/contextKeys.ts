import * as vscode from 'vscode';
import type { Attention } from './attention.ts';
import type { HubLink } from './hubLink.ts';

/** What the manifest's `when` clauses know about the bus. */
export class ContextKeys implements vscode.Disposable {
  private readonly known = new Map<string, unknown>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(link: HubLink, attention: Attention) {
    const update = (): void => {
      this.set('agentBus.connected', link.state === 'connected');
      this.set('agentBus.paused', attention.paused);
      this.set('agentBus.hasQuestions', attention.waiting > 0);
    };
    this.subscriptions = [link.onState(update), attention.onChange(update)];
    update();
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
  }

  private set(key: string, value: unknown): void {
    if (this.known.get(key) === value) return;
    this.known.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}
