import type { ExtensionContext } from 'vscode';
import { Extension } from './extension/extension.ts';

export function activate(context: ExtensionContext): void {
  context.subscriptions.push(new Extension(context));
}
