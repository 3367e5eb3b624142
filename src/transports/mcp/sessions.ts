/**
 * The sessions of the older protocol revisions. A session belongs to one agent for as long as it lives: for every
 * other agent it does not exist. The map is kept in order of last use, so that the oldest come first.
 */
import type { Server, McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

export interface Session {
  id: string;
  agent: number;
  transport: WebStandardStreamableHTTPServerTransport;
  server: Server | McpServer;
  /** Settled once the session can take requests. */
  ready: Promise<void>;
  /** Requests and streams that are open now; a session in use is never dropped. */
  active: number;
  lastUsed: number;
}

export interface SessionLimits {
  idleMs: number;
  perAgent: number;
  inAll: number;
}

export const usualSessionLimits: SessionLimits = { idleMs: 3_600_000, perAgent: 1_000, inAll: 10_000 };

/** How many ended sessions are remembered, so that their ids stay dead. */
const remembered = 1_000;

export class Sessions {
  private readonly byId = new Map<string, Session>();
  private readonly perAgent = new Map<number, number>();
  private readonly ended = new Set<string>();
  private readonly limits: SessionLimits;
  private readonly now: () => number;
  private readonly onError: (error: unknown) => void;

  constructor(limits: SessionLimits, now: () => number, onError: (error: unknown) => void) {
    this.limits = limits;
    this.now = now;
    this.onError = onError;
  }

  get size(): number {
    return this.byId.size;
  }

  get(id: string): Session | undefined {
    return this.byId.get(id);
  }

  /** Whether the id belonged to a session that its client ended itself. */
  hasEnded(id: string): boolean {
    return this.ended.has(id);
  }

  /** False when the limits leave no room because everything is in use. */
  add(session: Session): boolean {
    if (!this.makeRoom(session.agent)) return false;
    this.byId.set(session.id, session);
    this.perAgent.set(session.agent, (this.perAgent.get(session.agent) ?? 0) + 1);
    return true;
  }

  /** Marks the session as in use; the returned function ends that use. */
  use(session: Session): () => void {
    session.active++;
    this.touch(session);
    return () => {
      session.active--;
      this.touch(session);
    };
  }

  /** The client ended it. */
  end(session: Session): void {
    this.ended.add(session.id);
    if (this.ended.size > remembered)
      for (const oldest of this.ended) {
        this.ended.delete(oldest);
        break;
      }
    this.drop(session);
  }

  drop(session: Session): void {
    if (this.byId.get(session.id) !== session) return;
    this.byId.delete(session.id);
    const left = (this.perAgent.get(session.agent) ?? 1) - 1;
    if (left > 0) this.perAgent.set(session.agent, left);
    else this.perAgent.delete(session.agent);
    session.server.close().catch(this.onError);
  }

  sweep(): void {
    const before = this.now() - this.limits.idleMs;
    for (const session of this.byId.values()) {
      if (session.lastUsed >= before) break;
      if (session.active === 0) this.drop(session);
    }
  }

  dropAll(): void {
    for (const session of [...this.byId.values()]) this.drop(session);
  }

  private touch(session: Session): void {
    session.lastUsed = this.now();
    if (!this.byId.delete(session.id)) return;
    this.byId.set(session.id, session);
  }

  private makeRoom(agent: number): boolean {
    const own =
      (this.perAgent.get(agent) ?? 0) < this.limits.perAgent ||
      this.dropOldestIdle((session) => session.agent === agent);
    return own && (this.byId.size < this.limits.inAll || this.dropOldestIdle(() => true));
  }

  private dropOldestIdle(among: (session: Session) => boolean): boolean {
    for (const session of this.byId.values()) {
      if (session.active > 0 || !among(session)) continue;
      this.drop(session);
      return true;
    }
    return false;
  }
}
