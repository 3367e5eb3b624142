import type { AgentView, MessageView, Presence, ReceiptView, RequestState } from '../core/model.ts';
import type {
  AgentReach,
  CarryParams,
  CarryResult,
  ConsentView,
  HeldView,
  HookParams,
  HookResult,
  ObserveParams,
  Verdict,
} from './reachMessages.ts';
import type { DoorParams, DoorView, OpenParams, OpenResult, RemoteParams, RemoteResult } from './doorMessages.ts';
import type { OverviewParams, OverviewResult, StoryMessage, StoryParams, StoryResult } from './storyMessages.ts';

/** The typed requests and events between the hub and its own clients. A change that old clients can't take raises the number. */
export const protocolVersion = 1;

export interface HelloParams {
  protocol: number;
  nonce: string;
}

/** The hub proves that it knows the owner's token before the client shows anything of its own. */
export interface HelloResult {
  protocol: number;
  version: string;
  nonce: string;
  proof: string;
}

export interface LoginParams {
  /** The owner's proof… */
  proof?: string;
  /** …or an agent's own token. */
  token?: string;
  /** Whom the owner speaks as; the person if nobody is named. */
  as?: string;
  /** Or: the agent that a product is in a workspace, made on first use. */
  attach?: {
    workspace: string;
    product: string;
    name?: string;
    /** One chat of the product, by the product's own id: each is an agent of its own. */
    chat?: string;
    /** The window that the chat is in, as the window calls itself in `carry`. */
    window?: string;
    /** The product's process, where one has one chat at a time: another chat in it has taken the place of the one before. */
    process?: number;
  };
  via: 'rpc' | 'cli' | 'stdio';
  /** Keep out of presence: a one-shot command is not somebody being there. */
  passing?: boolean;
}

export interface LoginResult {
  agent: string;
  owner: boolean;
}

export interface CallParams {
  tool: string;
  args: unknown;
  for: 'model' | 'program';
}

export interface MintResult {
  name: string;
  token: string;
  created: boolean;
}

export interface HubStatus {
  pid: number;
  version: string;
  mcpUrl: string;
  rpcPort: number;
  home: string;
  startedAt: string;
  uptimeSeconds: number;
  agents: number;
  conversations: number;
  messages: number;
  pendingRequests: number;
  databaseBytes: number;
  logBytes: number;
  memoryBytes: number;
  connections: { rpc: number; mcpSessions: number; waitingCalls: number };
  commits: number;
  slowestCommitMs: number;
  /** Nobody is woken until the person says so. */
  paused: boolean;
  /** The doors for programs that speak agent-tool's protocol. */
  doors: DoorView[];
  /** The products, as their agents are called, of which a hook was ever heard, and about when. */
  hooksHeard?: Record<string, string>;
  /** When all of the database was last read and found in order. */
  databaseCheckedAt?: string;
  health: 'ok' | 'checking' | { code: string; message: string; next: string };
}

export type HubEvent =
  | { type: 'message'; message: MessageView }
  | { type: 'receipt'; message: string; receipt: ReceiptView }
  | { type: 'request'; message: string; state: RequestState }
  | { type: 'presence'; agent: AgentView }
  | { type: 'agents' }
  | { type: 'paused'; paused: boolean }
  /** The person took a message back to unread. */
  | { type: 'unread'; message: string; conversation: string };

export interface SubscribeParams {
  /** Where the last event was; without it only what comes from now on. */
  cursor?: string | undefined;
}

export interface SubscribeResult {
  cursor: string;
  /** More was missed than can be replayed, or the history is another one: read again what you show. */
  missed: boolean;
}

export interface EventNotification {
  cursor: string;
  event: HubEvent;
}

export interface HubRequests {
  hello: { params: HelloParams; result: HelloResult };
  login: { params: LoginParams; result: LoginResult };
  call: { params: CallParams; result: unknown };
  subscribe: { params: SubscribeParams; result: SubscribeResult };
  unsubscribe: { params: Record<string, never>; result: null };
  presence: { params: { state: Exclude<Presence, 'offline'> }; result: null };
  mint: { params: { name: string; about?: string; skills?: string[] }; result: MintResult };
  revoke: { params: { name: string }; result: { name: string; revoked: number } };
  remove: { params: { name: string }; result: { name: string } };
  status: { params: Record<string, never>; result: HubStatus };
  export: { params: { path: string }; result: { path: string; bytes: number } };
  stop: { params: { reason: 'stop' | 'upgrade' }; result: null };
  // The views, as the person.
  overview: { params: OverviewParams; result: OverviewResult };
  story: { params: StoryParams; result: StoryResult };
  message: { params: { id: string }; result: StoryMessage };
  unread: { params: { id: string }; result: null };
  // Reach. The hub in turn asks who carries: `wake`, `ask` (a window) and `leave` (what carries a session).
  carry: { params: CarryParams; result: CarryResult };
  observe: { params: ObserveParams; result: null };
  terminals: { params: { pids: number[] }; result: null };
  typing: { params: { agent: string; on: boolean }; result: null };
  hook: { params: HookParams; result: HookResult };
  reach: { params: { agent?: string }; result: AgentReach[] };
  pause: { params: { on: boolean }; result: null };
  release: { params: { id: string; verdict: Verdict }; result: null };
  consents: { params: Record<string, never>; result: ConsentView[] };
  held: { params: Record<string, never>; result: HeldView[] };
  forget: { params: { from: string; to: string }; result: null };
  // Doors to other systems.
  door: { params: DoorParams; result: DoorView };
  remote: { params: RemoteParams; result: RemoteResult };
  open: { params: OpenParams; result: OpenResult };
}

export type HubMethod = keyof HubRequests;

/** What both sides sign with the owner's token; the word keeps one side's proof from serving as the other's. */
export function proofText(side: 'hub' | 'client', clientNonce: string, hubNonce: string): string {
  return `agent-bus ${side} ${clientNonce} ${hubNonce}`;
}
