import * as vscode from 'vscode';
import { requireTrust } from '../problems.ts';
import { messageItem, pickConversation } from './picks.ts';
import type { CommandParts, Commands } from './parts.ts';

/** Everything that puts something on the screen of the inbox. */
export function conversationCommands({ link, attention, inbox, tabs }: CommandParts): Commands {
  /** The conversation of the tab in front, or the one that the person picks. */
  const chosen = async (title: string): Promise<string | undefined> => {
    if (tabs.active !== undefined) return tabs.active;
    return (await pickConversation(await link.connect(), title))?.id;
  };

  return {
    openInbox: () => inbox.show({ type: 'show', screen: 'inbox' }),

    async newMessage(to) {
      requireTrust();
      await inbox.show({ type: 'show', screen: 'compose', ...(typeof to === 'string' && { to: [to] }) });
    },

    search: () => inbox.show({ type: 'show', screen: 'inbox', search: true }),

    showQuestions: () => inbox.show({ type: 'show', screen: 'inbox', filter: 'waiting' }),

    async openConversation() {
      const entry = await pickConversation(await link.connect(), 'Open Conversation');
      if (entry) await inbox.show({ type: 'show', screen: 'conversation', conversation: entry.id });
    },

    async openConversationInTab() {
      const entry = await pickConversation(await link.connect(), 'Open Conversation in Editor');
      if (entry) tabs.open(entry.id);
    },

    async replyToQuestion() {
      requireTrust();
      const questions = await attention.questions();
      const last = questions.at(-1);
      if (!last) {
        void vscode.window.showInformationMessage('Agent Bus: nobody waits for an answer of yours.');
        return;
      }
      const only = questions.length === 1 ? last : undefined;
      const items = questions.reverse().map((question) => messageItem(question, ''));
      const message =
        only ?? (await vscode.window.showQuickPick(items, { title: 'Which question do you want to answer?' }))?.message;
      if (!message) return;
      const { conversation, id } = message;
      await inbox.show({ type: 'show', screen: 'conversation', conversation, message: id, compose: true });
    },

    async showPicture() {
      const conversation = await chosen('Show Conversation as Picture');
      if (conversation === undefined) return;
      await inbox.show({ type: 'show', screen: 'conversation', conversation, picture: true });
    },

    async markAllRead() {
      requireTrust();
      const client = await link.connect();
      for (let cursor: string | undefined, page = 0; page < 300; page++) {
        const { data } = await client.call('inbox', { filter: 'new', limit: 100, cursor });
        client.shown(data.messages.map(({ id }) => id));
        cursor = data.next;
        if (cursor === undefined) return;
      }
    },
  };
}
