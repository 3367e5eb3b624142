/** A session of a product in a terminal as the hub sees it: its hooks, and whatever carries it. */
import { randomUUID } from 'node:crypto';
import type { BusClient } from '../../src/client/busClient.ts';
import type {
  HookParams,
  HookResult,
  Rung,
  SessionParams,
  WakeParams,
  WakeResult,
} from '../../src/protocol/reachMessages.ts';
import { hookCall } from './hookCall.ts';
import { until, type HubProcess } from './hubProcess.ts';

export interface SessionOptions {
  workspace: string;
  product?: string;
  chat?: string;
}

export interface CarrierOptions extends Partial<SessionParams> {
  rungs?: Rung[];
  /** It carries all sessions of the product in the workspace. */
  wide?: boolean;
}

export class FakeSession {
  readonly hub: HubProcess;
  readonly workspace: string;
  readonly product: string;
  readonly chat: string;
  readonly wakes: WakeParams[] = [];
  readonly left: string[] = [];
  /** What a wake comes to; unless told, its prompt becomes a turn at once. */
  onWake: (wake: WakeParams) => Promise<WakeResult> | WakeResult = (wake) => {
    void this.hook('prompt', { prompt: wake.prompt }).then((answer) => this.turns.push(answer));
    return { rung: 'turn' };
  };
  readonly turns: HookResult[] = [];

  constructor(hub: HubProcess, { workspace, product = 'claude', chat = randomUUID() }: SessionOptions) {
    this.hub = hub;
    this.workspace = workspace;
    this.product = product;
    this.chat = chat;
  }

  /** One that has begun and waits for its person. */
  static async start(hub: HubProcess, options: SessionOptions): Promise<FakeSession & { agent: string }> {
    const session = new FakeSession(hub, options);
    const { agent } = await session.hook('session-start');
    return Object.assign(session, { agent });
  }

  async hook(event: HookParams['event'], rest: Partial<HookParams> = {}): Promise<HookResult & { agent: string }> {
    const { workspace, product, chat } = this;
    const client = await this.hub.client({ attach: { workspace, product, chat }, passing: true });
    try {
      return await hookCall(client, { chat, event, ...rest });
    } finally {
      this.hub.close(client);
    }
  }

  /** Somebody who carries it: a connection of the owner's. */
  carry({ rungs = ['turn'], wide = false, ...session }: CarrierOptions = {}): Promise<BusClient> {
    const { workspace, product, chat } = this;
    return this.hub.client({
      passing: true,
      reconnect: true,
      serves: {
        wake: async (params) => {
          this.wakes.push(params);
          return this.onWake(params);
        },
        leave: ({ why }) => this.left.push(why),
      },
      onConnected: async (request) => {
        const named = wide ? {} : { chat };
        const params = { product, workspace, ...named, route: 'a scripted way', ...session };
        await request('carry', { window: randomUUID(), rungs, session: params });
      },
    });
  }

  woken(times = 1): Promise<WakeParams> {
    return until(`${times} wakes of the session`, () => this.wakes[times - 1]);
  }
}
