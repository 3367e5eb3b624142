import * as vscode from 'vscode';
import type { AgentView } from '../../core/model.ts';
import type { RemoteParams } from '../../protocol/doorMessages.ts';
import { requireTrust } from '../problems.ts';
import { plainLine } from '../window/plainLine.ts';
import { pickAgent } from './picks.ts';
import type { CommandParts, Commands } from './parts.ts';

const write = 'New Message';

/** Agents elsewhere, and agents of here for others. */
export function a2aCommands({ link, inbox }: CommandParts): Commands {
  return {
    async addA2aAgent() {
      requireTrust();
      const url = await vscode.window.showInputBox({
        title: 'Add an A2A Agent',
        prompt: 'Where is it? Its card is read there, and it gets a name on the bus.',
        placeHolder: 'https://…',
        ignoreFocusOut: true,
        validateInput: (text) =>
          isWebAddress(text) || text.trim() === '' ? undefined : 'An address with http:// or https://',
      });
      if (url === undefined || url.trim() === '') return;
      const secret = await askSecret();
      if (secret === 'cancelled') return;
      const client = await link.connect();
      const { agent, known } = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: 'Agent Bus: reading the agent’s card…' },
        () => client.request('remote', { url: url.trim(), ...(secret && { secret }) }),
      );
      const chosen = await vscode.window.showInformationMessage(addedText(agent, known), write);
      if (chosen === write) await inbox.show({ type: 'show', screen: 'compose', to: [agent.name] });
    },

    async letOthersAsk() {
      requireTrust();
      const client = await link.connect();
      const agent = await pickAgent(client, 'Let Others Ask an Agent over A2A', isOfThisBus);
      if (!agent) return;
      if (agent.open) {
        const address = { label: '$(copy) Copy Its Address' };
        const close = { label: '$(lock) Let Nobody Ask It Any More' };
        const chosen = await vscode.window.showQuickPick([address, close], { title: `${agent.name} is open to A2A` });
        if (chosen === undefined) return;
        if (chosen === close) {
          await client.request('open', { name: agent.name, on: false });
          void vscode.window.showInformationMessage(`Agent Bus: ${agent.name} can’t be asked over A2A any more.`);
          return;
        }
      }
      const { url = '' } = await client.request('open', { name: agent.name, on: true });
      await vscode.env.clipboard.writeText(url);
      void vscode.window.showInformationMessage(
        `Agent Bus: ${agent.name} can be asked over A2A from this machine; its address is copied. Whoever asks needs a token: “agent-bus register CALLER” in a terminal makes one.`,
      );
    },
  };
}

type Secret = RemoteParams['secret'];

/** A secret goes with every request to that agent, and is shown nowhere. */
async function askSecret(): Promise<Secret | 'cancelled'> {
  const none = { label: '$(unlock) None', description: 'the agent lets everybody ask' };
  const bearer = { label: '$(key) A Bearer Token', description: 'sent as Authorization: Bearer …' };
  const header = { label: '$(key) An API Key', description: 'in a header that the agent names' };
  const title = 'Which secret does it want?';
  const chosen = await vscode.window.showQuickPick([none, bearer, header], { title, ignoreFocusOut: true });
  if (chosen === none) return undefined;
  if (chosen === undefined) return 'cancelled';
  const name =
    chosen === bearer
      ? 'Authorization'
      : await vscode.window.showInputBox({
          title: 'The header’s name',
          value: 'X-API-Key',
          ignoreFocusOut: true,
          validateInput: (text) =>
            /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(text) ? undefined : 'A name such as X-API-Key',
        });
  if (name === undefined) return 'cancelled';
  const value = await vscode.window.showInputBox({
    title: chosen === bearer ? 'The token' : 'The key',
    prompt: 'Kept by the hub in its data folder, and sent to this agent only.',
    password: true,
    ignoreFocusOut: true,
  });
  if (value === undefined || value.trim() === '') return 'cancelled';
  return { header: name, value: chosen === bearer ? `Bearer ${value.trim()}` : value.trim() };
}

/** What the card says is somebody else's text. */
function addedText({ name, about, skills = [] }: AgentView, known: boolean): string {
  const says = about === undefined ? '' : ` It says of itself: “${plainLine(about, 160)}”.`;
  const list = skills.slice(0, 5).map((skill) => plainLine(skill, 40));
  const can = list.length === 0 ? '' : ` Skills: ${list.join(', ')}${skills.length > list.length ? ', …' : ''}.`;
  return `Agent Bus: ${name} ${known ? 'was on the bus already; its card was read again' : 'is on the bus'}.${says}${can}`;
}

function isOfThisBus({ kind, address }: AgentView): boolean {
  return kind !== 'person' && address === undefined;
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text.trim()) && /^https?:$/.test(new URL(text.trim()).protocol);
}
