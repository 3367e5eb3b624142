import type { ChatRecord, ToolAtWork } from './model.ts';

/**
 * What a chat is doing, as far as its hooks have told. A turn runs from a prompt to its stop. A tool that has begun and
 * not ended may be an open question to the person, and a push would cancel the turn that asks it: such a chat is never
 * taken for idle, however long ago that was, and neither is one whose hooks may have gone unheard.
 */
export type ChatEvent =
  | { type: 'started' }
  | { type: 'prompt'; hop: number | null }
  | { type: 'before-tool'; use: string; name: string }
  | { type: 'after-tool'; use: string; name: string }
  | { type: 'stop' }
  | { type: 'over' }
  | { type: 'gone' };

/** What the editor itself shows of the chat. It comes late, so it counts only from its own time on. */
export interface ChatSight {
  state: 'idle' | 'approval' | 'working' | 'gone';
  at: number;
}

const toolsAtOnce = 50;
/** So much newer than the last hook, a turn at work is one of which no hook has told. */
const unheardMs = 10_000;

/** No turn, and so no tool, no question and no cause. */
const still = { tools: [], asking: false, waking: false, hop: null };

/** The chat after what it told. Any event of a turn proves that hooks are heard: a submitted one needs no mark any more. */
export function afterEvent(chat: ChatRecord, event: ChatEvent, now: number): ChatRecord {
  const next = { ...chat, at: now };
  switch (event.type) {
    case 'started':
      return { ...next, state: chat.state === 'gone' ? 'idle' : chat.state };
    case 'prompt':
      return { ...next, ...still, state: 'working', hop: event.hop };
    case 'before-tool':
      return { ...next, state: 'working', tools: begun(chat.tools, event, now), waking: false };
    case 'after-tool':
      return { ...next, state: 'working', tools: ended(chat.tools, event), asking: false, waking: false };
    case 'stop':
      return { ...next, ...still, state: 'idle' };
    case 'over':
      // Its window has started anew, and no turn outlives that.
      return { ...chat, ...still, state: chat.state === 'gone' ? 'gone' : 'idle' };
    case 'gone':
      return { ...next, ...still, state: 'gone' };
  }
}

/** What hooks tell is never taken back by an older sight; what they can't tell (a cancelled turn) is learned from it. */
export function afterSight(chat: ChatRecord, { state, at }: ChatSight): ChatRecord {
  if (at <= chat.at || chat.state === 'gone') return chat;
  if (state === 'idle' || state === 'gone') return { ...chat, ...still, state, at };
  if (state === 'approval') return { ...chat, state: 'working', asking: true };
  const isUnheard = chat.state === 'idle' && at - chat.at >= unheardMs;
  return { ...chat, asking: false, state: isUnheard ? 'working' : chat.state };
}

function begun(tools: readonly ToolAtWork[], { use, name }: { use: string; name: string }, now: number): ToolAtWork[] {
  const others = tools.filter((tool) => use === '' || tool.use !== use);
  return [...others, { use, name, since: now, runs: false }].slice(0, toolsAtOnce);
}

/** By its id where there is one, else the oldest of that name. */
function ended(tools: readonly ToolAtWork[], { use, name }: { use: string; name: string }): ToolAtWork[] {
  const index = tools.findIndex((tool) => (use !== '' && tool.use !== '' ? tool.use === use : tool.name === name));
  return tools.filter((_, i) => i !== index);
}

/** A call of that tool has reached the bus: it was approved. The name that the chat has for it ends with ours. */
export function withRunning(chat: ChatRecord, tool: string, now: number): ChatRecord {
  const index = chat.tools.findIndex((at) => !at.runs && (at.name === tool || at.name.endsWith(`_${tool}`)));
  return { ...chat, at: now, tools: chat.tools.map((at, i) => (i === index ? { ...at, runs: true } : at)) };
}

export interface IdleRules {
  now: number;
  staleMs: number;
  /** The beginning of its turn was heard: no tool of it can have begun while there was no hub. */
  heard: boolean;
}

/** Whether a turn may be submitted to it. A turn without a sign of life was cancelled, which no hook tells. */
export function isIdle(chat: ChatRecord, rules: IdleRules): boolean {
  if (chat.waking || chat.asking || chat.state === 'gone') return false;
  if (chat.state === 'idle') return true;
  return chat.tools.length === 0 && rules.heard && rules.now - chat.at >= rules.staleMs;
}

/** Whether another chat may take over its agent. */
export function isQuiet(chat: ChatRecord, now: number, quietMs: number): boolean {
  return chat.state === 'gone' || (chat.tools.length === 0 && !chat.asking && now - chat.at >= quietMs);
}
