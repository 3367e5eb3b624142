import * as vscode from 'vscode';
import { BusError } from '../../core/errors.ts';
import { linkTarget, type LinkTarget } from './linkTarget.ts';

/**
 * Opens what a person clicked in a message. For web addresses VS Code itself shows the address and asks, unless the
 * person has trusted that domain (env.openExternal goes through its trusted-domains check); files have to exist.
 *
 * @param workspace name of the folder in which the writer of the message works
 */
export async function openLink(href: string, workspace: string | undefined): Promise<void> {
  const target = linkTarget(href);
  if (target.kind === 'refused') {
    throw new BusError('forbidden', `This link is not opened: ${target.why}.`, {
      next: 'Copy it if you want to look at it elsewhere.',
    });
  }
  if (target.kind === 'web') {
    await vscode.env.openExternal(vscode.Uri.parse(target.url, true));
    return;
  }
  const file = await existing(candidates(target, workspace));
  if (!file) {
    throw new BusError('invalid-input', 'The file of this link is not there.', {
      next: target.absolute
        ? 'It may have been moved or deleted.'
        : 'A relative path is opened in the window that has the folder of the sender open.',
    });
  }
  const at = target.line === undefined ? undefined : new vscode.Position(target.line - 1, (target.column ?? 1) - 1);
  await vscode.commands.executeCommand('vscode.open', file, {
    preview: true,
    ...(at && { selection: new vscode.Range(at, at) }),
  });
}

function candidates(target: Extract<LinkTarget, { kind: 'file' }>, workspace: string | undefined): vscode.Uri[] {
  if (target.absolute) return [vscode.Uri.file(target.path)];
  const relative = target.path.replaceAll('\\', '/');
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(({ uri }) => workspace !== undefined && uri.path.split('/').findLast(Boolean) === workspace)
    .map(({ uri }) => vscode.Uri.joinPath(uri, relative));
}

async function existing(uris: readonly vscode.Uri[]): Promise<vscode.Uri | undefined> {
  for (const uri of uris) {
    try {
      const { type } = await vscode.workspace.fs.stat(uri);
      if ((type & vscode.FileType.File) !== 0) return uri;
    } catch {
      // Not there: perhaps in the next folder.
    }
  }
  return undefined;
}
