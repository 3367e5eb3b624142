/** An interactive session of a connected product, in a terminal as a person has it. */
import { until } from '../hubProcess.ts';
import type { Product, Setup } from './agentProduct.ts';
import type { AgentRoom } from './agentRoom.ts';
import type { AgentTerminal } from './agentTerminal.ts';
import type { Turn } from './agentModel.ts';

export class AgentSession {
  readonly product: Product;
  readonly room: AgentRoom;
  readonly terminal: AgentTerminal;

  private constructor(product: Product, room: AgentRoom, terminal: AgentTerminal) {
    this.product = product;
    this.room = room;
    this.terminal = terminal;
  }

  /**
   * Configures and connects the product, and starts it: it waits for its person.
   * @param options of `agent-bus connect`
   */
  static async open(
    product: Product,
    room: AgentRoom,
    setup: Setup = {},
    options: readonly string[] = [],
  ): Promise<AgentSession> {
    product.configure(room, setup);
    await room.agentBusRun('connect', product.name, ...options).done();
    const session = await AgentSession.start(product, room);
    await product.approve?.(session.terminal);
    await session.terminal.shows(product.ready);
    return session;
  }

  /** Starts a product that has been connected before. */
  static async start(product: Product, room: AgentRoom): Promise<AgentSession> {
    return new AgentSession(product, room, await room.terminal(product.interactive(room)));
  }

  /** Types a prompt; gives the request of the model that has it. */
  async ask(prompt: string): Promise<Turn> {
    const { model } = this.room;
    const since = model.turns.length;
    await this.terminal.idle();
    await this.terminal.submit(prompt, () => model.turns.slice(since).some(({ fresh }) => fresh.includes(prompt)));
    return model.hears(prompt, since);
  }

  /** Runs a command of the product's own, such as /clear. */
  async command(command: string): Promise<void> {
    const { terminal } = this;
    await terminal.quiet();
    await terminal.type(command);
    await terminal.shows(command);
    // An Enter right behind fast typing is taken for a part of the text by some.
    await until(`${command} is taken`, async () => {
      await terminal.press('Enter');
      const isTaken = async () => !inputOf(await terminal.screen()).includes(command);
      return until('it is taken', isTaken, 3_000).catch(() => false);
    });
    await terminal.quiet();
    await terminal.shows(this.product.ready);
  }
}

/** What stands in the input: the last line that begins as each product's does. */
function inputOf(screen: string): string {
  return screen.split('\n').findLast((line) => /^\s*[❯›*>]\s/.test(line)) ?? '';
}
