import * as vscode from 'vscode';
import type { Change } from '../../connect/plan.ts';
import type { ReadonlyTexts } from './readonlyTexts.ts';

/** Shows the files as they are and as they would be, all in one tab. @returns what closes it again */
export async function previewChanges(
  texts: ReadonlyTexts,
  title: string,
  changes: readonly Change[],
): Promise<() => Promise<void>> {
  const side = (path: string, bytes: Buffer | undefined): vscode.Uri | undefined =>
    bytes && texts.add(path, bytes.toString());
  const { tabGroups } = vscode.window;
  // The tab is one that the next takes the place of, and so may be the person's: theirs is kept.
  if (tabGroups.activeTabGroup.activeTab?.isPreview) {
    await vscode.commands.executeCommand('workbench.action.keepEditor');
  }
  await vscode.commands.executeCommand(
    'vscode.changes',
    title,
    changes.map(({ path, before, after }) => [vscode.Uri.file(path), side(path, before), side(path, after)]),
  );
  return async () => {
    // The editor adds the number of files to the title.
    const tabs = tabGroups.all.flatMap((group) => group.tabs).filter(({ label }) => label.startsWith(title));
    await tabGroups.close(tabs, true);
  };
}
