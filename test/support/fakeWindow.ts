/** An editor's window as the hub sees it: a client that carries, and the hooks of the chats in it. */
import { randomUUID } from 'node:crypto';
import type { BusClient } from '../../src/client/busClient.ts';
import type {
  AskParams,
  AskResult,
  HookParams,
  HookResult,
  Rung,
  WakeParams,
  WakeResult,
} from '../../src/protocol/reachMessages.ts';
import { hookCall } from './hookCall.ts';
import { until, type HubProcess } from './hubProcess.ts';

export interface WindowOptions {
  workspace: string;
  product?: string;
  window?: string;
  rungs?: Rung[];
  /** Submit the prompt as a turn of the chat, as Copilot would: its prompt hook follows. On unless told. */
  runs?: boolean;
  /** What its person says to every question; "always" unless told. */
  verdict?: AskResult['verdict'];
}

export class FakeWindow {
  readonly hub: HubProcess;
  readonly workspace: string;
  readonly product: string;
  readonly id: string;
  readonly wakes: WakeParams[] = [];
  readonly asks: AskParams[] = [];
  private readonly options: WindowOptions;
  private link: BusClient | undefined;
  /** What a wake comes to. */
  onWake: (wake: WakeParams) => Promise<WakeResult> | WakeResult;
  onAsk: (question: AskParams) => Promise<AskResult> | AskResult;
  /** What the hooks of woken turns were answered. */
  readonly turns: { chat: string; answer: HookResult }[] = [];
  carried = 0;

  private constructor(hub: HubProcess, options: WindowOptions) {
    this.hub = hub;
    this.options = options;
    this.workspace = options.workspace;
    this.product = options.product ?? 'copilot';
    this.id = options.window ?? randomUUID();
    this.onAsk = () => ({ verdict: options.verdict ?? 'always' });
    this.onWake = (wake) => {
      if (options.runs !== false) this.inBackground(() => this.runTurn(wake));
      return { rung: 'turn' };
    };
  }

  static async open(hub: HubProcess, options: WindowOptions): Promise<FakeWindow> {
    const window = new FakeWindow(hub, options);
    await window.connect();
    return window;
  }

  async connect(): Promise<void> {
    this.link = await this.hub.client({
      attach: { workspace: this.workspace, product: this.product },
      reconnect: true,
      serves: {
        wake: async (params) => {
          const wake = { ...params, ...(params.chat && { chat: params.chat.slice(this.prefix.length) }) };
          this.wakes.push(wake);
          return this.onWake(wake);
        },
        ask: async (params) => {
          this.asks.push(params);
          return this.onAsk(params);
        },
      },
      onConnected: async (request) => {
        await request('carry', { window: this.id, rungs: this.options.rungs ?? ['turn', 'input', 'notification'] });
        this.carried++;
      },
    });
  }

  /** Chats have ids that are unique in the world; here they are short ones, unique in their workspace. */
  get prefix(): string {
    return `${this.workspace} `;
  }

  get home(): string {
    return this.client.agent;
  }

  get client(): BusClient {
    if (!this.link) throw new Error('the window is closed');
    return this.link;
  }

  close(): void {
    if (this.link) this.hub.close(this.link);
    this.link = undefined;
  }

  /** One hook: a process of its own in real life, so a connection of its own. */
  async hook(
    chat: string,
    event: HookParams['event'],
    rest: Partial<HookParams> = {},
  ): Promise<HookResult & { agent: string }> {
    const client = await this.hookClient(chat);
    try {
      return await hookCall(client, { chat: this.prefix + chat, event, ...rest });
    } finally {
      this.hub.close(client);
    }
  }

  /** The agent that a chat is. */
  async agentOf(chat: string): Promise<string> {
    const client = await this.hookClient(chat);
    this.hub.close(client);
    return client.agent;
  }

  /** What a turn does by itself. One that is cut off by the end of its window (and its hub) has not failed. */
  inBackground(turn: () => Promise<void>): void {
    void turn().catch((error: unknown) => {
      if (this.link) throw error;
    });
  }

  async runTurn(wake: WakeParams): Promise<void> {
    const chat = wake.chat ?? `new-${wake.wake.slice(-6)}`;
    this.turns.push({ chat, answer: await this.hook(chat, 'prompt', { prompt: wake.prompt }) });
  }

  woken(times = 1): Promise<WakeParams> {
    return until(`${times} wakes`, () => this.wakes[times - 1]);
  }

  /** The turn of a wake has begun, and its hook was answered. @returns its chat */
  async ran(times = 1): Promise<string> {
    return (await until(`${times} turns`, () => this.turns[times - 1])).chat;
  }

  private hookClient(chat: string): Promise<BusClient> {
    const { workspace, product, id: window } = this;
    return this.hub.client({ attach: { workspace, product, chat: this.prefix + chat, window }, passing: true });
  }
}
