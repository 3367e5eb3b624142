/**
 * What passes between the hub and those who can put a message in front of an agent: windows, which carry the chats of
 * an editor, whatever carries one session of a product in a terminal, and hooks, which tell what a chat is doing.
 */
import type { Presence } from '../core/model.ts';

/**
 * What a carrier can do for a chat, best first: a turn, by the product's own means; a line typed into its terminal; text
 * in the input; a notification to the person.
 */
export const rungs = ['turn', 'typing', 'input', 'notification'] as const;
export type Rung = (typeof rungs)[number];

/**
 * A window's connection says that it carries its agent and all chats that say they are in this window. A connection of
 * the owner's says instead that it carries one session, or those of one product in a workspace.
 */
export interface CarryParams {
  /** New with every start of the window's extension host, or of whatever carries: turns that ran before it are over. */
  window: string;
  rungs: Rung[];
  session?: SessionParams;
}

/** Which sessions in terminals somebody carries. */
export interface SessionParams {
  /** What the product's agents are on the bus. */
  product: string;
  workspace: string;
  /** Only this one, by the product's own id. */
  chat?: string;
  /** Only the one that is this agent. */
  agent?: string;
  /** By what means, in a few words: people read it where they see how an agent can be reached. */
  route: string;
  /** What it says looks like the person's own words to the model: it is given a line that points to the inbox, no text of others. */
  says?: 'line';
  /** The processes that it was started by, nearest first: one of them may be a terminal of a window. */
  pids?: number[];
}

export interface CarryResult {
  paused: boolean;
}

/** Hub to carrier: put this in front of the agent. Only sent while its chat is known to be idle. */
export interface WakeParams {
  /** Stands in the prompt, too: the hook that sees the prompt proves the delivery by it. */
  wake: string;
  agent: string;
  /** The exact chat, where one is known; otherwise the window's own. */
  chat?: string;
  prompt: string;
  ids: string[];
  /** For a session in a terminal of this window: by no other rung than this. */
  by?: 'typing' | 'notification';
  /** The process that the terminal has started. */
  terminal?: number;
  /** Whose session it is, where it is not one of the editor's own. */
  product?: string;
}

/** Hub to carrier of a session: it is not needed any more. */
export interface LeaveParams {
  why: string;
}

export interface WakeResult {
  /** The rung on which it came to rest, or none. */
  rung: Rung | 'none';
  /** What happened on the rungs before. */
  note?: string;
}

/** Hub to window: ask the person. Answered with `dismissed` when the question is closed without an answer. */
export type AskParams = {
  from: { agent: string; workspace?: string };
  to: { agent: string; workspace?: string };
  /** The first of the messages that wait for the answer. */
  message: { id: string; line: string };
  waiting: number;
} & ({ kind: 'consent' } | { kind: 'hops'; hops: number });

/**
 * Carrier to hub: what the editor itself shows of a chat, from its own files and therefore late. It knows two things that
 * no hook tells: that a confirmation is really open, and that the person has cancelled a turn.
 */
export interface ObserveParams {
  chat: string;
  /** `gone`: nobody sits before it any more, which no hook tells. */
  state: 'idle' | 'approval' | 'working' | 'gone';
  /** Milliseconds since 1970, of the observation's cause; older than the chat's last hook, it says nothing. */
  at: number;
}

export type Verdict = 'once' | 'always' | 'never';

export interface AskResult {
  verdict: Verdict | 'dismissed';
}

/** One answer to "may agents of this workspace wake agents of that one?". */
export interface ConsentView {
  from: string;
  to: string;
  verdict: 'always' | 'never';
  at: string;
}

/** A message that nobody is woken for at the moment, and why. */
export interface HeldView {
  id: string;
  from: string;
  to: string;
  line: string;
  note: string;
  at: string;
}

/** What a hook of an agent's product tells about a chat; the connection is logged in as the chat's agent. */
export interface HookParams {
  event: 'session-start' | 'prompt' | 'before-tool' | 'after-tool' | 'stop' | 'session-end';
  chat: string;
  tool?: string;
  toolUse?: string;
  prompt?: string;
  /** The product goes on because a hook asked it to: do not ask again. */
  again?: boolean;
  /** Whether the answer reaches the model; without a word, as in VS Code: after a prompt and before a tool. */
  takes?: boolean;
}

export interface HookResult {
  /** To be added to what the model sees. */
  context?: string;
  /** Why the turn must not end yet. */
  block?: string;
  /** Messages that are whole in the above: to be reported as shown once it was handed over. */
  shown: string[];
}

/** One way to an agent. Nothing is named here that has not been seen to be there: a carrier, a hook that was heard. */
export interface ReachWay {
  /** In words; absent where there is none. */
  how?: string;
  /** Why not, or not better. */
  blocked?: string;
  /** What the person can do about it. */
  todo?: string;
}

/** Whether an agent can be reached now, and how in each of the states that it may be in. */
export interface AgentReach {
  agent: string;
  product?: string;
  workspace?: string;
  presence: Presence;
  last_seen?: string;
  state: 'working' | 'approval' | 'idle' | 'unknown' | 'gone';
  /** What would happen to a request that is sent now. */
  now: ReachWay;
  busy: ReachWay;
  end_of_turn: ReachWay;
  idle: ReachWay;
  /** A hook of its session was heard. */
  hooks?: true;
  /** Whether the person lets the bus type into its terminal; absent where it is in no terminal of a window. */
  typing?: boolean;
}
