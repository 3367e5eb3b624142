/** The agents, as `agent-bus doctor` tells of them: a row each, and below it what blocks and what to do. */
import type { AgentReach, ReachWay } from '../protocol/reachMessages.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';
import { hanging, screenWidth, tableRow } from './wrapText.ts';

const weekMs = 7 * 24 * 3600_000;
const awayShown = 10;
const widths = [2, 20, 10, 16, 16, 16];
/** Where the columns after the name begin. */
const nameEnd = 22;
const headings = ['Agents', 'is', 'while busy', 'end of turn', 'while idle'];
const margin = '    ';

/** Something of this agent waits for the person, who can do something about it. */
export function needsPerson({ state, now }: AgentReach): boolean {
  return state !== 'gone' && now.blocked !== undefined && now.todo !== undefined;
}

/** A request that is sent now gets there by itself. */
export function isReachedNow({ now }: AgentReach): boolean {
  return now.how !== undefined && now.blocked === undefined;
}

/** All rows; those who have not been seen for long are counted, unless all are asked for. */
export function agentLines(agents: readonly AgentReach[], { all, now }: { all: boolean; now: number }): string[] {
  if (agents.length === 0) return ['Agents', `  none yet; agent-bus connect puts the agents of a product on the bus`];
  const { here, away, hidden, old } = sorted(agents, all, now);
  const rest = [
    ...(hidden > 0 ? [`  ${hidden} more are not there: agent-bus doctor --all`] : []),
    ...(old > 0 ? [`  ${old} more not seen for a week: agent-bus doctor --all`] : []),
  ];
  return [
    ...tableRow(headings, [nameEnd, ...widths.slice(2)]),
    ...here.flatMap((reach) => [...row(reach), ...remarks(reach)]),
    ...away.flatMap(awayRow),
    ...rest,
  ];
}

function sorted(agents: readonly AgentReach[], all: boolean, now: number) {
  const seen = ({ last_seen }: AgentReach): number => (last_seen === undefined ? 0 : Date.parse(last_seen));
  const rank = (reach: AgentReach): number => (needsPerson(reach) ? 0 : isReachedNow(reach) ? 1 : 2);
  const here = agents
    .filter(({ state }) => state !== 'gone')
    .sort((a, b) => rank(a) - rank(b) || (a.agent < b.agent ? -1 : 1));
  const gone = agents.filter(({ state }) => state === 'gone').sort((a, b) => seen(b) - seen(a));
  const recent = all ? gone : gone.filter((reach) => now - seen(reach) < weekMs);
  const away = all ? recent : recent.slice(0, awayShown);
  return { here, away, hidden: recent.length - away.length, old: gone.length - recent.length };
}

const stateWords: Record<AgentReach['state'], string> = {
  working: 'working',
  approval: 'asks you',
  idle: 'idle',
  unknown: '',
  gone: 'offline',
};

function row(reach: AgentReach): string[] {
  const { agent, state, presence, busy, end_of_turn, idle } = reach;
  const mark = isReachedNow(reach) ? '✓' : needsPerson(reach) ? '!' : '-';
  const cells = [stateWords[state] || presence, cell(busy), cell(end_of_turn), cell(idle)];
  const name = visibleLine(agent, 40);
  // A long name has a line for itself.
  if (name.length >= (widths[1] ?? 0)) return [`${mark} ${name}`, ...tableRow(['', '', ...cells], widths)];
  return tableRow([mark, name, ...cells], widths);
}

function cell({ how }: ReachWay): string {
  return how === undefined ? 'no way' : visibleLine(how, 60);
}

/** Each reason once, with the states that it is about. */
function remarks({ now, busy, end_of_turn, idle }: AgentReach): string[] {
  const ways: [string, ReachWay][] = [
    ['now', now],
    ['while busy', busy],
    ['end of turn', end_of_turn],
    ['while idle', idle],
  ];
  const reasons = new Map<string, { when: string[]; way: ReachWay }>();
  for (const [when, way] of ways) {
    // What goes all the same, and can't be helped, stands in the full report only.
    if (way.blocked === undefined || (way.how !== undefined && way.todo === undefined && when !== 'now')) continue;
    const known = reasons.get(way.blocked);
    if (known) known.when.push(when);
    else reasons.set(way.blocked, { when: [when], way });
  }
  return [...reasons.values()].flatMap(({ when, way }) => [
    ...hanging(margin, `${when.join(', ')}: ${visibleLine(way.blocked ?? '', 300)}`),
    ...(way.todo === undefined ? [] : hanging(`${margin}→ `, visibleLine(way.todo, 300))),
  ]);
}

function awayRow({ agent, last_seen }: AgentReach): string[] {
  const name = visibleLine(agent, 40);
  const rest = [
    stateWords.gone,
    `${last_seen === undefined ? '' : `last seen ${shortTime(last_seen)}; `}messages wait for it`,
  ];
  const cells = [nameEnd, widths[2] ?? 0, 0];
  if (name.length < (widths[1] ?? 0)) return tableRow([`- ${name}`, ...rest], cells);
  return [`- ${name}`, ...tableRow(['', ...rest], cells)];
}

/** What the words in the table mean; the routes of products speak for themselves. */
const meanings: Record<string, string> = {
  'next tool call': 'its hook takes messages along with the result of the next tool that it calls',
  'next bus call': 'messages come with the result of the next tool of the bus that it calls',
  'before it ends': 'its hook holds the end of a turn up, once, for requests that wait',
  'right after it': 'when the turn has ended it is woken as while idle',
  'waiting call': 'it waits for messages in a call of its own, and gets them at once',
  'new chat turn': 'its window of VS Code submits a turn to its chat',
  'typed line': 'its window of VS Code types a line at its idle prompt',
  'text in its input': 'its window of VS Code fills the input of a chat; you send it',
  'asks you': 'a window of VS Code tells you, and delivers it when you say so',
};

/** Of the routes that only their product knows. */
const byProduct = 'its product begins a turn with the message, by its own means';

/** One agent in full. */
export function agentDetail(reach: AgentReach): string[] {
  const { agent, product, workspace, state, presence, last_seen, now, busy, end_of_turn, idle, typing } = reach;
  const about = [
    product,
    workspace && `in ${workspace}`,
    stateWords[state] || presence,
    last_seen && `last seen ${shortTime(last_seen)}`,
  ];
  const ways: [string, ReachWay][] = [
    ['now', now],
    ['while busy', busy],
    ['end of turn', end_of_turn],
    ['while idle', idle],
  ];
  return [
    ...hanging(
      '',
      `${agent}: ${about
        .filter(Boolean)
        .map((part) => visibleLine(part ?? '', 100))
        .join(', ')}`,
    ),
    ...ways.flatMap(([when, way]) => wayDetail(when, way, way.how === idle.how && idle.how !== busy.how)),
    ...(typing === undefined ? [] : [`  ${'typing'.padEnd(13)}${typing ? 'allowed' : 'not allowed'} in its terminal`]),
  ];
}

function wayDetail(when: string, { how, blocked, todo }: ReachWay, wakes: boolean): string[] {
  const head = `  ${when.padEnd(13)}`;
  const inset = ' '.repeat(head.length);
  const meaning = how === undefined ? undefined : (meanings[how] ?? (wakes ? byProduct : undefined));
  const said = how === undefined ? 'no way' : `${visibleLine(how, 100)}${meaning === undefined ? '' : `: ${meaning}`}`;
  return [
    ...hanging(head, said, screenWidth),
    ...(blocked === undefined ? [] : hanging(inset, visibleLine(blocked, 300))),
    ...(todo === undefined ? [] : hanging(`${inset}→ `, visibleLine(todo, 300))),
  ];
}
