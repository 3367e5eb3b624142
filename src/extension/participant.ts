import * as vscode from 'vscode';
import type { BusClient } from '../client/busClient.ts';
import { BusError } from '../core/errors.ts';
import { limits, namePattern } from '../core/limits.ts';
import type { MessageView } from '../core/model.ts';
import type { HubLink } from './hubLink.ts';
import { requireTrust, shapeOf } from './problems.ts';
import { escaped, quotedBlock } from './quoted.ts';

interface Parts {
  link: HubLink;
  output: vscode.LogOutputChannel;
  icon: vscode.Uri;
}

interface BusResult extends vscode.ChatResult {
  metadata?: { followups: vscode.ChatFollowup[] };
}

const help = `I carry messages between you and the agents on this machine. No model is involved: what you write goes out as you wrote it.

- \`@bus /agents\`: who is here, and how each can be reached
- \`@bus /ask NAME your question\`: asks that agent and waits up to ${limits.waitSeconds} seconds for the answer
- \`@bus /inbox\`: what others wrote to you

Everything else is in the [inbox](command:agentBus.openInbox).`;

/** `@bus` in the chat: the person's own hands on the bus, without leaving the keyboard. */
export class Participant implements vscode.Disposable {
  static readonly id = 'agentBus.bus';
  private readonly parts: Parts;
  private readonly participant: vscode.ChatParticipant;

  constructor(parts: Parts) {
    this.parts = parts;
    this.participant = vscode.chat.createChatParticipant(Participant.id, (request, _context, stream, token) =>
      this.answer(request, stream, token),
    );
    this.participant.iconPath = parts.icon;
    this.participant.followupProvider = {
      provideFollowups: (result) => (result as BusResult).metadata?.followups ?? [],
    };
  }

  dispose(): void {
    this.participant.dispose();
  }

  private async answer(
    request: vscode.ChatRequest,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<BusResult> {
    try {
      switch (request.command) {
        case 'agents':
          return await agents(await this.parts.link.connect(), stream);
        case 'inbox':
          return await inbox(await this.parts.link.connect(), stream);
        case 'ask':
          requireTrust();
          return await ask(await this.parts.link.connect(), request.prompt, stream, token);
        default:
          stream.markdown(ownMarkdown(help));
          return { metadata: { followups: [{ prompt: '', command: 'agents', label: 'Who is on the bus?' }] } };
      }
    } catch (error) {
      if (token.isCancellationRequested) return {};
      const { message, next } = shapeOf(error, this.parts.output);
      return { errorDetails: { message: `${message} ${next}` } };
    }
  }
}

async function agents(client: BusClient, stream: vscode.ChatResponseStream): Promise<BusResult> {
  const { data } = await client.call('agents', { limit: 50 });
  if (data.agents.length === 0) {
    stream.markdown('Nobody else is on the bus yet.\n\n');
    stream.button({ command: 'agentBus.connectAgent', title: 'Connect an Agent' });
    return {};
  }
  for (const { name, presence, workspace, about, reach } of data.agents) {
    const where = workspace === undefined ? '' : ` in ${escaped(workspace)}`;
    const what = about === undefined ? '' : `: ${escaped(about)}`;
    stream.markdown(
      `- **${escaped(name)}** is ${presence}${where}${what} *(hears by ${escaped(reach.join(', then '))})*\n`,
    );
  }
  if (data.next !== undefined) stream.markdown('\nThere are more: see “Agent Bus: Show Agents”.\n');
  const present = data.agents.filter(({ presence }) => presence !== 'offline').slice(0, 3);
  return {
    metadata: {
      followups: present.map(({ name }) => ({
        prompt: `${name} What are you working on?`,
        command: 'ask',
        label: `Ask ${name} what it is working on`,
      })),
    },
  };
}

async function inbox(client: BusClient, stream: vscode.ChatResponseStream): Promise<BusResult> {
  const { data } = await client.call('inbox', { filter: 'open', limit: 10 });
  if (data.messages.length === 0) stream.markdown('Nothing waits for you.\n\n');
  for (const message of data.messages) showMessage(message, stream);
  if (data.next !== undefined) stream.markdown('\nThere is more in the inbox.\n\n');
  client.shown(data.messages.map(({ id }) => id));
  stream.button({ command: 'agentBus.openInbox', title: 'Open Inbox' });
  return {};
}

async function ask(
  client: BusClient,
  prompt: string,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<BusResult> {
  const [, name = '', text = ''] = /^\s*@?(\S+)\s*(.*)$/s.exec(prompt) ?? [];
  if (!namePattern.test(name) || text.trim() === '') {
    throw new BusError('usage', 'Say whom to ask, and what.', {
      next: 'For example: @bus /ask shop-api-copilot Which port is free?',
    });
  }
  stream.progress(`Waiting for ${name}, up to ${limits.waitSeconds} seconds…`);
  const aborting = new AbortController();
  const cancelled = token.onCancellationRequested(() => aborting.abort());
  try {
    const args = { to: name, text: text.trim(), kind: 'request', wait_seconds: limits.waitSeconds } as const;
    const { data, shown } = await client.call('send', args, aborting.signal);
    if (data.answer) {
      showMessage(data.answer, stream);
      client.shown(shown);
      return { metadata: { followups: [{ prompt: `${name} `, command: 'ask', label: `Ask ${name} something else` }] } };
    }
    const [recipient] = data.recipients;
    const presence = recipient
      ? ` It is ${recipient.presence} and hears by: ${escaped(recipient.reach.join(', then '))}.`
      : '';
    stream.markdown(`No answer yet; the question stays open and the answer comes to your inbox.${presence}\n\n`);
    stream.button({ command: 'agentBus.openInbox', title: 'Open Inbox' });
    return { metadata: { followups: [{ prompt: '', command: 'inbox', label: 'Is there an answer by now?' }] } };
  } finally {
    cancelled.dispose();
  }
}

function showMessage(message: MessageView, stream: vscode.ChatResponseStream): void {
  const verb = { request: 'asks', inform: 'says', reply: 'answers' }[message.kind];
  const where = message.workspace === undefined ? '' : ` (${escaped(message.workspace)})`;
  stream.markdown(`**${escaped(message.from)}**${where} ${verb}, ${new Date(message.sent_at).toLocaleString()}:\n\n`);
  stream.markdown(`${quotedBlock(message.text)}\n\n`);
}

/** Only our own words may contain links to commands. */
function ownMarkdown(text: string): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString(text);
  markdown.isTrusted = { enabledCommands: ['agentBus.openInbox'] };
  return markdown;
}
