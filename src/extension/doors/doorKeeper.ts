import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { BusClient } from '../../client/busClient.ts';
import { errorShape, type ErrorShape } from '../../core/errors.ts';
import { doorNames, type DoorName, type DoorView } from '../../protocol/doorMessages.ts';
import type { HubLink } from '../hubLink.ts';
import type { OnceAcrossWindows } from '../onceAcrossWindows.ts';
import { plainLine } from '../window/plainLine.ts';
import { doorWish, readDoorSettings, type DoorSettings } from './doorSettings.ts';

interface Parts {
  link: Pick<HubLink, 'onState' | 'current' | 'state'>;
  once: Pick<OnceAcrossWindows, 'claim'>;
  /** Remembers across windows which doors a setting has opened. */
  memory: Pick<vscode.Memento, 'get' | 'update'>;
  output: Pick<vscode.LogOutputChannel, 'info' | 'warn'>;
}

const memoryKey = 'doors.opened';
const settingsButton = 'Open Settings';
/** Windows that see the same trouble at about the same time tell it once. */
const togetherMs = 60_000;

/** Keeps the hub's doors as the person has set them, and says once what keeps them shut. */
export class DoorKeeper implements vscode.Disposable {
  private readonly parts: Parts;
  private readonly subscriptions: vscode.Disposable[];
  private readonly told = new Map<DoorName, string>();
  private last: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.parts = parts;
    this.subscriptions = [
      parts.link.onState((state) => {
        if (state === 'connected') void this.apply();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration('agentBus.doors')) return;
        this.told.clear();
        void this.apply();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.apply()),
    ];
    if (parts.link.state === 'connected') void this.apply();
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
  }

  /** One after the other, so that the last change of a setting is the one that stays. */
  apply(): Promise<void> {
    this.last = this.last.then(async () => {
      const client = this.parts.link.current;
      if (!client || !vscode.workspace.isTrusted) return;
      for (const door of doorNames) await this.settle(client, door);
    });
    return this.last;
  }

  private async settle(client: BusClient, door: DoorName): Promise<void> {
    try {
      const settings = readDoorSettings(vscode.workspace.getConfiguration('agentBus'), door);
      const wasOpened = this.opened().includes(door);
      // The usual case: nobody has set anything, and nothing is asked.
      if (Object.keys(settings).length === 0 && !wasOpened) return;
      const before = (await client.request('status', {})).doors.find((view) => view.door === door);
      const wish = before && doorWish(before, settings, wasOpened);
      // A hub that dies in the middle may have opened it: what is opened is noted before, what is closed after.
      if (settings.enabled) await this.remember(door, true);
      const view = wish ? await client.request('door', wish) : before;
      if (!settings.enabled) await this.remember(door, false);
      if (wish) this.parts.output.info(`The ${door} door is ${view?.open ? `open on port ${view.port}` : 'closed'}.`);
      if (view) await this.tellTrouble(view, settings);
    } catch (error) {
      // A hub that is gone is the link's affair; the doors are looked at again when it is back.
      if (this.parts.link.current === client) await this.tell(door, errorShape(error));
    }
  }

  private async tellTrouble(view: DoorView, settings: DoorSettings): Promise<void> {
    if (settings.enabled && !view.open && view.trouble) await this.tell(view.door, view.trouble);
    else this.told.delete(view.door);
  }

  private async tell(door: DoorName, { message, next }: Pick<ErrorShape, 'message' | 'next'>): Promise<void> {
    this.parts.output.warn(`The ${door} door: ${message} ${next}`);
    if (this.told.get(door) === message) return;
    this.told.set(door, message);
    const mark = createHash('sha256').update(message).digest('hex').slice(0, 16);
    if (!(await this.parts.once.claim(`door-${door}-${mark}-${Math.floor(Date.now() / togetherMs)}`))) return;
    const text = `Agent Bus: the ${door} door is not as you have set it. ${plainLine(`${message} ${next}`, 300)}`;
    void vscode.window.showErrorMessage(text, settingsButton).then((chosen) => {
      if (chosen !== settingsButton) return;
      void vscode.commands.executeCommand('workbench.action.openSettings', `agentBus.doors.${door}`);
    });
  }

  private opened(): DoorName[] {
    return this.parts.memory.get<DoorName[]>(memoryKey, []);
  }

  private async remember(door: DoorName, isOpened: boolean): Promise<void> {
    const before = this.opened();
    if (before.includes(door) === isOpened) return;
    const others = before.filter((name) => name !== door);
    await this.parts.memory.update(memoryKey, isOpened ? [...others, door] : others);
  }
}
