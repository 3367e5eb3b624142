/** The person at an editor that is not there: answers by what is asked, and remembers what was said. */
import './fakeVscode.ts';
import type { TextDocumentContentProvider, Uri } from 'vscode';

const vscode = await import('vscode');

interface Item {
  label: string;
  description?: string;
  detail?: string;
  kind?: number;
}

interface Message {
  modal?: boolean;
  detail?: string;
}

type Button = string | { title: string };

export class ScriptedPerson {
  said: string[] = [];
  copied = '';
  items: Item[] = [];
  /** The titles of the lists, in the order in which they were shown. */
  lists: string[] = [];
  updated: unknown[][] = [];
  settings: Record<string, unknown> = {};
  /** What to choose: the first item (after "head of its group > ") or button that has this in it; texts to type. */
  choices: (string | (() => string))[] = [];
  inputs: (string | undefined)[] = [];
  boxes: { password?: boolean; title?: string }[] = [];
  /** What the editor was told to do, and the tabs that are open. */
  commands: unknown[][] = [];
  tabs: { label: string }[] = [];
  documents: Uri[] = [];
  folders: string[] = [];
  /** Who knows the texts that are shown. */
  texts: TextDocumentContentProvider | undefined;

  sit(): void {
    const choose = <T>(of: readonly T[], text: (one: T) => string): T | undefined => {
      const next = this.choices.shift();
      const wanted = typeof next === 'function' ? next() : next;
      return wanted === undefined ? undefined : of.find((one) => text(one).includes(wanted));
    };
    const message = async (text: string, ...rest: (Button | Message)[]): Promise<Button | undefined> => {
      const isButton = (one: Button | Message): one is Button => typeof one === 'string' || 'title' in one;
      const details = rest.flatMap((one) => (isButton(one) ? [] : [one.detail ?? '']));
      const buttons = rest.filter(isButton);
      this.said.push([text, ...details].join(' '));
      const title = (button: Button): string => (typeof button === 'string' ? button : button.title);
      return buttons.length === 0 ? undefined : choose(buttons, title);
    };
    const { workspace, window } = vscode;
    Object.assign(workspace, {
      isTrusted: true,
      workspaceFolders: this.folders.map((folder) => ({ uri: vscode.Uri.file(folder) })),
      onDidCloseTextDocument: () => ({ dispose: () => undefined }),
      getConfiguration: () => ({
        inspect: (name: string) => ({ globalValue: this.settings[name] }),
        update: async (...args: unknown[]) => void this.updated.push(args),
      }),
    });
    Object.assign(window, {
      showQuickPick: async (items: Item[], { title, placeHolder }: { title?: string; placeHolder?: string } = {}) => {
        this.lists.push(title ?? placeHolder ?? '');
        this.items = items;
        const heads = items.map((_, at) => items.slice(0, at).findLast(({ kind }) => kind !== undefined)?.label ?? '');
        const open = items.map((item, at) => ({ item, text: `${heads[at]} > ${item.label}` }));
        return choose(
          open.filter(({ item }) => item.kind === undefined),
          ({ text }) => text,
        )?.item;
      },
      showInputBox: async (box: ScriptedPerson['boxes'][number]) => (this.boxes.push(box), this.inputs.shift()),
      showTextDocument: async (uri: Uri) => void this.documents.push(uri),
      showInformationMessage: message,
      showWarningMessage: message,
      showErrorMessage: message,
      withProgress: async (_options: unknown, work: () => unknown) => work(),
      tabGroups: {
        all: [{ tabs: this.tabs }],
        activeTabGroup: { activeTab: { isPreview: true } },
        close: async (gone: { label: string }[]) => {
          for (const tab of gone) this.tabs.splice(this.tabs.indexOf(tab), 1);
        },
      },
    });
    Object.assign(vscode.commands, {
      executeCommand: async (...args: unknown[]) => {
        this.commands.push(args);
        if (args[0] === 'vscode.changes') this.tabs.push({ label: `${String(args[1])} (2 files)` });
      },
    });
    Object.assign(vscode.env, { clipboard: { writeText: async (text: string) => void (this.copied = text) } });
  }

  /** What stands in a text that was shown. */
  read(uri: Uri | undefined): string {
    if (!uri || !this.texts) throw new Error('no such text was shown');
    return this.texts.provideTextDocumentContent(uri, {} as never) as string;
  }

  item(label: string): Item {
    const found = this.items.find((one) => one.label.includes(label));
    if (!found) throw new Error(`"${label}" is not among ${this.items.map((one) => one.label).join(', ')}`);
    return found;
  }
}
