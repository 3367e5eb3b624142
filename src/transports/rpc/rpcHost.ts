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
  AskParams,
  AskResult,
  CarryParams,
  CarryResult,
  ConsentView,
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
}

/** The way back to a window that carries agents. */
export interface CarryLink {
  wake: (params: WakeParams, timeoutMs: number) => Promise<WakeResult>;
  ask: (params: AskParams) => Promise<AskResult>;
  probe: Probe;
  isOpen(): boolean;
  onClose(callback: () => void): void;
}

/** What puts messages in front of agents, as windows, hooks and the person see it. */
export interface ReachHost {
  carry(caller: Caller, params: CarryParams, link: CarryLink): Promise<CarryResult>;
  /** What a window that carries sees of a chat in it. */
  observe(window: string, sight: ObserveParams): Promise<void>;
  /** Turns of that window ended in which these were. */
  noteFinished(window: string, ids: readonly string[]): void;
  hook(caller: Caller, params: HookParams): Promise<HookResult>;
  /** The last bridge of that agent has gone, and with it the product's session. */
  left(agent: number): void;
  pause(on: boolean): Promise<void>;
  release(caller: Caller, id: string, verdict: Verdict): Promise<void>;
  listConsents(): ConsentView[];
  forget(pair: { from: string; to: string }): Promise<void>;
}
