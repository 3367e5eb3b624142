import { join } from 'node:path';
import type { BusClient } from '../../../src/client/busClient.ts';
import type { AgentRoom } from '../../support/agents/agentRoom.ts';
import type { Product } from '../../support/agents/agentProduct.ts';
import { until } from '../../support/hubProcess.ts';
import type { Options } from '../options.ts';
import { latencyRow, type Row } from '../report.ts';
import { interleave, timedLoop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import type { Scenario } from './scenario.ts';

/**
 * From `send` to the request of the model of an idle session in a terminal: real products, a scripted model. The product's
 * own share: of Claude Code from the moment that the bus has handed the turn over and its hook ends; of Codex a turn that is
 * begun over its control socket by hand. The same for Copilot in VS Code is `wake`.
 */
export const agentWakes: Scenario = {
  names: ['wake_claude', 'wake_codex'],

  async run(options) {
    // Not before they are wanted: the first time, they install the products.
    const { claude } = await import('../../support/agents/products/claude.ts');
    const { codex } = await import('../../support/agents/products/codex.ts');
    const rows: Row[] = [];
    for (const product of [claude, codex]) {
      if (options.wants(`wake_${product.name}`)) rows.push(...(await measure(product, options)));
    }
    return rows;
  },
};

async function measure(product: Product, options: Options): Promise<Row[]> {
  const { AgentRoom } = await import('../../support/agents/agentRoom.ts');
  const { AgentSession } = await import('../../support/agents/agentSession.ts');
  const { idBefore } = await import('../../support/agents/role.ts');
  await using owned = new AsyncDisposableStack();
  const room = await AgentRoom.open({ after: (end) => owned.defer(async () => void (await (end as () => unknown)())) });
  const attach = { workspace: room.workspace, product: 'bench', name: 'ann' };
  const ann = await room.hub.client({ attach, reconnect: true });
  room.model.follow(({ fresh }) => {
    const words = /Question \d+ of the bench/.exec(fresh)?.[0];
    return words === undefined
      ? undefined
      : { call: 'send', with: { reply_to: idBefore(fresh, words), text: 'Answered.' } };
  });
  const session = await AgentSession.open(product, room);
  await session.ask('Good morning.');
  const probe = new TerminalWake(room, ann, `shop-api-${product.agent}`);
  const [whole, own] = [`wake_${product.name}`, `floor_${product.name}_turn`];
  const probes = [timedLoop(whole, 1, () => probe.woken()), timedLoop(own, 1, () => probe.alone(product))];
  const of = await interleave(probes, { rounds: options.quick ? 3 : 8, ms: 1, warmMs: 1 });
  const slower = ratio(of(whole).p50s, of(own).p50s);
  const against = 'the product’s own share';
  const note = 'from the call of send until the model of the idle session was asked';
  return [
    { ...latencyRow(own, of(own)), ops: null },
    { ...latencyRow(whole, of(whole), { ratio: slower, against, note }), ops: null },
  ];
}

class TerminalWake {
  /** Of the last wake: from the moment that its receipt says "offered". */
  private afterOffer = 0;
  private readonly room: AgentRoom;
  private readonly ann: BusClient;
  private readonly agent: string;
  private rounds = 0;

  constructor(room: AgentRoom, ann: BusClient, agent: string) {
    this.room = room;
    this.ann = ann;
    this.agent = agent;
  }

  /** The product's own share. */
  async alone({ name }: Product): Promise<number> {
    if (name !== 'codex') return this.afterOffer;
    const { CodexSocketRoute } = await import('../../../src/connect/routes/codexSocketRoute.ts');
    const { room } = this;
    const socket = new CodexSocketRoute(join(room.home, '.codex'), 'bench');
    try {
      const chat = (await socket.terminalSessionsIn(room.workspace)).at(-1)?.chat ?? '';
      await this.idle();
      // Its hook tells of the end of a turn before Codex is through with it, and what comes in between is lost.
      await until('Codex is through with its turn', async () => (await socket.canReach(chat)) === 'idle');
      const text = `Say that you have understood number ${++this.rounds}.`;
      const began = performance.now();
      await socket.deliver(chat, text);
      return (await room.model.hears(text)).at - began;
    } finally {
      socket.close();
    }
  }

  private async idle(): Promise<void> {
    const { ann, agent } = this;
    await until('it is idle and can be woken', async () => {
      const { agents } = (await ann.call('agents', { query: agent })).data;
      return agents.some(({ presence, reach }) => presence === 'idle' && reach[0] !== 'its next turn');
    });
  }

  async woken(): Promise<number> {
    const { room, ann, agent } = this;
    await this.idle();
    const text = `Question ${++this.rounds} of the bench`;
    const began = performance.now();
    const { id } = (await ann.call('send', { to: [agent], text, kind: 'request' })).data;
    const turn = await room.model.hears(text);
    const status = await until('it is answered', async () => {
      const { data } = await ann.call('status', { id });
      return data.request?.state === 'answered' ? data : undefined;
    });
    const offered = status.recipients[0]?.steps.find(({ step }) => step === 'offered')?.at;
    this.afterOffer = Math.max(0, performance.timeOrigin + turn.at - Date.parse(offered ?? ''));
    return turn.at - began;
  }
}
