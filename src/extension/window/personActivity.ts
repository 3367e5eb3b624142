import * as vscode from 'vscode';

/** The person was in an editor lately: that is where the focus is given back to. */
const recentMs = 10 * 60_000;

/** When the person last typed or moved the cursor in this window. What programs do to documents does not count. */
export class PersonActivity implements vscode.Disposable {
  private last = -Infinity;
  private readonly listeners: vscode.Disposable[];

  constructor() {
    const seen = (): void => {
      this.last = performance.now();
    };
    this.listeners = [
      vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
        // Set for keyboard and mouse; an edit by a program moves cursors without it.
        if (kind === vscode.TextEditorSelectionChangeKind.Keyboard) seen();
        if (kind === vscode.TextEditorSelectionChangeKind.Mouse) seen();
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
        if (document !== vscode.window.activeTextEditor?.document || !vscode.window.state.focused) return;
        // Typing is one small change at the cursor; agents replace whole ranges.
        if (reason === undefined && contentChanges.length === 1 && (contentChanges[0]?.text.length ?? 0) <= 2) seen();
      }),
    ];
  }

  get isInEditor(): boolean {
    return vscode.window.activeTextEditor !== undefined && performance.now() - this.last < recentMs;
  }

  /** Resolves with true as soon as there was no sign of the person for `quietMs`, with false after `patienceMs`. */
  async quiet(quietMs: number, patienceMs: number, signal?: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const left = this.last + quietMs - performance.now();
      if (left <= 0) return true;
      if (performance.now() + left > deadline || signal?.aborted) return false;
      await new Promise((resolve) => setTimeout(resolve, left + 5));
    }
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
  }
}
