import { BusClient } from '../client/busClient.ts';
import type { BusHome } from '../hub/home.ts';
import { version } from '../hub/version.ts';
import type { ModelAnswer } from '../tools/answer.ts';
import type { McpCall } from '../transports/mcp/mcpServer.ts';
import { productOf } from './product.ts';

export interface BridgeOptions {
  home: BusHome;
  workspace: string;
  /** The agent's name, where it was chosen; otherwise workspace and product decide. */
  agent: string | undefined;
}

/**
 * Calls of one MCP client, on their way to the hub. It connects at the first call, since only then it is known which
 * product calls; a failed attempt is told to the caller, and the next call tries again.
 */
export class McpBridge {
  private readonly options: BridgeOptions;
  private connecting: Promise<BusClient> | undefined;
  private client: BusClient | undefined;

  constructor(options: BridgeOptions) {
    this.options = options;
  }

  async call(name: string, args: Record<string, unknown>, { signal, client }: McpCall): Promise<ModelAnswer> {
    const bus = await this.connect(productOf(client));
    return bus.callForModel(name, args, signal);
  }

  connect(product: string): Promise<BusClient> {
    const { home, workspace, agent } = this.options;
    this.connecting ??= BusClient.connect({
      home,
      version,
      via: 'stdio',
      reconnect: true,
      attach: { workspace, product, ...(agent !== undefined && { name: agent }) },
    }).then(
      (client) => (this.client = client),
      (error: unknown) => {
        this.connecting = undefined;
        throw error;
      },
    );
    return this.connecting;
  }

  delivered(answer: ModelAnswer): void {
    this.client?.shown(answer.shown, answer.route);
  }

  close(): void {
    this.client?.close();
  }
}
