import * as vscode from 'vscode';
import { chatSessionUri, copilotExtension, internalCommands, type OpenChat } from './contract.ts';

/** The editor's chat as far as an extension can reach it: opening one exact chat, submitting a turn, filling the input. */
export class ChatDoor {
  /** Whether a turn could be submitted here at all. */
  async isOpen(): Promise<boolean> {
    return vscode.extensions.getExtension(copilotExtension) !== undefined && (await has(internalCommands.openChat));
  }

  /**
   * Brings that chat into the chat view. It only opens as an editor tab, so from there it is moved; pinned, since as a
   * preview it would take the place of a file that the person is looking at.
   */
  async bringToFront(chat: string): Promise<void> {
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.parse(chatSessionUri(chat)), { preview: false });
    if (await has(internalCommands.chatToSideBar)) {
      await vscode.commands.executeCommand(internalCommands.chatToSideBar);
    }
  }

  /** Resolves once the turn is on its way; that it was seen is proved by the hook that meets its prompt. */
  async submit(prompt: string): Promise<void> {
    await this.open({ query: prompt, mode: 'agent', preserveInput: true });
  }

  /** In a chat of its own: filling an input overwrites what the person has half written there. */
  async fillInput(prompt: string): Promise<void> {
    await vscode.commands.executeCommand(internalCommands.newChat);
    await this.open({ query: prompt, mode: 'agent', isPartialQuery: true });
  }

  async focusEditor(): Promise<void> {
    await vscode.commands.executeCommand(internalCommands.focusEditor);
  }

  private async open(options: OpenChat): Promise<void> {
    await vscode.commands.executeCommand(internalCommands.openChat, options);
  }
}

async function has(command: string): Promise<boolean> {
  return (await vscode.commands.getCommands(false)).includes(command);
}
