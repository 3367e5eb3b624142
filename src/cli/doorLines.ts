import type { DoorName, DoorView } from '../protocol/doorMessages.ts';
import { visibleLine } from './terminalText.ts';

/** What each door is, for somebody who sees its name for the first time. */
export const doorMeanings: Record<DoorName, string> = {
  frames: 'messages sent straight to this machine by agent-tool',
  broker: 'mailboxes for the agent-tool sessions of this machine',
};

/** The protocol behind both doors knows no password: whoever opens one has to hear that. */
const warnings: Record<DoorName, string> = {
  frames:
    'frames: there is no authentication. Whoever can reach the port can post: every program of every user of this\n' +
    'machine, and the peers.',
  broker:
    'broker: there is no authentication. Every program of every user of this machine can post under any name that is\n' +
    'not an agent’s of this bus, and read every mailbox that was made through this door.',
};

export function doorWarnings(doors: readonly DoorView[]): string[] {
  const open = doors.filter((view) => view.open);
  return open.length === 0 ? [] : ['', ...open.map((view) => warnings[view.door])];
}

/** One door as a person reads it: what it is, whether it is open, and what keeps it shut. */
export function doorLines(view: DoorView): string {
  return [`${view.door.padEnd(7)} ${doorState(view)}`, ...facts(view).map((fact) => `          ${fact}`)].join('\n');
}

function doorState({ on, open, bind, port, connections }: DoorView): string {
  if (!on) return 'off';
  if (!open) return `on, but not open: nobody can come in at ${place(bind, port)}`;
  const now = connections === 0 ? '' : `, ${connections} connected`;
  return `open at ${place(bind, port)}${now}`;
}

/** The same on one line, for the status. */
export function doorText(view: DoorView): string {
  return [doorState(view), troubleText(view)].filter(Boolean).join('. ');
}

function troubleText({ trouble }: DoorView): string | undefined {
  return trouble && `${visibleLine(trouble.message, 300)} ${visibleLine(trouble.next, 300)} (${trouble.code})`;
}

function facts(view: DoorView): string[] {
  const { door, to, peers } = view;
  const trouble = troubleText(view);
  return [
    ...(trouble === undefined ? [] : [trouble]),
    doorMeanings[door],
    ...(to === undefined ? [] : [`what comes in goes to ${visibleLine(to, 60)}`]),
    ...(peers === undefined || peers.length === 0
      ? []
      : [
          `besides this machine, these may connect and be sent to: ${peers.map((peer) => visibleLine(peer, 60)).join(', ')}`,
        ]),
  ];
}

function place(bind: string, port: number): string {
  return `${bind.includes(':') ? `[${bind}]` : bind}:${port}`;
}
