import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { assertStill, fileName } from './pictureFile.ts';

/** Lets the person choose where a picture goes, and writes it there. */
export async function savePicture(svg: string, name: string): Promise<void> {
  assertStill(svg);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
  const target = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(folder, `${fileName(name)}.svg`),
    filters: { 'SVG picture': ['svg'] },
    title: 'Save the picture of this conversation',
  });
  if (!target) return;
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(svg));
  const open = 'Open';
  void vscode.window.showInformationMessage('Agent Bus: the picture is saved.', open).then((chosen) => {
    if (chosen === open) void vscode.commands.executeCommand('vscode.open', target);
  });
}
