/**
 * Where everything in the picture goes. Pure: messages in, coordinates out. Time runs downwards; long silences are
 * drawn as a gap with a name, so that a morning and an evening fit on one page.
 */
import type { StoryMessage } from '../../protocol/storyMessages.ts';
import { lineOf, plainLine } from '../text/lines.ts';
import { daysBetween, duration } from '../text/time.ts';
import { tickOf } from '../text/words.ts';

export interface Lifeline {
  name: string;
  x: number;
}

export type ArrowState = 'tell' | 'reply' | 'pending' | 'answered' | 'failed' | 'held';

export interface Arrow {
  id: string;
  y: number;
  from: Lifeline;
  /** Nearest to the sender last, so that the longest line comes first. */
  to: Lifeline[];
  state: ArrowState;
  label: string;
  /** Where the label begins, and how much room it has. */
  labelX: number;
  labelWidth: number;
  sentAt: string;
  urgent: boolean;
}

/** From a request to its answer, on the lifeline of whoever answered. Without `reply` it still waits. */
export interface Arc {
  request: string;
  reply?: string;
  x: number;
  y1: number;
  y2: number;
  /** How far it bends away, so that two at the same time can be told apart. Away from who asked: to the left if negative. */
  bend: number;
  waited: string;
}

export interface Mark {
  y: number;
  kind: 'time' | 'day' | 'gap';
  /** Of the message below it. */
  at: string;
  /** For a gap: how long nothing was said. */
  silence?: string;
}

export interface Picture {
  width: number;
  height: number;
  /** From one lifeline to the next. */
  column: number;
  lifelines: Lifeline[];
  arrows: Arrow[];
  arcs: Arc[];
  marks: Mark[];
}

export const gutter = 64;
const headRoom = 20;
const rowHeight = 40;
const gapFrom = 30 * 60_000;
const gapHeight = 44;
const dayHeight = 40;
const narrowest = 132;
const widest = 240;
const edge = 72;
const minute = 60_000;

type Told = Pick<
  StoryMessage,
  'id' | 'from' | 'to' | 'channel' | 'kind' | 'text' | 'sent_at' | 'reply_to' | 'fates' | 'request' | 'priority'
>;

export function layout(messages: readonly Told[], room: number, now: number): Picture {
  const names = participants(messages);
  const space = names.length > 1 ? (room - gutter - 2 * edge) / (names.length - 1) : widest;
  const column = Math.round(Math.min(widest, Math.max(narrowest, space)));
  const lifelines = names.map((name, i): Lifeline => ({ name, x: gutter + edge + i * column }));
  const byName = new Map(lifelines.map((line) => [line.name, line]));

  const arrows: Arrow[] = [];
  const marks: Mark[] = [];
  let y = headRoom;
  let before: number | undefined;
  let lastMinute = -1;
  for (const message of messages) {
    const at = Date.parse(message.sent_at);
    const silence = before === undefined ? 0 : at - before;
    if (before === undefined || daysBetween(before, at) !== 0) {
      y += dayHeight;
      marks.push({ y: y - dayHeight / 2, kind: 'day', at: message.sent_at });
    } else if (silence >= gapFrom) {
      y += gapHeight;
      marks.push({ y: y - gapHeight / 2, kind: 'gap', at: message.sent_at, silence: duration(silence) });
    }
    y += rowHeight + stretch(silence);
    const thisMinute = Math.floor(at / minute);
    if (thisMinute !== lastMinute) marks.push({ y, kind: 'time', at: message.sent_at });
    lastMinute = thisMinute;
    before = at;
    arrows.push(arrowOf(message, byName, y));
  }
  const height = y + rowHeight;
  return {
    width: (lifelines.at(-1)?.x ?? gutter) + edge + 24,
    height,
    column,
    lifelines,
    arrows,
    arcs: arcsOf(messages, arrows, height - 12, now),
    marks,
  };
}

/** Up to half an hour counts a little; what is longer is a gap of its own. */
function stretch(silence: number): number {
  if (silence < minute || silence >= gapFrom) return 0;
  return Math.min(32, Math.round(8 * Math.log2(1 + silence / minute)));
}

/** Whoever says something first stands first. */
function participants(messages: readonly Told[]): string[] {
  const names = new Set<string>();
  for (const message of messages) {
    names.add(message.from);
    for (const name of targets(message)) names.add(name);
  }
  return [...names];
}

function targets({ from, to, fates }: Told): string[] {
  const named = to.filter((name) => !name.startsWith('#'));
  const all = named.length > 0 ? named : fates.map((fate) => fate.agent);
  return all.filter((name) => name !== from);
}

function arrowOf(message: Told, byName: ReadonlyMap<string, Lifeline>, y: number): Arrow {
  const from = byName.get(message.from) ?? { name: message.from, x: gutter };
  const to = targets(message)
    .flatMap((name) => byName.get(name) ?? [])
    .sort((a, b) => Math.abs(b.x - from.x) - Math.abs(a.x - from.x));
  const xs = [from.x, ...to.map((line) => line.x)];
  const left = Math.min(...xs);
  const right = Math.max(...xs);
  return {
    id: message.id,
    y,
    from,
    to,
    state: stateOf(message),
    label: plainLine(lineOf(message.text, 120)),
    labelX: left + 10,
    labelWidth: Math.max(narrowest, right - left) - 20,
    sentAt: message.sent_at,
    urgent: message.priority === 'urgent',
  };
}

function stateOf({ kind, request, fates }: Told): ArrowState {
  if (tickOf(fates) === 'trouble' && request !== 'answered')
    return fates.some((f) => f.step === 'held') ? 'held' : 'failed';
  if (request === 'pending' || request === 'answered') return request;
  if (request) return 'failed';
  return kind === 'reply' ? 'reply' : 'tell';
}

function arcsOf(messages: readonly Told[], arrows: readonly Arrow[], bottom: number, now: number): Arc[] {
  const places = new Map(arrows.map((arrow) => [arrow.id, arrow]));
  const answered = new Map<string, Told>();
  for (const message of messages) {
    const id = message.reply_to;
    if (message.kind === 'reply' && id !== undefined && !answered.has(id)) answered.set(id, message);
  }
  const arcs: Arc[] = [];
  for (const message of messages) {
    const arrow = places.get(message.id);
    if (message.kind !== 'request' || !arrow) continue;
    const reply = answered.get(message.id);
    const replyArrow = reply && places.get(reply.id);
    const since = Date.parse(message.sent_at);
    if (reply && replyArrow) {
      arcs.push({
        request: message.id,
        reply: reply.id,
        x: replyArrow.from.x,
        y1: arrow.y,
        y2: replyArrow.y,
        bend: arrow.from.x > replyArrow.from.x ? -1 : 1,
        waited: duration(Date.parse(reply.sent_at) - since),
      });
    } else if (message.request === 'pending' && arrow.to[0]) {
      const x = arrow.to[0].x;
      const bend = arrow.from.x > x ? -1 : 1;
      arcs.push({ request: message.id, x, y1: arrow.y, y2: bottom, bend, waited: duration(now - since) });
    }
  }
  return withBends(arcs);
}

/** Those that overlap on one lifeline get different bends. */
function withBends(arcs: readonly Arc[]): Arc[] {
  const done: { arc: Arc; lane: number }[] = [];
  for (const arc of arcs) {
    const taken = new Set(
      done
        .filter(
          ({ arc: other }) => other.x === arc.x && other.bend * arc.bend > 0 && other.y2 > arc.y1 && other.y1 < arc.y2,
        )
        .map(({ lane }) => lane),
    );
    let lane = 0;
    while (taken.has(lane)) lane++;
    done.push({ arc: { ...arc, bend: arc.bend * (14 + 9 * Math.min(lane, 5)) }, lane });
  }
  return done.map(({ arc }) => arc);
}

/** As much of a text as fits, by the usual width of a character. */
export function fitted(text: string, width: number): string {
  const most = Math.max(3, Math.floor(width / 6.1));
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}
