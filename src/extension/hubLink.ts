import * as vscode from 'vscode';
import { BusClient } from '../client/busClient.ts';
import { BusError, errorShape, type ErrorShape } from '../core/errors.ts';
import type { HubEvent } from '../protocol/messages.ts';
import type { HubState } from '../protocol/webviewMessages.ts';

export interface LinkParts {
  version: string;
  /** Whether a hub may be started without being asked for: not in a workspace that nobody trusts yet. */
  mayStart: () => boolean;
  /** The hub's program in its stable place; asked for only when one may be started. */
  hubScript: () => Promise<string>;
  output: vscode.LogOutputChannel;
}

/** Events of so many milliseconds are told together. */
const batchMs = 50;
/** How often to look whether somebody else has started a hub. */
const lookMs = 2_000;
/** A hub that makes room for a newer one is away for less than this; one that was stopped stays away. */
const restMs = 3_000;

/**
 * The window's connection to the hub, as the person. It is `off` when there is no hub and none was wanted, `connecting`
 * while one is started or found, `connected`, or `lost` while it comes back by itself.
 */
export class HubLink implements vscode.Disposable {
  private readonly parts: LinkParts;
  private readonly states = new vscode.EventEmitter<HubState>();
  private readonly batches = new vscode.EventEmitter<HubEvent[]>();
  private readonly gaps = new vscode.EventEmitter<void>();
  private client: BusClient | undefined;
  private clientStarts = false;
  private connecting: { attempt: Promise<BusClient>; starts: boolean } | undefined;
  private queue: HubEvent[] = [];
  private batchTimer: NodeJS.Timeout | undefined;
  private restTimer: NodeJS.Timeout | undefined;
  private lookTimer: NodeJS.Timeout | undefined;
  private closed = false;
  state: HubState = 'off';
  /** Why there is no connection, if that is not simply that no hub runs. */
  problem: ErrorShape | undefined;
  readonly onState = this.states.event;
  /** In the order in which they happened. */
  readonly onEvents = this.batches.event;
  /** More happened than was told: read again what is shown. */
  readonly onMissed = this.gaps.event;

  constructor(parts: LinkParts) {
    this.parts = parts;
  }

  /** The client while it is connected; never starts anything. */
  get current(): BusClient | undefined {
    return this.state === 'connected' ? this.client : undefined;
  }

  /** The name under which the person writes. */
  get me(): string {
    return this.client?.agent || 'person';
  }

  /** Connects behind the scenes, and keeps looking for a hub while there is none. */
  begin(): void {
    void this.open(this.parts.mayStart()).catch(() => undefined);
    this.lookTimer ??= setInterval(() => {
      if (!this.client && !this.connecting) void this.open(false).catch(() => undefined);
    }, lookMs);
  }

  /** A client for something that the person wants now: starts a hub if there is none. */
  async connect(): Promise<BusClient> {
    if (this.current) return this.current;
    if (!vscode.workspace.isTrusted) return await this.open(false);
    const client = await this.open(true);
    // The client may have rested since the hub was stopped: a call of any kind wakes both.
    if (this.state !== 'connected') await client.request('status', {});
    return client;
  }

  dispose(): void {
    this.closed = true;
    clearInterval(this.lookTimer);
    clearTimeout(this.batchTimer);
    clearTimeout(this.restTimer);
    this.client?.close();
    this.client = undefined;
    for (const emitter of [this.states, this.batches, this.gaps]) emitter.dispose();
  }

  private open(start: boolean): Promise<BusClient> {
    const enough = !start || this.current !== undefined || this.clientStarts;
    if (this.client && enough) return Promise.resolve(this.client);
    if (this.connecting && (this.connecting.starts || !start)) return this.connecting.attempt;
    const before = this.connecting?.attempt;
    const attempt = this.attempt(start, before).finally(() => {
      if (this.connecting?.attempt === attempt) this.connecting = undefined;
    });
    this.connecting = { attempt, starts: start };
    return attempt;
  }

  private async attempt(start: boolean, before: Promise<BusClient> | undefined): Promise<BusClient> {
    const found = await before?.catch(() => undefined);
    if (found && this.current === found) return found;
    this.client?.close();
    this.client = undefined;
    if (start) this.become('connecting');
    try {
      const client = await this.login(start);
      this.problem = undefined;
      return client;
    } catch (error) {
      const missing = error instanceof BusError && error.code === 'hub-unavailable' && !start;
      this.problem = missing ? undefined : errorShape(error);
      if (!missing) this.parts.output.warn(`No connection to the hub: ${this.problem?.message} ${this.problem?.next}`);
      this.become('off');
      throw error;
    }
  }

  private async login(start: boolean): Promise<BusClient> {
    const { version, hubScript } = this.parts;
    const client = await BusClient.connect({
      via: 'rpc',
      version,
      reconnect: true,
      start,
      ...(start && { hubScript: await hubScript() }),
    });
    if (this.closed) {
      client.close();
      throw new BusError('hub-unavailable', 'This window is closing.', { next: 'Nothing more to do.' });
    }
    client.onStateChange = (state) => {
      if (this.client === client) this.become(state);
    };
    this.client = client;
    this.clientStarts = start;
    await client.subscribe({ onEvent: (event) => this.collect(event), onMissed: () => this.miss() });
    this.become('connected');
    return client;
  }

  private collect(event: HubEvent): void {
    this.queue.push(event);
    this.batchTimer ??= setTimeout(() => this.tell(), batchMs);
  }

  private tell(): void {
    clearTimeout(this.batchTimer);
    this.batchTimer = undefined;
    const events = this.queue.splice(0);
    if (events.length > 0 && !this.closed) this.batches.fire(events);
  }

  private miss(): void {
    this.tell();
    this.gaps.fire();
  }

  private become(state: HubState): void {
    if (this.closed || this.state === state) return;
    this.state = state;
    clearTimeout(this.restTimer);
    if (state === 'lost') {
      // It is still looked for; but a hub that does not come back at once was stopped by somebody.
      this.restTimer = setTimeout(() => {
        if (this.state === 'lost') this.become('off');
      }, restMs);
    }
    this.states.fire(state);
  }
}
