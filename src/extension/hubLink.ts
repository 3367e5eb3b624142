import * as vscode from 'vscode';
import { BusClient } from '../client/busClient.ts';

export type LinkState = 'off' | 'connecting' | 'connected' | 'lost';

/** The window's connection to the hub, as the person. Comes back by itself after the hub restarts. */
export class HubLink implements vscode.Disposable {
  private readonly version: string;
  private readonly changes = new vscode.EventEmitter<void>();
  private connecting: Promise<BusClient> | undefined;
  private client: BusClient | undefined;
  state: LinkState = 'off';
  /** The state changed, or something happened on the bus. */
  readonly onChange = this.changes.event;

  constructor(version: string) {
    this.version = version;
  }

  connect(): Promise<BusClient> {
    if (this.client) return Promise.resolve(this.client);
    this.connecting ??= this.open().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  /** The client if there is one; never starts anything. */
  get current(): BusClient | undefined {
    return this.state === 'connected' ? this.client : undefined;
  }

  dispose(): void {
    this.client?.close();
    this.changes.dispose();
  }

  private async open(): Promise<BusClient> {
    this.become('connecting');
    try {
      const client = await BusClient.connect({ via: 'rpc', version: this.version, reconnect: true });
      client.onStateChange = (state) => this.become(state);
      await client.subscribe({ onEvent: () => this.changes.fire(), onMissed: () => this.changes.fire() });
      this.client = client;
      this.become('connected');
      return client;
    } catch (error) {
      this.become('off');
      throw error;
    }
  }

  private become(state: LinkState): void {
    this.state = state;
    this.changes.fire();
  }
}
