/** The lists from which a person chooses an agent or a conversation. */
import * as vscode from 'vscode';
import type { BusClient } from '../../client/busClient.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentView, MessageView, Presence } from '../../core/model.ts';
import type { OverviewEntry, OverviewFilter } from '../../protocol/storyMessages.ts';
import { plainLine } from '../window/plainLine.ts';

const presenceIcons: Record<Presence, string> = {
  working: '$(loading)',
  idle: '$(circle-filled)',
  waiting: '$(watch)',
  offline: '$(circle-outline)',
};

const mostListed = 1_000;

export async function readAgents(client: BusClient): Promise<AgentView[]> {
  const found: AgentView[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await client.call('agents', { limit: 100, cursor });
    found.push(...data.agents);
    cursor = data.next;
  } while (cursor !== undefined && found.length < mostListed);
  const rank = ({ presence }: AgentView): number => (presence === 'offline' ? 1 : 0);
  return found.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

export function agentItem(agent: AgentView): vscode.QuickPickItem & { agent: AgentView } {
  const doing = agent.doing === undefined ? '' : ` (${plainLine(agent.doing, 60)})`;
  const where = agent.workspace === undefined ? '' : ` in ${plainLine(agent.workspace, 60)}`;
  const about = agent.about === undefined ? '' : `${plainLine(agent.about, 120)} · `;
  const address = agent.address === undefined ? '' : ` at ${plainLine(agent.address, 100)}`;
  const open = agent.open ? ', open to A2A' : '';
  return {
    agent,
    label: `${presenceIcons[agent.presence]} ${agent.name}`,
    description: `${agent.presence}${doing}${where}${address}${open}`,
    detail: `${about}hears by: ${agent.reach.map((way) => plainLine(way, 60)).join(', then ')}`,
  };
}

export async function pickAgent(
  client: BusClient,
  title: string,
  fits: (agent: AgentView) => boolean = () => true,
): Promise<AgentView | undefined> {
  const agents = (await readAgents(client)).filter(fits);
  if (agents.length === 0) throw nobody();
  const chosen = await vscode.window.showQuickPick(agents.map(agentItem), {
    title,
    placeHolder: 'Name, workspace or description',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.agent;
}

export async function pickConversation(
  client: BusClient,
  title: string,
  filter: OverviewFilter = 'all',
): Promise<OverviewEntry | undefined> {
  const found: OverviewEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.request('overview', { filter, limit: 500, ...(cursor !== undefined && { cursor }) });
    found.push(...page.conversations);
    cursor = page.next;
  } while (cursor !== undefined && found.length < mostListed);
  if (found.length === 0) {
    throw new BusError('unknown-conversation', 'There is no conversation yet.', {
      next: 'Write the first message with “Agent Bus: New Message”.',
    });
  }
  const chosen = await vscode.window.showQuickPick(found.map(conversationItem), {
    title,
    placeHolder: 'Title, member or last message',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.entry;
}

function conversationItem(entry: OverviewEntry): vscode.QuickPickItem & { entry: OverviewEntry } {
  const icon = entry.waiting > 0 ? '$(comment-unresolved)' : entry.unread > 0 ? '$(mail)' : '$(comment)';
  const last = entry.last ? `${entry.last.from}: ${plainLine(entry.last.line, 120)}` : '';
  return {
    entry,
    label: `${icon} ${plainLine(entry.title, 80)}`,
    description: [
      entry.waiting > 0 ? 'waits for you' : '',
      entry.unread > 0 ? `${entry.unread} unread` : '',
      new Date(entry.last_at).toLocaleString(),
    ]
      .filter(Boolean)
      .join(' · '),
    detail: last,
  };
}

export function messageItem(
  message: MessageView,
  description: string,
): vscode.QuickPickItem & { message: MessageView } {
  return {
    message,
    label: plainLine(message.text, 100),
    description,
    detail: `${message.from} → ${message.to.join(', ')} · ${new Date(message.sent_at).toLocaleString()}`,
  };
}

function nobody(): BusError {
  return new BusError('unknown-agent', 'Nobody else is on the bus yet.', {
    next: 'Connect an agent first: “Agent Bus: Connect an Agent…”.',
  });
}
