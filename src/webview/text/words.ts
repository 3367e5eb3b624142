import type { AgentView, Presence, ReceiptStep, ReceiptView, RequestState, Route } from '../../core/model.ts';
import type { Fate, StoryMessage } from '../../protocol/storyMessages.ts';
import { duration, waitingTime } from './time.ts';

const presenceWords: Record<Presence, string> = {
  working: 'working',
  idle: 'idle',
  waiting: 'waiting for an answer',
  offline: 'offline',
};

/** An agent waits in a call of its own, or at a tool that may need the person. */
export function presenceWord({ presence, doing }: Pick<AgentView, 'presence' | 'doing'>): string {
  if (presence !== 'waiting' || doing === undefined) return presenceWords[presence];
  return /approval/.test(doing) ? 'waiting for approval' : 'waiting at a tool';
}

export const stepWords: Record<ReceiptStep, string> = {
  stored: 'Stored',
  offered: 'Offered',
  shown: 'Seen',
  acked: 'Acknowledged',
  replied: 'Answered',
  held: 'Held',
  expired: 'Expired',
  cancelled: 'Cancelled',
  undeliverable: 'Could not be delivered',
};

const routeWords: Record<Route, string> = {
  'tool-result': 'with the result of a tool call',
  inbox: 'in its inbox',
  answer: 'as the answer to its own call',
  client: 'in an open window',
  hook: 'by a hook, in the middle of its work',
  turn: 'as a new turn in its chat',
  typing: 'as a line typed into its terminal',
  input: 'as text in the input of its chat',
  broker: 'over agent-tool’s broker',
  frames: 'over agent-tool’s TCP',
  a2a: 'over A2A',
  notification: 'as a notification to you',
};

/** One step of a receipt as a sentence: "Offered as a new turn in its chat". */
export function stepSentence({ step, route, outcome }: Pick<ReceiptView, 'step' | 'route' | 'outcome'>): string {
  const result = outcome ? `: ${outcome}` : '';
  return `${stepWords[step]}${route ? ` ${routeWords[route]}` : ''}${result}`;
}

/** What a tick shows: the least that all recipients have in common, or that something is wrong. */
export type Tick = 'stored' | 'offered' | 'shown' | 'done' | 'trouble' | 'ended';

const progress: Record<ReceiptStep, number> = {
  held: 0,
  undeliverable: 0,
  expired: 0,
  stored: 1,
  offered: 2,
  shown: 3,
  cancelled: 4,
  acked: 4,
  replied: 4,
};
const ticks: readonly Tick[] = ['trouble', 'stored', 'offered', 'shown', 'done'];

export function tickOf(fates: readonly Fate[]): Tick {
  if (fates.length === 0) return 'stored';
  if (fates.every((fate) => fate.step === 'cancelled')) return 'ended';
  return ticks[Math.min(...fates.map((fate) => progress[fate.step]))] ?? 'stored';
}

/** The tick in words, for those who can't see it and for its title. */
export function fateSentence(fates: readonly Fate[]): string {
  const [first] = fates;
  if (!first) return 'Stored on the bus';
  if (fates.length === 1)
    return `${stepWords[first.step]}${first.outcome ? ` (${first.outcome})` : ''}: ${first.agent}`;
  const tick = tickOf(fates);
  if (tick === 'trouble') {
    const bad = fates.filter((fate) => progress[fate.step] === 0);
    return `${stepWords[bad[0]?.step ?? 'held']} for ${bad.length} of ${fates.length}`;
  }
  if (tick === 'done') return `Acknowledged by all ${fates.length}`;
  const seen = fates.filter((fate) => progress[fate.step] >= 3).length;
  return seen > 0 ? `Seen by ${seen} of ${fates.length}` : `${stepWords[first.step]} for ${fates.length}`;
}

export const requestWords: Record<RequestState, string> = {
  pending: 'Waiting',
  answered: 'Answered',
  failed: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired without an answer',
};

/** "Waiting for shop-api-copilot, 12 min", "Answered by docs-claude after 40 s". */
export function requestSentence(
  message: StoryMessage,
  answeredBy: string | undefined,
  me: string,
  now: number,
): string {
  const state = message.request ?? 'pending';
  const sent = Date.parse(message.sent_at);
  const took = message.ended_at ? duration(Date.parse(message.ended_at) - sent) : undefined;
  if (state === 'pending') {
    const open = message.fates.filter((fate) => progress[fate.step] < 4 && fate.agent !== message.from);
    const names = (open.length > 0 ? open.map((fate) => fate.agent) : message.to).map((n) => (n === me ? 'you' : n));
    return `Waiting for ${list(names)}, ${waitingTime(now - sent)}`;
  }
  if (state === 'answered') {
    return `Answered${answeredBy ? ` by ${answeredBy === me ? 'you' : answeredBy}` : ''}${took ? ` after ${took}` : ''}`;
  }
  const note = message.fates.find((fate) => fate.note !== undefined)?.note;
  return `${requestWords[state]}${took ? ` after ${took}` : ''}${state === 'failed' && note ? `: ${note}` : ''}`;
}

/** What an agent is doing now, where that is worth a line. */
export function doingSentence(agent: AgentView): string | undefined {
  if (agent.presence === 'working') return `${agent.name} is working${agent.doing ? `: ${agent.doing}` : ''}…`;
  if (agent.presence === 'waiting') return `${agent.name}${agent.doing ? `: ${agent.doing}` : ' waits for an answer'}`;
  return undefined;
}

/** a, b and 3 more. */
export function list(names: readonly string[], most = 3): string {
  if (names.length <= 1) return names[0] ?? 'nobody';
  if (names.length > most) return `${names.slice(0, most - 1).join(', ')} and ${names.length - most + 1} more`;
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Two letters for an avatar: of the words of a name, or its first two. */
export function initials(name: string): string {
  const words = name.replace(/^#/, '').split('-').filter(Boolean);
  const letters = words.length > 1 ? `${words[0]?.[0] ?? ''}${words.at(-1)?.[0] ?? ''}` : name.slice(0, 2);
  return letters.toUpperCase();
}

/** One of five, always the same for a name. */
export function colourOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return ((hash ^ (hash >>> 9)) >>> 0) % 5;
}
