import type { ExtensionContext } from 'vscode';
import { Extension } from './extension/extension.ts';

/** What tests and the bench read: how long VS Code was held up. */
export interface Exports {
  activationMs: number;
}

export function activate(context: ExtensionContext): Exports {
  const began = performance.now();
  const extension = new Extension(context);
  context.subscriptions.push(extension);
  const activationMs = performance.now() - began;
  extension.output.info(`Activated in ${activationMs.toFixed(1)} ms.`);
  return { activationMs };
}
