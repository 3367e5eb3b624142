import * as vscode from 'vscode';

/**
 * What the hooks of this window's chats have to know. The editor starts them from the extension host with its
 * environment as it is at that moment, so that is where it is written.
 */
export class HookEnvironment implements vscode.Disposable {
  private readonly listener: vscode.Disposable;

  constructor(window: string, workspace: string) {
    process.env['AGENT_BUS_WINDOW'] = window;
    process.env['AGENT_BUS_WORKSPACE'] = workspace;
    this.readSetting();
    this.listener = vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('agentBus.confirmTools')) this.readSetting();
    });
  }

  dispose(): void {
    this.listener.dispose();
    for (const name of ['WINDOW', 'WORKSPACE', 'CONFIRM_TOOLS']) delete process.env[`AGENT_BUS_${name}`];
  }

  private readSetting(): void {
    const confirm = vscode.workspace.getConfiguration('agentBus').get<boolean>('confirmTools', false);
    process.env['AGENT_BUS_CONFIRM_TOOLS'] = confirm ? '1' : '0';
  }
}
