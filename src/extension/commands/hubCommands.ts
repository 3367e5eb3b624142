import { join } from 'node:path';
import * as vscode from 'vscode';
import { BusError } from '../../core/errors.ts';
import { requireTrust } from '../problems.ts';
import { statusText, StatusDocument } from '../statusDocument.ts';
import { mcpConfigurations } from './mcpConfigurations.ts';
import type { CommandParts, Commands } from './parts.ts';

export function hubCommands({ link, output, installed, home }: CommandParts): Commands {
  const stop = async (): Promise<void> => {
    const client = link.current;
    if (!client)
      throw new BusError('hub-unavailable', 'The hub is not running.', { next: 'Nothing has to be stopped.' });
    await client.request('stop', { reason: 'stop' });
  };

  return {
    async startHub() {
      requireTrust();
      await link.connect();
    },

    async stopHub() {
      requireTrust();
      const answer = await vscode.window.showWarningMessage(
        'Stop the hub of Agent Bus?',
        {
          modal: true,
          detail:
            'It serves all windows and terminals of this user. Messages are kept; agents can send and hear nothing until it runs again.',
        },
        'Stop',
      );
      if (answer === 'Stop') await stop();
    },

    async restartHub() {
      requireTrust();
      if (link.current) {
        const gone = new Promise<void>((resolve) => {
          const waiting = link.onState((state) => {
            if (state === 'connected') return;
            waiting.dispose();
            resolve();
          });
        });
        await stop();
        await gone;
      }
      await link.connect();
    },

    async showStatus() {
      const client = await link.connect();
      StatusDocument.show(statusText(await client.request('status', {}), home.agent));
    },

    async showLog() {
      const window = { label: '$(window) This window', description: 'the extension’s own log' };
      const hub = { label: '$(server-process) The hub', description: 'shared by all windows' };
      const chosen = await vscode.window.showQuickPick([window, hub], { title: 'Agent Bus: Show Log' });
      if (chosen === window) output.show();
      if (chosen !== hub) return;
      const { log } = (await installed()).home;
      await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(log), { preview: true });
    },

    async copyMcpConfiguration() {
      const { bin } = await installed();
      const url = link.current?.hub?.mcpUrl;
      const items = mcpConfigurations(join(bin, process.platform === 'win32' ? 'agent-bus.cmd' : 'agent-bus'), url);
      const chosen = await vscode.window.showQuickPick(items, {
        title: 'Agent Bus: Copy MCP Configuration',
        placeHolder: 'Which kind of agent do you want to connect?',
        matchOnDetail: true,
      });
      if (!chosen) return;
      await vscode.env.clipboard.writeText(chosen.copied);
      void vscode.window.showInformationMessage(`Agent Bus: copied. ${chosen.then}`);
    },
  };
}
