import * as vscode from 'vscode';
import type { BusClient } from '../../client/busClient.ts';
import type { AgentReach, ConsentView } from '../../protocol/reachMessages.ts';
import type { StoryMessage } from '../../protocol/storyMessages.ts';
import { requireTrust } from '../problems.ts';
import { placeName, plainLine } from '../window/plainLine.ts';
import { messageItem } from './picks.ts';
import type { CommandParts, Commands } from './parts.ts';

/** So many conversations, and so many messages of each, are searched for messages that wait. */
const searched = { conversations: 40, messages: 50 };

/** Who is woken, when, and who may wake whom. */
export function deliveryCommands({ link }: CommandParts): Commands {
  const pause = (on: boolean) => async () => {
    requireTrust();
    await (await link.connect()).request('pause', { on });
  };

  return {
    pause: pause(true),
    resume: pause(false),

    async deliverNow() {
      requireTrust();
      const client = await link.connect();
      const waiting = await undelivered(client);
      if (waiting.length === 0) {
        void vscode.window.showInformationMessage('Agent Bus: no message is held or waits for an idle agent.');
        return;
      }
      const chosen = await vscode.window.showQuickPick(
        waiting.map((message) => messageItem(message, fateText(message))),
        { title: 'Deliver Now', placeHolder: 'Which message should be put in front of its agent?' },
      );
      if (chosen) await client.request('release', { id: chosen.message.id, verdict: 'once' });
    },

    async wakePermissions() {
      const client = await link.connect();
      const consents = await client.request('consents', {});
      if (consents.length === 0) {
        void vscode.window.showInformationMessage(
          'Agent Bus: you have not decided about any pair of workspaces yet. You are asked the first time an agent of one would wake an agent of another.',
        );
        return;
      }
      const chosen = await vscode.window.showQuickPick(consents.map(consentItem), {
        title: 'Wake Permissions',
        placeHolder: 'Choose one to forget: you are asked again the next time',
      });
      if (!chosen) return;
      requireTrust();
      const { from, to } = chosen.consent;
      await client.request('forget', { from, to });
      void vscode.window.showInformationMessage(`Agent Bus: forgotten. ${chosen.label} is asked again.`);
    },

    async allowTyping() {
      requireTrust();
      const client = await link.connect();
      const inTerminals = (await client.request('reach', {})).filter(({ typing }) => typing !== undefined);
      if (inTerminals.length === 0) {
        void vscode.window.showInformationMessage(
          'Agent Bus: no agent is known to run in a terminal of VS Code. Connect it to the bus, then start it in one.',
        );
        return;
      }
      const chosen = await vscode.window.showQuickPick(inTerminals.map(typingItem), {
        title: 'Allow Typing into an Agent’s Terminal',
        placeHolder: 'Check those that may be woken by a line typed into their idle and empty prompt',
        canPickMany: true,
      });
      if (!chosen) return;
      for (const { agent, typing } of inTerminals) {
        const on = chosen.some((item) => item.reach.agent === agent);
        if (on !== typing) await client.request('typing', { agent, on });
      }
    },
  };
}

function typingItem(reach: AgentReach): vscode.QuickPickItem & { reach: AgentReach } {
  const { agent, workspace, typing, idle } = reach;
  const ways = idle.how === undefined ? idle.blocked : `by ${idle.how}`;
  return {
    reach,
    label: agent,
    picked: typing === true,
    description: placeName(workspace) ?? '',
    detail: `While it is idle: ${plainLine(ways ?? 'not known', 120)}`,
  };
}

function consentItem(consent: ConsentView): vscode.QuickPickItem & { consent: ConsentView } {
  const { from, to, verdict, at } = consent;
  const icon = verdict === 'always' ? '$(check)' : '$(circle-slash)';
  return {
    consent,
    label: `${icon} ${placeName(from) ?? 'no workspace'} → ${placeName(to) ?? 'no workspace'}`,
    description: verdict === 'always' ? 'may always wake' : 'never wakes',
    detail: `${from} → ${to} · decided ${new Date(at).toLocaleString()}`,
  };
}

/** Held messages first, then those that lie in the inbox of an agent that has not looked. */
async function undelivered(client: BusClient): Promise<StoryMessage[]> {
  const { conversations } = await client.request('overview', { filter: 'all', limit: searched.conversations });
  const found: StoryMessage[] = [];
  for (const { id } of conversations) {
    const { messages } = await client.request('story', { conversation: id, limit: searched.messages });
    found.push(...messages.filter((message) => rank(message) > 0));
  }
  return found.sort((a, b) => rank(b) - rank(a) || b.sent_at.localeCompare(a.sent_at));
}

function rank({ fates, kind, from }: StoryMessage): number {
  if (fates.some(({ step }) => step === 'held')) return 2;
  const unseen = fates.some(
    ({ agent, step }) => agent !== from && agent !== 'person' && (step === 'stored' || step === 'offered'),
  );
  return unseen && kind === 'request' ? 1 : 0;
}

function fateText({ fates }: StoryMessage): string {
  return fates.map(({ agent, step }) => `${agent}: ${step}`).join(', ');
}
