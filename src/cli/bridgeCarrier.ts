import { randomUUID } from 'node:crypto';
import { BusClient } from '../client/busClient.ts';
import { bridgeWay, type BridgeWay } from '../connect/routes/bridgeWay.ts';
import { codexTerminalsIn } from '../connect/routes/codexTerminals.ts';
import type { SessionState, WakeRoute } from '../connect/routes/route.ts';
import type { BusHome } from '../hub/home.ts';
import { version } from '../hub/version.ts';
import type { CarryParams, WakeParams, WakeResult } from '../protocol/reachMessages.ts';

export interface CarriedSession {
  home: BusHome;
  workspace: string;
  product: string;
  /** The agent that was chosen for it, if one was. */
  agent: string | undefined;
  /** The session's own id, where it is known already. */
  chat: string | undefined;
}

/** The end of a turn is told by a hook before the product is through with it. */
const settleMs = 10_000;
const proofMs = 60_000;
const lookMs = 100;
/** A new session of Codex's starts its bridge before it is listed itself. */
const listedMs = [0, 500, 1_500, 5_000];
const slowestMs = 5_000;

/**
 * Tells the hub, for as long as the bridge lives, that there is a session of its product here, in which terminal, and
 * puts messages in front of it where the product has a way for that. It waits for a hub and never starts one: whoever
 * sends a message does.
 */
export class BridgeCarrier {
  private readonly session: CarriedSession;
  private readonly id = randomUUID();
  private way: BridgeWay = { pids: [] };
  private chat: string | undefined;
  private client: BusClient | undefined;
  private isClosed = false;
  private passing: Promise<void> = Promise.resolve();
  /** Sessions of which the hub was told who they are; false where it may have heard so, and has not answered. */
  private readonly introduced = new Map<string, boolean>();
  private readonly lastTold = new Map<string, number>();

  constructor(session: CarriedSession) {
    this.session = session;
    this.chat = session.chat;
  }

  async start(): Promise<void> {
    this.way = await bridgeWay(this.session.product, version);
    this.chat ??= this.way.chat;
    if (this.way.watch) this.way.watch.onState = (chat, state) => this.pass(chat, state);
    await this.connect(0);
    for (const wait of listedMs) {
      await pause(wait);
      if (this.isClosed) return;
      await this.tellLeft().catch(() => undefined);
    }
  }

  /** Whose calls come in: each session has a bridge of its own. */
  isOf(chat: string | undefined): void {
    if (chat === undefined || chat === this.chat) return;
    this.chat = chat;
    this.client?.request('carry', this.carried()).catch(() => undefined);
  }

  close(): void {
    this.isClosed = true;
    this.client?.close();
    this.way.watch?.close();
  }

  private async connect(attempt: number): Promise<void> {
    if (this.isClosed) return;
    try {
      const client = await BusClient.connect({
        home: this.session.home,
        version,
        via: 'stdio',
        passing: true,
        start: false,
        reconnect: true,
        serves: { wake: (params) => this.wake(params), leave: () => this.close() },
        onConnected: async (request) => {
          await request('carry', this.carried());
        },
      });
      this.client = client;
      if (this.isClosed) return client.close();
      // The hub may have been away while turns began and ended.
      client.onStateChange = (state) => state === 'connected' && void this.tellAll().catch(() => undefined);
      await this.tellAll().catch(() => undefined);
    } catch {
      setTimeout(() => void this.connect(attempt + 1), Math.min(100 * 2 ** attempt, slowestMs)).unref();
    }
  }

  private carried(): CarryParams {
    const { product, workspace, agent } = this.session;
    const { route, says, pids, watch } = this.way;
    // Where all sessions are in one server, whoever is connected to it reaches each of them.
    const chat = watch ? undefined : this.chat;
    return {
      window: this.id,
      rungs: route ? ['turn'] : [],
      session: {
        product,
        workspace,
        ...(agent !== undefined && { agent }),
        ...(chat !== undefined && { chat }),
        ...(says && { says }),
        route: route?.name ?? 'its bridge',
        pids,
      },
    };
  }

  private async wake({ chat, prompt, wake, ids }: WakeParams): Promise<WakeResult> {
    const { route } = this.way;
    if (!route || chat === undefined) return none('nobody can begin a turn there');
    const state = await settled(route, chat);
    if (state === undefined) return none('this session is not one that can be reached from here');
    if (state !== 'unknown') this.pass(chat, state);
    if (state === 'approval') return none('it is asking its person something');
    if (state === 'working') return none('it was at work by then');
    try {
      await route.deliver(chat, prompt);
    } catch (error) {
      return none(`${route.name} did not take it: ${error instanceof Error ? error.message : 'no reason given'}`);
    }
    void this.prove(route, chat, wake, ids).catch(() => undefined);
    return { rung: 'turn' };
  }

  /** Hooks prove it sooner, where the person has approved them. */
  private async prove(route: WakeRoute, chat: string, mark: string, ids: string[]): Promise<void> {
    if (!route.prove) return;
    const begun = performance.now();
    while (!this.isClosed && performance.now() - begun < proofMs) {
      if (await route.prove(chat, mark)) return this.client?.shown(ids, 'turn');
      await pause(lookMs);
    }
  }

  private async tellAll(): Promise<void> {
    const sessions = (await this.way.watch?.sessionsIn(this.session.workspace)) ?? [];
    const left = await this.leftSessions();
    for (const { chat, state } of sessions) if (!left.includes(chat)) this.pass(chat, state);
    const ended = [...this.introduced.keys()].filter((chat) => !sessions.some((session) => session.chat === chat));
    for (const chat of ended) this.pass(chat, 'gone');
  }

  private async tellLeft(): Promise<void> {
    for (const chat of await this.leftSessions()) this.pass(chat, 'gone');
  }

  /**
   * Codex keeps a session for a minute after its person has begun another one in that terminal, or has closed it. Where
   * there is one terminal in the folder, the newest session is the one in it, and goes on as the same agent.
   */
  private async leftSessions(): Promise<string[]> {
    const { workspace } = this.session;
    const { watch } = this.way;
    if (!watch || (await codexTerminalsIn(workspace)) !== 1) return [];
    const former = (await watch.terminalSessionsIn(workspace)).slice(0, -1);
    return former.flatMap(({ chat, state }) => (state === 'idle' ? [chat] : []));
  }

  /** One after the other, as it was told. */
  private pass(chat: string, state: SessionState | 'gone'): void {
    const at = Date.now();
    this.passing = this.passing.then(() => this.told(chat, state, at)).catch(() => undefined);
  }

  private async told(chat: string, state: SessionState | 'gone', at: number): Promise<void> {
    if (state !== 'gone' && (await this.introduce(chat))) this.lastTold.set(chat, Date.now());
    if (state === 'unknown') return;
    // What was seen before the hub knew of the session, or in the same moment, would be too old to be believed.
    const seenAt = Math.max(at, (this.lastTold.get(chat) ?? 0) + 1);
    while (Date.now() < seenAt) await pause(1);
    this.lastTold.set(chat, seenAt);
    await this.client?.request('observe', { chat, state, at: seenAt });
    // Only when the hub has it: what it did not hear, it is told when it is back.
    if (state === 'gone' && this.introduced.delete(chat)) this.lastTold.delete(chat);
  }

  /** Its first turn makes a session an agent of the bus, as its hooks would, had the person approved them. */
  private async introduce(chat: string): Promise<boolean> {
    const { workspace, agent } = this.session;
    if (agent !== undefined || this.introduced.get(chat)) return false;
    if (!(await this.way.watch?.isIn(workspace, chat))) return false;
    this.introduced.set(chat, false);
    (await this.as(chat)).close();
    this.introduced.set(chat, true);
    return true;
  }

  private as(chat: string): Promise<BusClient> {
    const { home, workspace, product } = this.session;
    const attach = { workspace, product, chat };
    return BusClient.connect({ home, version, via: 'stdio', passing: true, start: false, attach });
  }
}

/** What it does, once it has come to rest. */
async function settled(route: WakeRoute, chat: string): Promise<SessionState | undefined> {
  const begun = performance.now();
  for (;;) {
    const state = await route.canReach(chat);
    if (state !== 'working' || performance.now() - begun >= settleMs) return state;
    await pause(lookMs);
  }
}

function none(note: string): WakeResult {
  return { rung: 'none', note };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
