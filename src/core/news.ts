import type { Bus } from './bus.ts';
import { fence, fenceNote, fitsExcerpt } from './envelope.ts';
import type { Caller, Route } from './model.ts';

/** How much of what has newly arrived rides along. */
export interface NewsBudget {
  messages: number;
  /** Characters of each. */
  length: number;
}

export interface News {
  text: string;
  lines: { id: string; from: string; text: string }[];
  /** Only what was carried whole; an excerpt was merely offered. */
  shown: string[];
}

/** What has newly arrived for the caller, fenced. Each message is given out once, whoever asks. */
export function takeNews(
  bus: Bus,
  caller: Caller,
  already: readonly string[],
  budget: NewsBudget,
  route: Route,
): News | undefined {
  const fresh = bus.takeNews(caller.agent, budget.messages, route).map((message) => bus.views.message(message));
  const messages = fresh.filter((message) => !already.includes(message.id));
  if (messages.length === 0) return undefined;
  const left = Math.max(0, bus.reading.unreadCount(caller.agent) - messages.length);
  const fenced = messages.map((message) => fence(message, { excerpt: budget.length, brief: true }));
  return {
    text: newsText(fenced, left),
    lines: messages.map((message, i) => ({ id: message.id, from: message.from, text: fenced[i] ?? '' })),
    shown: messages.filter((message) => fitsExcerpt(message, budget.length)).map((message) => message.id),
  };
}

/** @param left how many are unread beside them */
export function newsText(fenced: readonly string[], left: number): string {
  return ['New for you:', fenceNote, ...fenced, ...(left > 0 ? [`${left} more unread: call inbox.`] : [])].join('\n');
}
