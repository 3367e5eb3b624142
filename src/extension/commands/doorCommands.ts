import * as vscode from 'vscode';
import { doorNames, type DoorName, type DoorView } from '../../protocol/doorMessages.ts';
import { readDoorSettings } from '../doors/doorSettings.ts';
import { requireTrust } from '../problems.ts';
import { plainLine } from '../window/plainLine.ts';
import type { CommandParts, Commands } from './parts.ts';

const meanings: Record<DoorName, { title: string; detail: string }> = {
  broker: {
    title: 'Broker',
    detail: 'Every agent-tool session on this machine takes the bus for its broker; each mailbox is an agent.',
  },
  frames: {
    title: 'Frames',
    detail: 'Takes what agent-tool sends straight to a host and port.',
  },
};

const openMeans: Record<DoorName, string> = {
  broker:
    'agent-tool’s protocol has no authentication: every program of every user of this machine can post under any name that is not an agent’s of the bus, and read every mailbox that was made through this door.',
  frames:
    'agent-tool’s protocol has no authentication: every program of every user of this machine can post to whoever gets what comes in.',
};

/** The doors for agent-tool. */
export function doorCommands({ link }: CommandParts): Commands {
  return {
    async setDoor() {
      requireTrust();
      const client = await link.connect();
      const { doors } = await client.request('status', {});
      const chosen = await vscode.window.showQuickPick(
        doorNames.flatMap((name) => doorItem(name, doors)),
        {
          title: 'Open or Close a Door for agent-tool',
          placeHolder: 'Both are closed until you open them',
        },
      );
      if (!chosen) return;
      const { door, open, on } = chosen.view;
      const isOn = on || open;
      if (!isOn && !(await isMeant(door))) return;
      // A door that the settings speak about is set there: every window would put it back otherwise.
      const configuration = vscode.workspace.getConfiguration('agentBus');
      if (readDoorSettings(configuration, door).enabled !== undefined) {
        await configuration.update(`doors.${door}.enabled`, !isOn, vscode.ConfigurationTarget.Global);
        return;
      }
      const view = await client.request('door', { door, on: !isOn });
      tell(view);
    },
  };
}

function doorItem(name: DoorName, doors: readonly DoorView[]): (vscode.QuickPickItem & { view: DoorView })[] {
  const view = doors.find(({ door }) => door === name);
  if (!view) return [];
  const { title, detail } = meanings[name];
  const isOn = view.on || view.open;
  return [
    {
      view,
      label: `$(${view.open ? 'unlock' : view.on ? 'warning' : 'lock'}) ${isOn ? 'Close' : 'Open'} ${title}`,
      description: stateText(view),
      detail: view.trouble ? plainLine(`${view.trouble.message} ${view.trouble.next}`, 200) : detail,
    },
  ];
}

function stateText({ on, open, bind, port, to }: DoorView): string {
  if (!on) return 'off';
  const whom = to === undefined ? '' : `, for ${plainLine(to, 60)}`;
  return `${open ? 'open' : 'on, but not open'} at ${plainLine(bind, 60)}:${port}${whom}`;
}

async function isMeant(door: DoorName): Promise<boolean> {
  const open = `Open ${meanings[door].title}`;
  const answer = await vscode.window.showWarningMessage(
    `Open the ${door} door for agent-tool?`,
    { modal: true, detail: openMeans[door] },
    open,
  );
  return answer === open;
}

function tell(view: DoorView): void {
  if (view.trouble && !view.open) {
    void vscode.window.showErrorMessage(
      `Agent Bus: the ${view.door} door is not open. ${plainLine(`${view.trouble.message} ${view.trouble.next}`, 300)}`,
    );
    return;
  }
  void vscode.window.showInformationMessage(`Agent Bus: the ${view.door} door is ${stateText(view)}.`);
}
