import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { BusClient, type ClientOptions } from '../client/busClient.ts';
import type { WakeRoute } from '../connect/routes/route.ts';
import { BusError } from '../core/errors.ts';
import type { BusHome } from '../hub/home.ts';
import { version } from '../hub/version.ts';
import type { SessionParams, WakeParams, WakeResult } from '../protocol/reachMessages.ts';

export interface WaiterOptions {
  home: BusHome;
  session: SessionParams & { chat: string };
  route: WakeRoute;
  /** It waits on after a wake. */
  stays: boolean;
  /** Nobody needs it any more. */
  over: AbortSignal;
}

const pauseMs = { first: 200, most: 2_000 };
/** So long a hub may take to hear an answer before this process ends. */
const goodbyeMs = 2_000;

/**
 * Carries one session: says so to the hub, and hands over what the hub wakes it with. It starts no hub, since one that the
 * person has stopped stays stopped, but it outlives all of them. When and whether to wake is the hub's to say.
 */
export class Waiter {
  private readonly options: WaiterOptions;
  private readonly id = randomUUID();
  private readonly ended = Promise.withResolvers<'woken' | 'left'>();
  private isWoken = false;

  constructor(options: WaiterOptions) {
    this.options = options;
  }

  /** @returns `left` when it was told to go, or nobody needs it any more. */
  async run(): Promise<'woken' | 'left'> {
    const { over } = this.options;
    const leave = (): void => this.ended.resolve('left');
    over.addEventListener('abort', leave, { once: true });
    if (over.aborted) return 'left';
    const client = await this.connect();
    try {
      const outcome = await this.ended.promise;
      // What comes after the answer on the same wire is heard after it.
      if (client && outcome === 'woken') await Promise.race([said(client), pause(goodbyeMs)]);
      return outcome;
    } finally {
      client?.close();
    }
  }

  /** Until a hub is there, however long that takes. */
  private async connect(): Promise<BusClient | undefined> {
    const { home, over } = this.options;
    const { session } = this.options;
    const options: ClientOptions = {
      home,
      version,
      via: 'cli',
      passing: true,
      start: false,
      reconnect: true,
      serves: { wake: (params) => this.wake(params), leave: () => this.ended.resolve('left') },
      onConnected: async (request) => void (await request('carry', { window: this.id, rungs: ['turn'], session })),
    };
    for (let wait = pauseMs.first; !over.aborted; wait = Math.min(wait * 2, pauseMs.most)) {
      try {
        return await BusClient.connect(options);
      } catch (error) {
        if (!isAway(error)) throw error;
      }
      await pause(wait, undefined, { signal: over }).catch(() => undefined);
    }
    return undefined;
  }

  private async wake({ prompt }: WakeParams): Promise<WakeResult> {
    const { route, session, over, stays } = this.options;
    if (over.aborted || this.isWoken) return { rung: 'none', note: 'it was about to end' };
    this.isWoken = !stays;
    try {
      await route.deliver(session.chat, prompt);
    } catch (error) {
      if (!stays) this.ended.resolve('left');
      return { rung: 'none', note: `${route.name}: ${error instanceof Error ? error.message : String(error)}` };
    }
    if (!stays) setImmediate(() => this.ended.resolve('woken'));
    return { rung: 'turn' };
  }
}

async function said(client: BusClient): Promise<void> {
  await client.request('presence', { state: 'idle' }).catch(() => undefined);
}

function isAway(error: unknown): boolean {
  return error instanceof BusError && ['hub-unavailable', 'hub-stopping'].includes(error.code);
}
