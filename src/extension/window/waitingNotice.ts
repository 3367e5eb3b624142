import * as vscode from 'vscode';
import type { WakeParams } from '../../protocol/reachMessages.ts';
import { plainLine } from './plainLine.ts';
import { waitingText } from './wording.ts';

/** The last rung: the person is told, and decides. */
export function showWaiting(params: WakeParams, sender: string | undefined, deliver: () => Promise<boolean>): void {
  void ask(params, sender, deliver).catch((error: unknown) => {
    void vscode.window.showErrorMessage(`Agent Bus: the message could not be delivered: ${plainLine(String(error))}`);
  });
}

async function ask(params: WakeParams, sender: string | undefined, deliver: () => Promise<boolean>): Promise<void> {
  // What is in a terminal is the person's to go on with.
  const answers = params.by === undefined ? ['Deliver now', 'Show'] : ['Show'];
  const chosen = await vscode.window.showInformationMessage(waitingText(params, sender), ...answers);
  if (chosen === 'Show') await vscode.commands.executeCommand('agentBus.inbox.focus');
  if (chosen !== 'Deliver now' || (await deliver())) return;
  void vscode.window.showInformationMessage(
    `Agent Bus: ${plainLine(params.agent, 40)} is at work; it sees the message at its next step.`,
  );
}
