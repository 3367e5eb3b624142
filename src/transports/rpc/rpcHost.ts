import type { Caller } from '../../core/model.ts';
import type { Probe } from '../../core/presence.ts';
import type {
  DoorParams,
  DoorView,
  OpenParams,
  OpenResult,
  RemoteParams,
  RemoteResult,
} from '../../protocol/doorMessages.ts';
import type { HubStatus, MintResult } from '../../protocol/messages.ts';
import type {
  AgentReach,
  AskParams,
  AskResult,
  CarryParams,
  CarryResult,
  ConsentView,
  HeldView,
  HookParams,
  HookResult,
  ObserveParams,
  Verdict,
  WakeParams,
  WakeResult,
} from '../../protocol/reachMessages.ts';
import type { ToolHost } from '../../tools/callTool.ts';

/** What the TCP door needs from the hub around it. */
export interface RpcHost extends ToolHost {
  version: string;
  /** A proof that this side knows the owner's token. */
  ownerProof(text: string): string;
  isOwnerProof(text: string, proof: string): boolean;
  authenticate(token: string): Caller | undefined;
  admin: HubAdmin;
  reach: ReachHost;
}

/** What only the owner may do. */
export interface HubAdmin {
  status(): HubStatus;
  mint(name: string, description: { about?: string | undefined; skills?: string[] | undefined }): Promise<MintResult>;
  revoke(name: string): Promise<number>;
  remove(name: string): Promise<void>;
  attach(place: Attachment): Promise<number>;
  exportTo(path: string): Promise<number>;
  setDoor(params: DoorParams): Promise<DoorView>;
  addRemote(caller: Caller, params: RemoteParams): Promise<RemoteResult>;
  setOpen(params: OpenParams): Promise<OpenResult>;
  stop(reason: 'stop' | 'upgrade'): void;
}

export interface Attachment {
  workspace: string;
  product: string;
  name?: string | undefined;
  chat?: string | undefined;
  window?: string | undefined;
  process?: number | undefined;
}

/** The way back to whoever carries agents. */
export interface CarryLink {
  wake: (params: WakeParams, timeoutMs: number) => Promise<WakeResult>;
  ask: (params: AskParams) => Promise<AskResult>;
  leave: (why: string) => void;
  probe: Probe;
  isOpen(): boolean;
  onClose(callback: () => void): void;
}

/** What puts messages in front of agents, as windows, hooks and the person see it. */
export interface ReachHost {
  carry(caller: Caller, params: CarryParams, link: CarryLink): Promise<CarryResult>;
  /** The terminals of a window that carries, by the processes that they have started. */
  terminals(window: string, pids: readonly number[]): void;
  /** Whether the person lets the bus type into that agent's terminal. */
  setTyping(agent: string, on: boolean): Promise<void>;
  /** What somebody who carries a chat sees of it. */
  observe(carrier: string, sight: ObserveParams): Promise<void>;
  /** Turns that this carrier was given have begun or ended with these in them. */
  noteFinished(carrier: string, ids: readonly string[]): void;
  hook(caller: Caller, params: HookParams): Promise<HookResult>;
  /** The last bridge of that agent has gone, and with it the product's session. */
  left(agent: number): void;
  pause(on: boolean): Promise<void>;
  release(caller: Caller, id: string, verdict: Verdict): Promise<void>;
  /** Whether agents can be reached, and how: all of them, or one. */
  report(agent?: string): AgentReach[];
  listConsents(): ConsentView[];
  /** What waits for the person's word, or for the end of a pause. */
  listHeld(): HeldView[];
  forget(pair: { from: string; to: string }): Promise<void>;
}
