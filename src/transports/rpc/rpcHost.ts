import type { Caller } from '../../core/model.ts';
import type { HubStatus, MintResult } from '../../protocol/messages.ts';
import type { ToolHost } from '../../tools/callTool.ts';

/** What the TCP door needs from the hub around it. */
export interface RpcHost extends ToolHost {
  version: string;
  /** A proof that this side knows the owner's token. */
  ownerProof(text: string): string;
  isOwnerProof(text: string, proof: string): boolean;
  authenticate(token: string): Caller | undefined;
  admin: HubAdmin;
}

/** What only the owner may do. */
export interface HubAdmin {
  status(): HubStatus;
  mint(name: string, about: string | undefined): Promise<MintResult>;
  revoke(name: string): Promise<number>;
  remove(name: string): Promise<void>;
  attach(workspace: string, product: string, name: string | undefined): Promise<number>;
  exportTo(path: string): Promise<number>;
  stop(reason: 'stop' | 'upgrade'): void;
}
