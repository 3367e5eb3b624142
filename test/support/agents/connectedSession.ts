/** One session of a product in a terminal, on the bus by `agent-bus connect` alone, and somebody else who writes to it. */
import type { BusClient } from '../../../src/client/busClient.ts';
import type { TestContext } from 'node:test';
import { until } from '../hubProcess.ts';
import type { Turn } from './agentModel.ts';
import type { Product } from './agentProduct.ts';
import { AgentRoom } from './agentRoom.ts';
import type { Launch } from './agentRun.ts';
import type { AgentTerminal } from './agentTerminal.ts';
import type { Step } from './modelWire.ts';

export interface SessionSetup {
  product: Product;
  /** What the person says to `agent-bus connect` besides the product. */
  connect?: string[];
  /** The person's first prompt, in which our command line may stand. */
  begin?: (agentBus: string) => string;
  /** By which route it is woken, as `agents` tells it. */
  route: string;
  /** What the model does with the command that it is told to leave running. */
  background?: (command: string) => Step;
}

export class ConnectedSession {
  readonly room: AgentRoom;
  readonly terminal: AgentTerminal;
  readonly setup: SessionSetup;
  /** Of the same workspace, so that nobody has to be asked whether it may wake. */
  readonly ann: BusClient;
  /** The agent that the session is. */
  readonly name: string;
  private readonly plan: Step[];

  private constructor(parts: Pick<ConnectedSession, 'room' | 'terminal' | 'setup' | 'ann' | 'name'>, plan: Step[]) {
    this.room = parts.room;
    this.terminal = parts.terminal;
    this.setup = parts.setup;
    this.ann = parts.ann;
    this.name = parts.name;
    this.plan = plan;
  }

  /** One that has had a turn, waits for its person, and can be woken. */
  static async open(
    t: Pick<TestContext, 'after'>,
    setup: SessionSetup,
    launch: (room: AgentRoom) => Launch = (room) => setup.product.interactive(room, setup.begin?.(room.agentBus)),
  ): Promise<ConnectedSession> {
    const room = await AgentRoom.open(t);
    const ann = await room.hub.client({ attach: { workspace: room.workspace, product: 'tester' }, reconnect: true });
    const { product, connect = [], begin } = setup;
    product.configure(room, {});
    await room.agentBusRun('connect', product.name, ...connect).done();
    const plan: Step[] = [];
    room.model.follow(scripted(setup, plan));
    const terminal = await room.terminal(launch(room));
    await terminal.shows(product.ready);
    if (!begin) await terminal.submit('Begin.', () => room.model.turns.length > 0);
    const name = `shop-api-${product.agent}`;
    const session = new ConnectedSession({ room, terminal, setup, ann, name }, plan);
    await session.canBeWoken();
    return session;
  }

  /** What the model does in its next requests, before it sees to its mail again. */
  does(...steps: Step[]): void {
    this.plan.push(...steps);
  }

  async canBeWoken(): Promise<void> {
    await until(`${this.name} is idle and can be woken`, async () => {
      const view = await this.view();
      return view?.presence === 'idle' && view.reach.includes(this.setup.route);
    });
  }

  async view() {
    const { data } = await this.ann.call('agents', { query: this.name, limit: 10 });
    return data.agents.find((agent) => agent.name === this.name);
  }

  async ask(round: number): Promise<string> {
    const { data } = await this.ann.call('send', { to: [this.name], text: question(round), kind: 'request' });
    return data.id;
  }

  /** The model has seen the question, and its answer has come back. */
  async answered(round: number): Promise<Turn> {
    const turn = await this.room.model.hears(question(round));
    await until(`answer ${round} has come`, async () => {
      if (this.room.model.faults.length > 0) throw new Error(this.room.model.faults.join('\n'));
      const { data } = await this.ann.call('inbox', {});
      return data.messages.some(({ text }) => text === `Answer ${round}`);
    });
    return turn;
  }

  /** How far a message got: each step with its route and its note. */
  async steps(id: string): Promise<string[]> {
    const { data } = await this.ann.call('status', { id });
    return data.recipients.flatMap(({ steps }) =>
      steps.map(({ step, route, note }) => [step, route, note].filter((part) => part !== undefined).join(' ')),
    );
  }

  /** In how many requests of the model the question was new. */
  timesHeard(round: number): number {
    return this.room.model.turns.filter(({ fresh }) => fresh.includes(question(round))).length;
  }

  /** The processes that wait for this session. */
  waiters(): number[] {
    return this.room.processes('cli.js wait ');
  }

  /** Kills the product itself and whatever of it runs in the terminal, all at once and without a word. */
  killProduct(): void {
    const program = `/${this.setup.product.name}`;
    const isProduct = (pid: number) =>
      this.room.processes(program).includes(pid) && !this.room.processes('tmux').includes(pid);
    for (const pid of this.room.processes(program).filter(isProduct)) process.kill(pid, 'SIGKILL');
  }
}

/** A model that reads its mail where it is pointed to it, answers every question once, and leaves running what it is told to. */
function scripted({ background }: SessionSetup, plan: Step[]) {
  const answered = new Set<string>();
  let command = '';
  let isRead = true;
  let isLeft = true;
  return ({ fresh }: Turn): Step => {
    if (fresh.includes('[Agent Bus]')) isRead = false;
    const told = /leaving this running in the background: ([^\n<]+)/.exec(fresh)?.[1];
    if (told !== undefined && background) {
      command = told.trim();
      isLeft = false;
    }
    const planned = plan.shift();
    if (planned) return planned;
    const plain = fresh
      .replaceAll('\\"', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"');
    const asked = [...plain.matchAll(/<message id="(m\d+)"[^>]*>\s*(?:\\n)?Question (\d+):/g)];
    const [, id, round = ''] = asked.find(([, , number = '']) => !answered.has(number)) ?? [];
    if (id !== undefined) {
      answered.add(round);
      isRead = true;
      return { call: 'send', with: { reply_to: id, text: `Answer ${round}` } };
    }
    if (!isRead) {
      isRead = true;
      return { call: 'inbox' };
    }
    if (!isLeft && background) {
      isLeft = true;
      return background(command);
    }
    return { say: 'That is all.' };
  };
}

const question = (round: number): string => `Question ${round}: are you awake?`;
