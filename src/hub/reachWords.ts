/**
 * Whether an agent can be reached, in words, from what was seen: who carries it, which hooks were heard, what holds its
 * messages back. A way that has not been seen to be there is not named; what is not known is said to be unknown.
 */
import type { AgentView, ChatRecord } from '../core/model.ts';
import type { AgentReach, ReachWay, Rung } from '../protocol/reachMessages.ts';
import type { HeardHook } from './heardHooks.ts';

export interface ReachFacts {
  view: AgentView;
  chat: Pick<ChatRecord, 'state' | 'asking' | 'window'> | undefined;
  /** Nothing runs there and nobody is asked anything, as the scheduler of wakes sees it. */
  free: boolean;
  /** Nothing of its chat was heard for so long that another may take its place. */
  quiet: boolean;
  /** A call of its waits for messages. */
  waits: boolean;
  /** Its tools have a connection, or it has just called one. */
  connected: boolean;
  hooks: ReadonlySet<HeardHook>;
  /** Who could wake it, best first. */
  ways: readonly { rung: Rung; route?: string | undefined }[];
  paused: boolean;
  /** Messages that wait for the person's word: why, one for each. */
  held: readonly string[];
  /** Its mail is carried out of the bus, by these ways. */
  elsewhere: readonly string[] | undefined;
  /** Whether the person lets the bus type into its terminal; undefined where it is in no terminal of a window. */
  typing: boolean | undefined;
}

type State = AgentReach['state'];
type Ways = Pick<AgentReach, 'busy' | 'end_of_turn' | 'idle'>;

const rungWords: Record<Rung, string> = {
  turn: 'new chat turn',
  typing: 'typed line',
  input: 'text in its input',
  notification: 'asks you',
};

export function reachWords(facts: ReachFacts): AgentReach {
  const { view, hooks, typing } = facts;
  const state = stateOf(facts);
  const ways = waysOf(facts, state);
  return {
    agent: view.name,
    ...(view.product !== undefined && { product: view.product }),
    ...(view.workspace !== undefined && { workspace: view.workspace }),
    presence: view.presence,
    ...(view.last_seen !== undefined && { last_seen: view.last_seen }),
    state,
    now: nowOf(facts, state, ways),
    ...ways,
    ...(hooks.size > 0 && { hooks: true as const }),
    ...(typing !== undefined && { typing }),
  };
}

function stateOf({ view, chat, free, quiet, waits, ways, elsewhere }: ReachFacts): State {
  const isThere = waits || view.presence !== 'offline';
  if (elsewhere) return isThere ? 'unknown' : 'gone';
  if (!chat || chat.state === 'gone') {
    if (!isThere) return 'gone';
    return ways.length > 0 && free ? 'idle' : 'unknown';
  }
  // It has not said goodbye, and yet nothing of it is connected.
  if (!isThere) return quiet ? 'gone' : 'unknown';
  if (chat.asking) return 'approval';
  return free ? 'idle' : 'working';
}

function waysOf(facts: ReachFacts, state: State): Ways {
  const { elsewhere } = facts;
  if (elsewhere) {
    const way = elsewhereWay(elsewhere);
    return { busy: way, end_of_turn: way, idle: way };
  }
  if (state === 'gone') {
    const way = gone(facts.view);
    return { busy: way, end_of_turn: way, idle: way };
  }
  return { busy: busy(facts), end_of_turn: endOfTurn(facts), idle: idle(facts) };
}

function busy(facts: ReachFacts): ReachWay {
  const { hooks, connected, waits } = facts;
  if (hooks.has('taken along')) return { how: 'next tool call' };
  return { ...(connected || waits ? { how: 'next bus call' } : {}), ...unheard(facts, 'tools') };
}

function endOfTurn(facts: ReachFacts): ReachWay {
  const { hooks, ways } = facts;
  if (hooks.has('stop')) return { how: 'before it ends' };
  if (canWake(ways)) return { how: 'right after it' };
  return unheard(facts, 'the end of a turn');
}

function idle({ waits, ways, typing, view }: ReachFacts): ReachWay {
  if (waits) return { how: 'waiting call' };
  const [best] = ways;
  const locked = typing === false ? { todo: allowTyping(view) } : {};
  if (!best) return { blocked: 'nothing is connected that could wake it', ...locked };
  const how = best.route ?? rungWords[best.rung];
  if (isByItself(best)) return { how };
  return { how, blocked: 'nothing can wake it without you', ...locked };
}

function canWake(ways: ReachFacts['ways']): boolean {
  return ways.some(isByItself);
}

/** Without the person. */
function isByItself({ rung }: { rung: Rung }): boolean {
  return rung === 'turn' || rung === 'typing';
}

function unheard({ hooks, chat, ways }: ReachFacts, what: string): ReachWay {
  if (hooks.size > 0) return { blocked: `its hook for ${what} was not heard yet; its next turn tells` };
  // A window is there before its first chat.
  if (!chat && ways.length > 0) return { blocked: 'it has no chat yet; its first turn tells' };
  return { blocked: 'no hook of its session was heard yet' };
}

function nowOf(facts: ReachFacts, state: State, ways: Ways): ReachWay {
  const { view, waits, paused, held, elsewhere, chat } = facts;
  if (waits) return { how: 'waiting call' };
  if (elsewhere) return paused && view.address !== undefined ? pausedWay : ways.idle;
  if (state === 'gone') return ways.idle;
  if (paused) return pausedWay;
  switch (state) {
    case 'approval': {
      const where = chat?.window === '' ? 'in its terminal' : 'in its window of VS Code';
      return {
        blocked: view.doing ?? 'it waits for your approval',
        todo: `answer it ${where}; messages come after it`,
      };
    }
    case 'working': {
      const way = ways.busy.how === undefined ? ways.end_of_turn : ways.busy;
      return /approval/.test(view.doing ?? '') ? { ...way, blocked: view.doing ?? '' } : way;
    }
    case 'idle': {
      if (held.length > 0) return { blocked: heldWords(held), todo: 'decide in the sidebar, or with agent-bus allow' };
      // That more could be allowed is no reason to do it now.
      const { todo: _offer, ...way } = ways.idle;
      return way;
    }
    case 'unknown':
      if (facts.connected) return ways.busy;
      return { blocked: 'nothing of it is connected; it hears of messages by its next turn' };
  }
}

const pausedWay: ReachWay = {
  blocked: 'you have paused all deliveries',
  todo: 'agent-bus resume, or Resume in the sidebar',
};

function heldWords(held: readonly string[]): string {
  const [first = ''] = held;
  return held.length === 1 ? `a message is held: ${first}` : `${held.length} messages are held: ${first}`;
}

function elsewhereWay(ways: readonly string[]): ReachWay {
  const [how = 'inbox'] = ways;
  return how.startsWith('nothing, ') ? { blocked: how.slice('nothing, '.length) } : { how };
}

function gone({ product, workspace }: AgentView): ReachWay {
  const where = workspace === undefined ? '' : ` in ${workspace}`;
  return { blocked: 'it is not there', todo: `start ${product ?? 'it'}${where} again; its messages wait` };
}

function allowTyping({ name }: AgentView): string {
  return `to let the bus type into its terminal: the switch on its card, or agent-bus allow --typing ${name}`;
}
