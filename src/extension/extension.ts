import * as vscode from 'vscode';
import { BusError } from '../core/errors.ts';
import { HubLink } from './hubLink.ts';
import { InboxView } from './inboxView.ts';
import { StatusItem } from './statusItem.ts';

/** This window's part in the bus: finds or starts the hub, shows that it is there and what is in the inbox. */
export class Extension implements vscode.Disposable {
  private readonly parts: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext) {
    const link = new HubLink(String((context.extension.packageJSON as { version: string }).version));
    const view = new InboxView(context.extensionUri, link);
    this.parts = [
      link,
      new StatusItem(link),
      vscode.window.registerWebviewViewProvider(InboxView.id, view),
      vscode.commands.registerCommand('agentBus.startHub', () => run(() => link.connect())),
      vscode.commands.registerCommand('agentBus.showStatus', () => run(() => showStatus(link))),
    ];
    // Never in the way of activation: the views say so while there is no hub.
    if (vscode.workspace.isTrusted) void link.connect().catch(() => undefined);
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }
}

async function showStatus(link: HubLink): Promise<void> {
  const client = await link.connect();
  const status = await client.request('status', {});
  const document = await vscode.workspace.openTextDocument({
    language: 'json',
    content: JSON.stringify(status, null, 2),
  });
  await vscode.window.showTextDocument(document, { preview: true });
}

async function run(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const text = error instanceof BusError ? `${error.message} ${error.next}` : String(error);
    void vscode.window.showErrorMessage(`Agent Bus: ${text}`);
  }
}
