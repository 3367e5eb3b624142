import { join } from 'node:path';
import * as vscode from 'vscode';
import { install, type Installation } from '../connect/installation.ts';
import { Attention } from './attention.ts';
import { Badge } from './badge.ts';
import { registerCommands } from './commands/register.ts';
import { ReadonlyTexts } from './connect/readonlyTexts.ts';
import { ContextKeys } from './contextKeys.ts';
import { ConversationTabs } from './conversationTabs.ts';
import { DoorKeeper } from './doors/doorKeeper.ts';
import { HubLink } from './hubLink.ts';
import { InboxView } from './inboxView.ts';
import { OnceAcrossWindows } from './onceAcrossWindows.ts';
import { KeptStates } from './page/keptStates.ts';
import type { PageParts } from './page/pageHost.ts';
import { Participant } from './participant.ts';
import { QuestionNotices } from './questionNotices.ts';
import { StatusDocument } from './statusDocument.ts';
import { StatusItem } from './statusItem.ts';
import { WindowHome } from './windowHome.ts';

/** This window's part in the bus, wired once. Nothing here waits: the views say so while there is no hub. */
export class Extension implements vscode.Disposable {
  private readonly parts: vscode.Disposable[];
  readonly output = vscode.window.createOutputChannel('Agent Bus', { log: true });

  constructor(context: vscode.ExtensionContext) {
    const { output } = this;
    const { version } = context.extension.packageJSON as { version: string };
    const installed = once(() => install({ from: join(context.extensionPath, 'dist'), version }));

    const link = new HubLink({
      version,
      mayStart: () => vscode.workspace.isTrusted && setting('autoStart'),
      hubScript: async () => (await installed()).hubScript,
      output,
    });
    const attention = new Attention(link);
    const home = new WindowHome(context, { version, output, installed });
    const kept = new KeptStates(join((context.storageUri ?? context.globalStorageUri).fsPath, 'pages.json'));
    const openTab = (conversation: string): void => tabs.open(conversation);
    const bin = async (): Promise<string> => (await installed()).bin;
    const pages: PageParts = { link, attention, home, output, openTab, kept, bin };
    const inbox = new InboxView(context.extensionUri, pages);
    const tabs = new ConversationTabs(context.extensionUri, pages);
    const texts = new ReadonlyTexts();
    const askedOnce = new OnceAcrossWindows(join(context.globalStorageUri.fsPath, 'asked'));
    const notices = new QuestionNotices({
      link,
      output,
      once: askedOnce,
      show: ({ conversation, id }, compose) =>
        inbox.show({ type: 'show', screen: 'conversation', conversation, message: id, ...(compose && { compose }) }),
    });

    this.parts = [
      output,
      kept,
      link,
      attention,
      home,
      inbox,
      tabs,
      notices,
      new DoorKeeper({ link, output, once: askedOnce, memory: context.globalState }),
      new ContextKeys(link, attention),
      new StatusItem({ link, attention, home }),
      new Badge(attention, inbox),
      new Participant({ link, output, icon: vscode.Uri.joinPath(context.extensionUri, 'media', 'icon.png') }),
      vscode.window.registerWebviewViewProvider(InboxView.id, inbox),
      vscode.window.registerWebviewPanelSerializer(ConversationTabs.id, tabs),
      vscode.workspace.registerTextDocumentContentProvider(StatusDocument.scheme, new StatusDocument()),
      texts,
      vscode.workspace.registerTextDocumentContentProvider(ReadonlyTexts.scheme, texts),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        link.begin();
        inbox.reload();
        tabs.reload();
      }),
      ...registerCommands({
        link,
        attention,
        inbox,
        tabs,
        home,
        output,
        installed,
        texts,
        extension: context.extensionPath,
      }),
    ];
    link.begin();
    home.start();
  }

  /** Everything closes, even if one of the parts fails to. */
  dispose(): void {
    for (const part of this.parts.reverse()) {
      try {
        part.dispose();
      } catch {
        // The window is going away; there is nobody left to tell.
      }
    }
  }
}

function setting(name: string): boolean {
  return vscode.workspace.getConfiguration('agentBus').get<boolean>(name, true);
}

/** One installation per window, but a failed one is tried again. */
function once(work: () => Promise<Installation>): () => Promise<Installation> {
  let running: Promise<Installation> | undefined;
  return () =>
    (running ??= work().catch((error: unknown) => {
      running = undefined;
      throw error;
    }));
}
