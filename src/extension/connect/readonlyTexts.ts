import * as vscode from 'vscode';

/** Texts that can be read, compared and copied, but not edited. Each is forgotten when its tab is closed. */
export class ReadonlyTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly scheme = 'agent-bus-text';
  private readonly texts = new Map<string, string>();
  private readonly closing: vscode.Disposable;
  private count = 0;

  constructor() {
    this.closing = vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString()));
  }

  /** @param path names the tab and tells the language */
  add(path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.file(path).with({ scheme: ReadonlyTexts.scheme, query: String(++this.count) });
    this.texts.set(uri.toString(), text);
    return uri;
  }

  async show(name: string, text: string): Promise<void> {
    await vscode.window.showTextDocument(this.add(name, text), { preview: true });
  }

  /** A window that was reloaded still has the tab. */
  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? 'This text is gone: the window was reloaded. Run the command again.\n';
  }

  dispose(): void {
    this.closing.dispose();
    this.texts.clear();
  }
}
