import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Bus } from '../core/bus.ts';
import type { Caller } from '../core/model.ts';
import type { Store } from '../core/ports.ts';

/** Tokens are random, shown once, and kept only as hashes. The prefix lets logs and scanners recognise them. */
export class Credentials {
  /** New with every start of the hub; lives in the discovery record only. */
  readonly ownerToken = `abo_${randomBytes(32).toString('base64url')}`;
  /** Checked before: hashing and looking up for every request would be a twentieth of it. Forgotten on every change. */
  private readonly known = new Map<string, number>();
  private readonly store: Store;
  private readonly bus: Bus;

  constructor(store: Store, bus: Bus) {
    this.store = store;
    this.bus = bus;
    // An agent that leaves loses its tokens, and must not have them back if it returns.
    bus.feed.subscribe((event) => {
      if (event.type === 'agents') this.known.clear();
    });
  }

  async mint(agent: number, at: number): Promise<string> {
    const token = `abt_${randomBytes(32).toString('base64url')}`;
    await this.store.write((tx) => tx.insertToken(hashOf(token), agent, at));
    return token;
  }

  async revoke(agent: number): Promise<number> {
    const revoked = await this.store.write((tx) => tx.deleteTokens(agent));
    this.known.clear();
    return revoked;
  }

  /** Who holds this token. The owner's token is not an agent: it is refused here like any unknown one. */
  authenticate(token: string, via: Caller['via']): Caller | undefined {
    if (!/^abt_[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
    const agent = this.known.get(token) ?? this.store.agentByToken(hashOf(token));
    if (agent === undefined || this.bus.roster.get(agent).removed) return undefined;
    if (this.known.size < 10_000) this.known.set(token, agent);
    return { agent, via };
  }

  ownerProof(text: string): string {
    return signature(this.ownerToken, text).toString('base64url');
  }

  isOwnerProof(text: string, proof: string): boolean {
    const given = Buffer.from(proof, 'base64url');
    const right = signature(this.ownerToken, text);
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

const hashOf = (token: string): Uint8Array => createHash('sha256').update(token).digest();
const signature = (token: string, text: string): Buffer => createHmac('sha256', token).update(text).digest();
