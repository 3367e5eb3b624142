import { basename } from 'node:path';
import * as vscode from 'vscode';
import { connectionState } from '../../connect/connectionState.ts';
import { placeAt } from '../../connect/placeAt.ts';
import { productOfAgent } from '../../connect/products/table.ts';
import { withAdvice } from '../../connect/reachAdvice.ts';
import type { AgentReach } from '../../protocol/reachMessages.ts';

/** What the hub tells of an agent, with what the files of its product tell about hooks that were not heard. */
export async function adviseOn(reach: AgentReach, bin: () => Promise<string>): Promise<AgentReach> {
  const product = productOfAgent(reach.product ?? '');
  if (!product || reach.hooks || reach.state === 'gone' || !vscode.workspace.isTrusted) return reach;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  const place = placeAt(folder, await bin());
  const isHere = folder !== '' && basename(folder) === reach.workspace;
  return withAdvice(reach, {
    product,
    // This very extension is how VS Code is connected.
    user: product.name === 'vscode' ? { state: 'connected' } : connectionState({ product, place, scope: 'user' }),
    project: isHere ? connectionState({ product, place, scope: 'project' }) : undefined,
  });
}
