import type * as vscode from 'vscode';
import type { Installation } from '../../connect/installation.ts';
import type { Attention } from '../attention.ts';
import type { ReadonlyTexts } from '../connect/readonlyTexts.ts';
import type { ConversationTabs } from '../conversationTabs.ts';
import type { HubLink } from '../hubLink.ts';
import type { InboxView } from '../inboxView.ts';

/** What commands work with. */
export interface CommandParts {
  link: HubLink;
  attention: Attention;
  inbox: InboxView;
  tabs: ConversationTabs;
  home: { readonly agent: string | undefined };
  output: vscode.LogOutputChannel;
  installed: () => Promise<Installation>;
  texts: ReadonlyTexts;
  /** The folder of the extension itself. */
  extension: string;
}

/** A command by the name that follows `agentBus.`; what it throws is shown to the person. */
export type Commands = Record<string, (...args: unknown[]) => unknown>;
