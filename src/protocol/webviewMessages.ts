/**
 * Everything that passes between the extension and its pages. A page asks, the extension answers; the extension tells,
 * a page listens. A page can do nothing that is not in this list.
 */
import type { MessageStatus } from '../core/progress.ts';
import type { AckOutcome, AgentView, MessageKind, Priority } from '../core/model.ts';
import type { SearchHit } from '../core/reading.ts';
import type { HubEvent } from './messages.ts';
import type { AgentReach, Verdict } from './reachMessages.ts';
import type { OverviewParams, OverviewResult, StoryMessage, StoryParams, StoryResult } from './storyMessages.ts';

export type HubState = 'off' | 'connecting' | 'connected' | 'lost';

export interface PageStart {
  /** The sidebar shows inbox and conversation in turn; a tab shows one conversation. */
  place: 'sidebar' | 'tab';
  conversation?: string;
  hub: HubState;
  paused: boolean;
  /** An untrusted workspace: nothing can be sent or decided. */
  readOnly: boolean;
  /** Under which name the person writes. */
  me: string;
  /** This window's own agent, once it has one. */
  home?: string;
  /** What this page last asked to keep. */
  kept?: string;
}

export interface Draft {
  /** Recipients, or the message that is answered. */
  to?: string[];
  reply_to?: string;
  text: string;
  kind: MessageKind;
  priority?: Priority;
  options?: string[];
  /** Made by the page once per message, so that a repeated send makes no second one. */
  key: string;
}

export interface PageRequests {
  hello: { params: Record<string, never>; result: PageStart };
  /** The page's own state, to find it again after a reload. */
  keep: { params: { state: string }; result: null };
  start: { params: Record<string, never>; result: null };
  overview: { params: OverviewParams; result: OverviewResult };
  search: { params: { query: string; cursor?: string }; result: { hits: SearchHit[]; next?: string } };
  agents: { params: Record<string, never>; result: AgentView[] };
  /** Whether that agent can be reached, and how. */
  reach: { params: { agent: string }; result: AgentReach };
  /** Whether the bus may type into that agent's terminal. */
  typing: { params: { agent: string; on: boolean }; result: null };
  /** Whether the person is told when that agent is idle; `on` changes it. */
  tell: { params: { agent: string; on?: boolean }; result: { idle: boolean; telling: boolean } };
  story: { params: StoryParams; result: StoryResult };
  /** One message with all of its text. */
  message: { params: { id: string }; result: StoryMessage };
  /** Every step of its receipts. */
  status: { params: { id: string }; result: MessageStatus };
  send: { params: Draft; result: { id: string; conversation: string } };
  /** These stood in front of the person's eyes. */
  seen: { params: { ids: string[] }; result: null };
  unread: { params: { id: string }; result: null };
  ack: { params: { id: string; outcome: AckOutcome; note?: string }; result: null };
  cancel: { params: { id: string }; result: null };
  /** Deliver what is held or idle now; `always` and `never` also settle the pair of workspaces. */
  release: { params: { id: string; verdict: Verdict }; result: null };
  pause: { params: { on: boolean }; result: null };
  copy: { params: { text: string }; result: null };
  /** A link in a message was clicked; the extension decides what it may open, and asks. */
  open: { params: { href: string; message: string }; result: null };
  openTab: { params: { conversation: string }; result: null };
  exportSvg: { params: { svg: string; name: string }; result: null };
}

export type PageMethod = keyof PageRequests;

export interface PageRequest {
  request: number;
  method: PageMethod;
  params: unknown;
}

export type PageAnswer =
  { request: number; result: unknown } | { request: number; error: { code: string; message: string; next: string } };

export type PageEvent =
  | { type: 'hub'; state: HubState; home?: string }
  | { type: 'paused'; paused: boolean }
  /** In the order in which they happened, several at once. */
  | { type: 'events'; events: HubEvent[] }
  /** More happened than can be told: read again what is shown. */
  | { type: 'missed' }
  /** A command wants something on the screen. */
  | { type: 'show'; screen: 'inbox'; filter?: OverviewParams['filter']; search?: true }
  | { type: 'show'; screen: 'conversation'; conversation: string; message?: string; compose?: true; picture?: true }
  | { type: 'show'; screen: 'compose'; to?: string[] };
