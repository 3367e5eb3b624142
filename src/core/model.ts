/** The things on the bus, as every layer names them. Numbers are the hub's own keys and never leave it; strings do. */

export type MessageKind = 'request' | 'inform' | 'reply';
export type Priority = 'normal' | 'urgent';
export type AckOutcome = 'done' | 'blocked' | 'rejected';
export type Presence = 'working' | 'idle' | 'waiting' | 'offline';
/** `bus` is the bus itself: it writes notices, and nobody speaks as it or writes to it. */
export type AgentKind = 'person' | 'agent' | 'bus';
export type ConversationKind = 'direct' | 'group' | 'channel';

/**
 * How far a message got with one recipient. It only moves forward. It leaves `offered` only by proof that the reader
 * was shown it, by an answer, or by its end; reading and waiting alone are no proof.
 */
export type ReceiptStep =
  'stored' | 'offered' | 'shown' | 'acked' | 'replied' | 'held' | 'expired' | 'cancelled' | 'undeliverable';

/** A request is a task: it is `pending` until exactly one of the others happens, and then never changes again. */
export type RequestState = 'pending' | 'answered' | 'failed' | 'cancelled' | 'expired';

/**
 * By which way a message was put in front of its reader: on a tool's result, in the inbox, as the answer to a call, in a
 * client's window, in a hook's output, as a submitted chat turn, as a line typed into its terminal, as text in a chat's
 * input, as a notification; over agent-tool's broker or its frames, or over A2A.
 */
export const routes = [
  'tool-result',
  'inbox',
  'answer',
  'client',
  'hook',
  'turn',
  'typing',
  'input',
  'notification',
  'broker',
  'frames',
  'a2a',
] as const;
export type Route = (typeof routes)[number];

export interface AgentRecord {
  id: number;
  name: string;
  kind: AgentKind;
  about: string;
  workspace: string;
  product: string;
  /** What it is good at, in a word or two each. */
  skills: string[];
  /** It may be asked from outside, as an A2A agent. */
  open: boolean;
  /** Ties a product in a workspace, a mailbox or an address to its name across restarts. */
  identity: string | null;
  created: number;
  lastSeen: number;
  removed: boolean;
}

export interface ConversationRecord {
  id: number;
  kind: ConversationKind;
  /** Channel name, or the sorted member ids of a direct or group conversation. */
  key: string;
  about: string;
  created: number;
  lastSeq: number;
  lastAt: number;
}

export interface MessageRecord {
  seq: number;
  conversation: number;
  sender: number;
  kind: MessageKind;
  text: string;
  /** JSON text, kept as it came. */
  data: string | null;
  files: string[];
  options: string[];
  replyTo: number | null;
  priority: Priority;
  key: string | null;
  hop: number;
  sentAt: number;
  expiresAt: number | null;
}

export interface DeliveryRecord {
  seq: number;
  agent: number;
  phase: DeliveryPhase;
  step: ReceiptStep;
  at: number;
  /** The end of a turn was held up for it, which happens once. */
  heldBack: boolean;
  /** The person said "deliver it": consent and hop limit do not stop it any more. */
  released: boolean;
}

/** Unread: never shown. Open: shown, but neither acknowledged, answered nor ended. Closed: nothing more to do. */
export const DeliveryPhase = { unread: 0, open: 1, closed: 2 } as const;
export type DeliveryPhase = (typeof DeliveryPhase)[keyof typeof DeliveryPhase];

/** One line of a receipt. */
export interface ReceiptRecord {
  id: number;
  seq: number;
  agent: number;
  step: ReceiptStep;
  at: number;
  route: Route | null;
  outcome: AckOutcome | null;
  note: string | null;
}

export interface RequestRecord {
  seq: number;
  state: RequestState;
  resultSeq: number | null;
  endedAt: number | null;
  note: string | null;
}

/** A tool that a chat has begun and not ended: it runs, or it waits for the person's approval. */
export interface ToolAtWork {
  use: string;
  name: string;
  since: number;
  /** Known to run: its call has reached the bus, so nobody waits for an approval of it. */
  runs: boolean;
}

/** One chat of a product, which holds an agent; core/chatState.ts says what its states mean. */
export interface ChatRecord {
  /** The product's own id. */
  id: string;
  agent: number;
  workspace: string;
  product: string;
  /** The window that it was last seen in, and the agent that this window is; empty and null where none is known. */
  window: string;
  home: number | null;
  state: 'idle' | 'working' | 'gone';
  tools: ToolAtWork[];
  /** The editor shows that it waits for the person's approval. */
  asking: boolean;
  /** A turn was submitted to it of which no hook has told yet. */
  waking: boolean;
  /** The hop count of the messages that caused the current turn; null where a person did. */
  hop: number | null;
  /** Its last sign of life. */
  at: number;
}

/** An agent of somebody else's, reached over A2A. */
export interface RemoteRecord {
  agent: number;
  /** Normalised: one agent has one. */
  url: string;
  /** The card as it was last seen, JSON text. */
  card: string;
  /** A header to send along and its value; a secret, so it goes nowhere but to that agent. */
  secret: { header: string; value: string } | null;
  /** The agent that added it; the person may remove it as well. */
  addedBy: number;
  health: 'ok' | 'down';
  /** Why it is down. */
  trouble: string | null;
  checkedAt: number;
}

/**
 * A message on its way to a remote agent, and what became of it there. Not sent yet, or maybe sent: it is not known
 * whether it arrived; at work: the agent has it and a task for it; over: nothing more is to be done.
 */
export interface RemoteTaskRecord {
  /** The message. */
  seq: number;
  agent: number;
  conversation: number;
  stage: 'unsent' | 'maybe-sent' | 'at-work' | 'over';
  /** The other side's own id. */
  task: string | null;
  /** The state as the other side names it, in lower case with dashes: "working", "input-required"… */
  state: string | null;
  /** What it last said about its progress. */
  progress: string | null;
  /** The bus message by which the agent asked back, while that waits for an answer. */
  question: number | null;
  updatedAt: number;
  /** Since when it could not be reached. */
  unreachableSince: number | null;
}

/** What an agent wants to be told, once: that an agent is idle, or that a request has ended. */
export interface TellRecord {
  id: number;
  /** Who wants to know. */
  agent: number;
  what: 'idle' | 'ended';
  /** That agent, or the order number of that request. */
  about: number;
  /** As for a message that is sent in the same turn: being told and asking again is a chain, too. */
  hop: number;
  at: number;
  until: number;
}

/** An answer to "may agents of this workspace wake agents of that one?". */
export interface ConsentRecord {
  /** Workspace paths; for an agent without one, its name. */
  from: string;
  to: string;
  verdict: 'always' | 'never';
  at: number;
}

/** Who is asking. The hub derives it from a token or an authenticated connection, never from arguments. */
export interface Caller {
  agent: number;
  /** The route by which this caller's results reach a reader, for receipts. */
  via: 'mcp' | 'stdio' | 'rpc' | 'cli' | 'broker' | 'frames' | 'a2a';
}

// What leaves the hub.

export interface MessageView {
  id: string;
  conversation: string;
  /** The channel, where it was posted to one. */
  channel?: string;
  from: string;
  /** Name of the sender's workspace folder, where known. */
  workspace?: string;
  to: string[];
  kind: MessageKind;
  /** The bus itself wrote it; nobody reads an answer. */
  notice?: true;
  text: string;
  data?: unknown;
  files?: string[];
  options?: string[];
  reply_to?: string;
  priority?: Priority;
  sent_at: string;
  expires_at?: string;
}

export interface AgentView {
  name: string;
  kind: AgentKind;
  about?: string;
  workspace?: string;
  product?: string;
  skills?: string[];
  /** Where it is to be found, for an agent outside of this bus. */
  address?: string;
  /** It can be asked over A2A by others. */
  open?: true;
  presence: Presence;
  /** What keeps it, in words: a tool that runs or waits for approval. */
  doing?: string;
  /** Routes by which a message would reach it now, best first. */
  reach: string[];
  last_seen?: string;
}

export interface ReceiptView {
  agent: string;
  step: ReceiptStep;
  at: string;
  route?: Route;
  outcome?: AckOutcome;
  note?: string;
}

const prefixed = (prefix: string) => ({
  format: (n: number): string => prefix + n.toString(36),
  parse: (text: string): number | undefined => {
    if (!text.startsWith(prefix) || !/^[0-9a-z]{1,10}$/.test(text.slice(prefix.length))) return undefined;
    const n = Number.parseInt(text.slice(prefix.length), 36);
    return Number.isSafeInteger(n) && prefix + n.toString(36) === text ? n : undefined;
  },
});

/** Short ids cost few tokens; nobody gains by guessing one, since a foreign id looks like a missing one. */
export const messageId = prefixed('m');
export const conversationId = prefixed('c');
