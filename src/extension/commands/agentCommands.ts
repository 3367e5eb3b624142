import * as vscode from 'vscode';
import type { BusClient } from '../../client/busClient.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentView } from '../../core/model.ts';
import { requireTrust } from '../problems.ts';
import { plainLine } from '../window/plainLine.ts';
import { pickAgent } from './picks.ts';
import type { CommandParts, Commands } from './parts.ts';

interface Action extends vscode.QuickPickItem {
  run(): Promise<unknown>;
}

export function agentCommands({ link, inbox }: CommandParts): Commands {
  const actions = (client: BusClient, agent: AgentView): Action[] => [
    {
      label: '$(comment) New Message',
      run: async () => {
        requireTrust();
        await inbox.show({ type: 'show', screen: 'compose', to: [agent.name] });
      },
    },
    {
      label: '$(comment-discussion) Open Conversation',
      run: async () => {
        const { data } = await client.call('conversation', { with: agent.name, limit: 1 });
        if (!('conversation' in data)) return;
        await inbox.show({ type: 'show', screen: 'conversation', conversation: data.conversation.id });
      },
    },
    { label: '$(pulse) Ping', run: () => ping(client, agent) },
    { label: '$(copy) Copy Name', run: async () => vscode.env.clipboard.writeText(agent.name) },
    { label: '$(trash) Remove From the Bus…', run: () => remove(client, agent) },
  ];

  return {
    async showAgents() {
      const client = await link.connect();
      const agent = await pickAgent(client, 'Agents on the Bus');
      if (!agent) return;
      const chosen = await vscode.window.showQuickPick(actions(client, agent), { title: agent.name });
      await chosen?.run();
    },

    async sendSelection() {
      requireTrust();
      const editor = vscode.window.activeTextEditor;
      if (!editor || editor.selection.isEmpty) {
        throw new BusError('usage', 'Nothing is selected.', { next: 'Select some text in an editor first.' });
      }
      const { document, selection } = editor;
      const client = await link.connect();
      const agent = await pickAgent(client, 'Send Selection to Agent');
      if (!agent) return;
      const note = await vscode.window.showInputBox({
        title: `Send Selection to ${agent.name}`,
        prompt: 'What about it? Leave it empty to send the selection as information only.',
      });
      if (note === undefined) return;
      const text = selectionText(note, document, selection);
      const { data } = await client.call('send', {
        to: agent.name,
        text,
        kind: note.trim() === '' ? 'inform' : 'request',
        ...(document.uri.scheme === 'file' && { files: [document.uri.fsPath] }),
      });
      await inbox.show({ type: 'show', screen: 'conversation', conversation: data.conversation });
    },
  };
}

export function selectionText(
  note: string,
  document: Pick<vscode.TextDocument, 'uri' | 'languageId' | 'getText'>,
  selection: vscode.Range,
): string {
  const code = document.getText(selection);
  const ticks = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length)) + 1;
  const fence = '`'.repeat(ticks);
  const { start, end } = selection;
  const lines = start.line === end.line ? `${start.line + 1}` : `${start.line + 1}–${end.line + 1}`;
  const place = `${vscode.workspace.asRelativePath(document.uri)}:${start.line + 1}`;
  return [
    ...(note.trim() === '' ? [] : [note.trim(), '']),
    `From \`${place}\` (line${start.line === end.line ? '' : 's'} ${lines}):`,
    '',
    `${fence}${document.languageId}`,
    code,
    fence,
  ].join('\n');
}

async function ping(client: BusClient, agent: AgentView): Promise<void> {
  const { data } = await client.call('ping', { to: agent.name });
  const silence = data.trouble ? `did not answer: ${plainLine(data.trouble, 200)}` : 'is not connected at this moment';
  const speed = data.rtt_ms === null ? silence : `answered in ${data.rtt_ms} ms`;
  const ways = (data.name === undefined ? agent : data).reach.map((way) => plainLine(way, 60)).join(', then ');
  void vscode.window.showInformationMessage(`Agent Bus: ${agent.name} ${speed}. It would hear by: ${ways}.`);
}

async function remove(client: BusClient, agent: AgentView): Promise<void> {
  requireTrust();
  const answer = await vscode.window.showWarningMessage(
    `Remove ${agent.name} from the bus?`,
    { modal: true, detail: 'Its tokens stop working and open requests to it fail. Its messages stay.' },
    'Remove',
  );
  if (answer === 'Remove') await client.request('remove', { name: agent.name });
}
