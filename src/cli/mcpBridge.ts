import { BusClient } from '../client/busClient.ts';
import { productOfAgent } from '../connect/products/table.ts';
import { limits } from '../core/limits.ts';
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
  /** The product, where its configuration says so; otherwise what the client calls itself. */
  product: string | undefined;
}

/**
 * Calls of one MCP client, on their way to the hub, with one connection for each of the client's sessions that it tells
 * apart. It connects at the first call, since only then it is known which product calls; a failed attempt is told to the
 * caller, and the next call tries again.
 */
export class McpBridge {
  private readonly options: BridgeOptions;
  private readonly connections = new Map<string, Promise<BusClient>>();
  private readonly answeredBy = new WeakMap<ModelAnswer, BusClient>();
  /** A call tells which product it is, and which of its sessions. */
  onSession: (product: string, session: string | undefined) => void = () => undefined;

  constructor(options: BridgeOptions) {
    this.options = options;
  }

  async call(name: string, args: Record<string, unknown>, { signal, client, meta }: McpCall): Promise<ModelAnswer> {
    const product = this.options.product ?? productOf(client);
    const session = sessionOf(product, meta);
    this.onSession(product, session);
    const bus = await this.connect(product, session);
    const answer = await bus.callForModel(name, args, signal);
    this.answeredBy.set(answer, bus);
    return answer;
  }

  connect(product: string, session?: string): Promise<BusClient> {
    const { home, workspace, agent } = this.options;
    const chat = agent === undefined ? session : undefined;
    const key = chat ?? '';
    const known = this.connections.get(key);
    if (known) return known;
    const connecting = BusClient.connect({
      home,
      version,
      via: 'stdio',
      reconnect: true,
      attach: {
        workspace,
        product,
        ...(agent !== undefined && { name: agent }),
        ...(chat !== undefined && { chat }),
        ...(chat !== undefined && productOfAgent(product)?.session?.restarts && { process: process.ppid }),
      },
    });
    this.connections.set(key, connecting);
    connecting.catch(() => this.connections.delete(key));
    return connecting;
  }

  delivered(answer: ModelAnswer): void {
    this.answeredBy.get(answer)?.shown(answer.shown, answer.route);
  }

  close(): void {
    for (const connecting of this.connections.values()) {
      connecting.then(
        (client) => client.close(),
        () => undefined,
      );
    }
  }
}

/** Whether the first call would tell nothing new about who this is. */
export function isKnownAtStart(agent: string): boolean {
  const product = productOfAgent(agent);
  if (!product || product.session?.meta !== undefined) return false;
  return product.session === undefined || sessionOf(agent) !== undefined;
}

/** Whether its sessions are in terminals: those of editors are carried by their windows. */
export function livesInTerminal(agent: string): boolean {
  const product = productOfAgent(agent);
  return product !== undefined && ['claude', 'codex', 'gemini', 'copilot'].includes(product.name);
}

/** The session that a call belongs to, by the id that the product's hooks name, too. */
export function sessionOf(product: string, meta?: Record<string, unknown>): string | undefined {
  const mark = productOfAgent(product)?.session;
  const said = mark?.variable === undefined ? mark?.meta && meta?.[mark.meta] : process.env[mark.variable];
  return typeof said === 'string' && said !== '' && said.length <= limits.chatIdLength ? said : undefined;
}
