import { randomBytes } from 'node:crypto';
import { BusError } from '../core/errors.ts';
import type { Route } from '../core/model.ts';
import { readRecord } from '../hub/discovery.ts';
import { busHome, type BusHome } from '../hub/home.ts';
import type { EventNotification, HubEvent, HubMethod, HubRequests, SubscribeResult } from '../protocol/messages.ts';
import type { RequestContext } from '../protocol/calls.ts';
import type { AskParams, AskResult, LeaveParams, WakeParams, WakeResult } from '../protocol/reachMessages.ts';
import { UnknownMethod } from '../protocol/wireErrors.ts';
import { openConnection, type FindOptions, type HubConnection, type Identity } from './findHub.ts';
import { bundledHub } from './hubProcess.ts';
import type { MessageStatus, ModelAnswer, ToolInput, ToolName, ToolOutput } from './toolTypes.ts';

export interface ClientOptions extends Identity {
  home?: BusHome;
  start?: boolean;
  hubScript?: string;
  version: string;
  /** Stay connected: come back after the hub restarts, starting it if need be. */
  reconnect?: boolean;
  /** What the hub may ask of this client. */
  serves?: Served;
  /** Runs after each login, the first and those after a restart of the hub; calls wait until it is done. */
  onConnected?: (request: HubRequest) => Promise<void>;
}

/** Requests from the hub to a client that carries agents. The signal ends when the hub no longer wants an answer. */
export interface Served {
  wake?(params: WakeParams, signal: AbortSignal): Promise<WakeResult>;
  ask?(params: AskParams, signal: AbortSignal): Promise<AskResult>;
  /** It is not needed any more. */
  leave?(params: LeaveParams): void;
}

export type HubRequest = <Method extends HubMethod>(
  method: Method,
  params: HubRequests[Method]['params'],
) => Promise<HubRequests[Method]['result']>;

export interface EventHandlers {
  onEvent(event: HubEvent): void;
  /** More was missed than can be told one by one: read again what is shown. */
  onMissed?(): void;
}

/** Calls that may be repeated after a lost connection without doing anything twice. `send` gets a key for that. */
function isRepeatable(tool: string, args: unknown): boolean {
  if (tool === 'status') return !(args as { cancel?: boolean } | undefined)?.cancel;
  return ['agents', 'inbox', 'ack', 'conversations', 'conversation', 'ping', 'send'].includes(tool);
}

/**
 * A client of the hub. Calls survive a restart of the hub: what can be repeated safely is repeated, and events go on
 * from where they were.
 */
export class BusClient {
  private readonly options: ClientOptions;
  private readonly find: FindOptions;
  private connection: HubConnection | undefined;
  private connecting: { attempt: Promise<HubConnection>; background: boolean } | undefined;
  private name: string | undefined;
  private events: EventHandlers | undefined;
  private cursor: string | undefined;
  private closed = false;
  onStateChange: (state: 'connected' | 'lost') => void = () => undefined;

  private constructor(options: ClientOptions) {
    this.options = options;
    this.find = {
      home: options.home ?? busHome(),
      start: options.start ?? true,
      hubScript: options.hubScript ?? bundledHub,
      version: options.version,
    };
  }

  static async connect(options: ClientOptions): Promise<BusClient> {
    const client = new BusClient(options);
    try {
      await client.ready();
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** The name under which this client speaks. */
  get agent(): string {
    return this.name ?? '';
  }

  get hub(): { pid: number; version: string; mcpUrl: string; rpcPort: number } | undefined {
    const record = this.connection?.record;
    return record && { pid: record.pid, version: record.version, mcpUrl: record.mcpUrl, rpcPort: record.rpcPort };
  }

  /** A tool call as a program makes it: typed, raw, errors thrown. Nothing counts as shown until `shown` is called. */
  call(
    tool: 'status',
    args: ToolInput<'status'> & { id: string },
    signal?: AbortSignal,
  ): Promise<{ data: MessageStatus; shown: string[] }>;
  call<Name extends ToolName>(
    tool: Name,
    args: ToolInput<Name>,
    signal?: AbortSignal,
  ): Promise<{ data: ToolOutput<Name>; shown: string[] }>;
  async call(tool: ToolName, args: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.toolCall(tool, args, 'program', signal);
  }

  /** A tool call on behalf of a model: fenced text, errors as answers. */
  async callForModel(tool: string, args: unknown, signal?: AbortSignal): Promise<ModelAnswer> {
    return (await this.toolCall(tool, args, 'model', signal)) as ModelAnswer;
  }

  /** These were really put in front of the reader. */
  shown(ids: readonly string[], route: Route = 'client'): void {
    if (ids.length > 0) this.connection?.peer.notify('shown', { ids, route });
  }

  async request<Method extends HubMethod>(
    method: Method,
    params: HubRequests[Method]['params'],
    signal?: AbortSignal,
  ): Promise<HubRequests[Method]['result']> {
    const { peer } = await this.ready();
    return await peer.request(method, params, { signal });
  }

  async subscribe(handlers: EventHandlers, cursor?: string): Promise<void> {
    this.events = handlers;
    this.cursor = cursor;
    await this.resubscribe(await this.ready());
  }

  close(): void {
    this.closed = true;
    this.connection?.peer.close();
    this.connection = undefined;
  }

  private async toolCall(
    tool: string,
    args: unknown,
    reader: 'model' | 'program',
    signal?: AbortSignal,
  ): Promise<unknown> {
    const keyed = tool === 'send' ? withKey(args) : args;
    for (let attempt = 0; ; attempt++) {
      const { peer } = await this.ready();
      try {
        return await peer.request('call', { tool, args: keyed, for: reader }, { signal });
      } catch (error) {
        const lost = error instanceof BusError && (error.code === 'hub-unavailable' || error.code === 'hub-stopping');
        if (!lost || !this.options.reconnect || !isRepeatable(tool, args) || attempt >= 20 || signal?.aborted)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(25 * 2 ** attempt, 500)));
      }
    }
  }

  private ready(start = this.find.start, background = false): Promise<HubConnection> {
    if (this.connection?.peer.isOpen) return Promise.resolve(this.connection);
    if (this.closed) return Promise.reject(closedError());
    if (this.connecting) {
      const { attempt, background: gentle } = this.connecting;
      // An attempt to come back may have begun before the hub was up, and starts none: its failure is not the caller's.
      return gentle && !background ? attempt.catch(() => this.ready(start)) : attempt;
    }
    const attempt = this.open(start).finally(() => (this.connecting = undefined));
    this.connecting = { attempt, background };
    return attempt;
  }

  private async open(start: boolean): Promise<HubConnection> {
    const { as, attach, token, via, passing } = this.options;
    // After the first time it asks for the very name it had: places are given out in order of arrival.
    const hasPlace = attach !== undefined && this.name !== undefined;
    const identity: Identity = {
      via,
      ...(as !== undefined && { as }),
      ...(token !== undefined && { token }),
      ...(passing !== undefined && { passing }),
      ...(attach && { attach: hasPlace ? { ...attach, name: this.name ?? '' } : attach }),
    };
    const handlers = {
      onRequest: (method: string, params: unknown, context: RequestContext): unknown =>
        this.serve(method, params, context),
      onNotification: (method: string, params: unknown): void => {
        if (method === 'event') this.receive(params as EventNotification);
        else if (method === 'leave') this.options.serves?.leave?.(params as LeaveParams);
      },
    };
    const connection = await openConnection({ ...this.find, start }, identity, handlers, () => this.lost());
    if (this.closed) {
      connection.peer.close();
      throw closedError();
    }
    this.name = connection.agent;
    await this.greet(connection);
    this.connection = connection;
    if (this.events) await this.resubscribe(connection);
    this.onStateChange('connected');
    return connection;
  }

  /** Whoever carries agents says so before anything else of this client is heard. */
  private async greet({ peer }: HubConnection): Promise<void> {
    try {
      await this.options.onConnected?.(async (method, params) => await peer.request(method, params));
    } catch (error) {
      peer.close();
      throw error;
    }
  }

  private serve(method: string, params: unknown, context: RequestContext): unknown {
    const { serves } = this.options;
    if (method === 'ping') return null;
    if (method === 'wake' && serves?.wake) return serves.wake(params as WakeParams, context.signal);
    if (method === 'ask' && serves?.ask) return serves.ask(params as AskParams, context.signal);
    throw new UnknownMethod(method);
  }

  private async resubscribe(connection: HubConnection): Promise<void> {
    const result = (await connection.peer.request(
      'subscribe',
      this.cursor === undefined ? {} : { cursor: this.cursor },
    )) as SubscribeResult;
    if (result.missed) this.events?.onMissed?.();
    this.cursor = result.cursor;
  }

  private receive(note: EventNotification): void {
    this.cursor = note.cursor;
    this.events?.onEvent(note.event);
  }

  private lost(): void {
    this.connection = undefined;
    if (this.closed) return;
    this.onStateChange('lost');
    if (this.options.reconnect) this.comeBack(0);
  }

  /** A hub that was stopped takes its record with it and is left to rest until a call needs one; a dead one leaves it. */
  private wasCutOff(): boolean {
    return readRecord(this.find.home.record).record !== undefined;
  }

  private comeBack(attempt: number): void {
    const delay = Math.min(20 * 2 ** attempt, 2_000);
    const timer = setTimeout(() => {
      if (this.closed) return;
      this.ready(this.find.start && this.wasCutOff(), true).catch(() => this.comeBack(attempt + 1));
    }, delay);
    // Only somebody who listens is kept alive by coming back.
    if (!this.events) timer.unref();
  }
}

// Ascending, so that the keys of a burst lie side by side in the index: random ones would touch a page each.
const keyPrefix = `auto-${randomBytes(12).toString('base64url')}-`;
let keyCount = 0;

function withKey(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || 'key' in args) return args;
  return { ...args, key: keyPrefix + String(keyCount++).padStart(9, '0') };
}

function closedError(): BusError {
  return new BusError('hub-unavailable', 'This client was closed.', { next: 'Connect again.' });
}
