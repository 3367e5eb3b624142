/** The doors for programs that speak agent-tool's protocol, and agents elsewhere, as the owner's clients see them. */
import type { AgentView } from '../core/model.ts';

export const doorNames = ['frames', 'broker'] as const;
export type DoorName = (typeof doorNames)[number];

/** What is left out stays as it is. */
export interface DoorParams {
  door: DoorName;
  on: boolean;
  port?: number | undefined;
  /** Frames only: who gets what comes in, a name or a #channel. */
  to?: string | undefined;
  /** Frames only: the address to listen on; another one than loopback needs `peers`. */
  bind?: string | undefined;
  /** Frames only: the addresses that may connect, and that may be sent to, besides loopback. */
  peers?: string[] | undefined;
}

export interface DoorView {
  door: DoorName;
  on: boolean;
  /** Whether it really listens; `trouble` says why not. */
  open: boolean;
  bind: string;
  port: number;
  to?: string;
  peers?: string[];
  connections: number;
  trouble?: { code: string; message: string; next: string };
}

export interface RemoteParams {
  url: string;
  name?: string | undefined;
  /** A header that goes with every request to that agent: a bearer token or an API key. */
  secret?: { header: string; value: string } | undefined;
}

export interface RemoteResult {
  agent: AgentView;
  known: boolean;
}

export interface OpenParams {
  name: string;
  on: boolean;
}

export interface OpenResult {
  agent: AgentView;
  /** Where others find it; absent when it is closed. */
  url?: string;
}
