import * as vscode from 'vscode';

/** The path by which the bus knows this window's workspace: its folder, or the file that names its folders. */
export function workspacePath(): string | undefined {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  const first = workspaceFolders?.[0]?.uri;
  if (!first || !isOnDisk(first)) return undefined;
  // Several folders that were not saved as a workspace yet have no lasting name but the first one's.
  return workspaceFile && isOnDisk(workspaceFile) ? workspaceFile.fsPath : first.fsPath;
}

/** Seen from here: a remote window's folder is on the disk of the machine where this extension runs. */
export function isOnDisk({ scheme }: vscode.Uri): boolean {
  return scheme === 'file' || scheme === 'vscode-remote';
}
