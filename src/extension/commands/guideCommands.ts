import * as vscode from 'vscode';
import type { Commands } from './parts.ts';

const extensionId = 'agent-bus.agent-bus';

export function guideCommands(): Commands {
  return {
    openWalkthrough: () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#agentBus.start`, false),

    /** Fills the input and leaves sending to the person: asking a model costs them something. */
    askCopilot: () =>
      vscode.commands.executeCommand('workbench.action.chat.open', {
        query: 'Use the Agent Bus tools: who is on the bus, and who am I there?',
        isPartialQuery: true,
        mode: 'agent',
      }),
  };
}
