import * as vscode from 'vscode';
import { BusError, errorShape, type ErrorShape } from '../core/errors.ts';

/** What a person or a page is told. Our own failures are logged with their details and told without them. */
export function shapeOf(error: unknown, output: vscode.LogOutputChannel): ErrorShape {
  if (error instanceof BusError) return errorShape(error);
  output.error(error instanceof Error ? error : String(error));
  return { code: 'internal', message: 'This did not work.', next: 'Run “Agent Bus: Show Log” to see why.' };
}

/** For commands: tells the person what went wrong and what to do, and nothing if they changed their mind. */
export async function reporting(output: vscode.LogOutputChannel, work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BusError && error.code === 'cancelled') return undefined;
    const { message, next } = shapeOf(error, output);
    const log = 'Show Log';
    void vscode.window.showErrorMessage(`Agent Bus: ${message} ${next}`, log).then((chosen) => {
      if (chosen === log) output.show();
    });
    return undefined;
  }
}

/** In a workspace that the person does not trust, nothing is sent and nothing decided. */
export function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new BusError('forbidden', 'In a workspace that is not trusted you can only read.', {
    next: 'Trust this workspace first (“Workspaces: Manage Workspace Trust”).',
  });
}
