/** The one screen of `agent-bus doctor`. */
import { compareVersions } from '../client/versions.ts';
import type { HubStatus } from '../protocol/messages.ts';
import { bytes } from './bytes.ts';
import type { Checkup, Trouble } from './checkup.ts';
import { agentDetail, agentLines, isReachedNow, needsPerson } from './doctorAgents.ts';
import { productState, type ProductState } from './doctorProducts.ts';
import { doorMeanings, doorText } from './doorLines.ts';
import { visibleLine } from './terminalText.ts';
import { duration, shortTime } from './times.ts';
import { hanging } from './wrapText.ts';

export interface Finding extends Trouble {
  about: string;
}

/** Everything that waits for the person. */
export function findings(found: Checkup): Finding[] {
  const { hub, away, agents = [], agentTrouble, productTrouble, products } = found;
  const about = (name: string, trouble: Trouble | undefined): Finding[] =>
    trouble ? [{ about: name, ...trouble }] : [];
  return [
    ...about('hub', away ?? (hub && versionTrouble(hub, found.version))),
    ...(hub && typeof hub.health === 'object' ? about('database', healthTrouble(hub.health)) : []),
    ...(hub?.paused ? about('deliveries', pausedTrouble) : []),
    ...(hub?.doors ?? []).flatMap(({ door, trouble }) =>
      about(`${door} door`, trouble && { what: trouble.message, todo: trouble.next }),
    ),
    ...about('products', productTrouble),
    ...products.flatMap((line) => about(line.product.title, productState(line, hub?.hooksHeard)?.trouble)),
    ...about('agents', agentTrouble),
    ...agents.filter(needsPerson).map(({ agent, now }) => ({
      about: agent,
      what: now.blocked ?? '',
      todo: now.todo ?? '',
    })),
  ];
}

export function doctorLines(
  found: Checkup,
  { all, agent, now }: { all: boolean; agent?: string; now: number },
): string {
  const { agents, agentTrouble } = found;
  if (agent !== undefined && agents) return agents.flatMap(agentDetail).join('\n');
  return [
    `Agent Bus ${found.version}`,
    '',
    ...hubLines(found),
    '',
    ...productLines(found),
    '',
    ...(agents ? agentLines(agents, { all, now }) : ['Agents']),
    ...(agents || agentTrouble ? [] : ['  known only while a hub is running']),
    ...troubleLines('', agentTrouble),
    '',
    ...summary(found),
  ].join('\n');
}

const field = (name: string): string => `${name}`.padEnd(11);

function hubLines(found: Checkup): string[] {
  const { hub, away, home, databaseBytes } = found;
  const folder = hanging(field('Data'), `${home.folder}${home.chosen ? ' (chosen by AGENT_BUS_HOME)' : ''}`);
  if (!hub) {
    const size =
      databaseBytes === undefined ? 'none yet' : `${bytes(databaseBytes)}; its state is known while a hub runs`;
    return [...troubleLines(field('Hub'), away), ...hanging(field('Database'), size), ...folder];
  }
  const since = `running since ${shortTime(hub.startedAt)} (${duration(hub.uptimeSeconds)})`;
  const running = `version ${hub.version}, ${since}, process ${hub.pid}, ${bytes(hub.memoryBytes)}`;
  return [
    ...hanging(field('Hub'), running),
    ...troubleLines('', versionTrouble(hub, found.version)),
    ...hanging(field('Database'), databaseText(hub)),
    ...(typeof hub.health === 'object' ? troubleLines('', healthTrouble(hub.health)) : []),
    ...folder,
    ...doorLines(hub, found.open),
    ...(hub.paused ? [...hanging(field('Deliveries'), 'paused'), ...troubleLines('', pausedTrouble)] : []),
  ];
}

function databaseText({ databaseBytes, health, databaseCheckedAt, slowestCommitMs }: HubStatus): string {
  const state = health === 'ok' ? 'in order' : health === 'checking' ? 'being checked just now' : 'in trouble';
  const checked = databaseCheckedAt === undefined ? 'not checked yet' : `last checked ${shortTime(databaseCheckedAt)}`;
  return `${bytes(databaseBytes)}, ${state}; ${checked}; slowest write ${slowestCommitMs} ms`;
}

function doorLines({ mcpUrl, doors }: HubStatus, open: number): string[] {
  const a2a = open === 0 ? 'no agent of here can be asked' : `${open === 1 ? 'one agent' : `${open} agents`} of here`;
  const lines: [string, string][] = [
    ['MCP', `${mcpUrl}, for the tools of agents`],
    ['A2A', `${a2a}${open === 0 ? '' : ' can be asked'} by agents elsewhere`],
    ...doors.map((door): [string, string] => [
      door.door,
      door.on ? doorText(door) : `off (${doorMeanings[door.door]})`,
    ]),
  ];
  return lines.flatMap(([name, text], i) => hanging(`${field(i === 0 ? 'Doors' : '')}${name.padEnd(8)}`, text));
}

function productLines({ products, productTrouble, hub }: Checkup): string[] {
  const states = products.map((line) => ({ line, state: productState(line, hub?.hooksHeard) }));
  const absent = states.flatMap(({ line, state }) => (state ? [] : [line.product.title]));
  return [
    'Products',
    ...states.flatMap(({ state }) => (state ? productRow(state) : [])),
    ...(absent.length > 0 ? hanging('  ', `not on this machine: ${absent.join(', ')}`) : []),
    ...troubleLines('', productTrouble),
  ];
}

function productRow({ title, state, hint, trouble }: ProductState): string[] {
  const head = `${trouble ? '!' : ' '} ${title.padEnd(13)}`;
  if (trouble) return [...hanging(head, state), ...troubleLines('', trouble)];
  return hanging(head, hint === undefined ? state : `${state}; ${hint}`);
}

const pausedTrouble: Trouble = {
  what: 'you have paused them: no agent is woken, and hooks take nothing along',
  todo: 'agent-bus resume, or Resume in the sidebar',
};

function healthTrouble({ message, next }: { message: string; next: string }): Trouble {
  return { what: message, todo: next };
}

function versionTrouble(hub: HubStatus, own: string): Trouble | undefined {
  if (compareVersions(own, hub.version) === 0) return undefined;
  if (compareVersions(own, hub.version) < 0) {
    return {
      what: `the hub is newer than this program, which is version ${own}`,
      todo: 'update this installation of Agent Bus',
    };
  }
  return {
    what: `the hub is older than this program, which is version ${own}`,
    todo: 'agent-bus start puts the newer one in its place; nothing is lost',
  };
}

function troubleLines(head: string, trouble: Trouble | undefined): string[] {
  if (!trouble) return [];
  const first = head === '' ? '    ' : head;
  const inset = ' '.repeat(first.length);
  return [...hanging(first, visibleLine(trouble.what, 500)), ...hanging(`${inset}→ `, visibleLine(trouble.todo, 500))];
}

function summary(found: Checkup): string[] {
  const { agents = [] } = found;
  const needs = findings(found).length;
  const marks = [
    ...(agents.some(isReachedNow) ? ['✓ a request sent now gets there'] : []),
    ...(agents.some((reach) => !isReachedNow(reach) && !needsPerson(reach)) ? ['- it waits'] : []),
    ...(agents.some(needsPerson) ? ['! it needs you'] : []),
  ];
  const said = needs === 0 ? 'Nothing needs you.' : needs === 1 ? 'One thing needs you.' : `${needs} things need you.`;
  return [...(marks.length > 0 ? [marks.join('   ')] : []), said];
}
