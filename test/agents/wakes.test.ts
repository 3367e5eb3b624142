import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import type { AgentTerminal } from '../support/agents/agentTerminal.ts';
import type { Step } from '../support/agents/modelWire.ts';
import { recordReach } from '../support/agents/reachTable.ts';
import type { WakeRoute } from '../support/agents/wakeRoute.ts';
import { claudeRewake } from '../support/agents/wakes/claudeRewake.ts';
import { copilotExtension } from '../support/agents/wakes/copilotExtension.ts';
import { copilotShell } from '../support/agents/wakes/copilotShell.ts';
import { geminiShell } from '../support/agents/wakes/geminiShell.ts';
import { until } from '../support/hubProcess.ts';

const routes = [claudeRewake, copilotExtension, copilotShell, geminiShell];
const sleeper = 'sleeper';
const draft = 'half a draft';

describe('an idle session in a terminal', () => {
  for (const route of routes) {
    const name = `${route.product.name} is woken by its ${route.name}`;
    test(`${name}: again and again, over a crash of the hub, beside a draft`, async (t) => {
      const room = await AgentRoom.open(t);
      const [ann] = await room.hub.agents(['ann'], { reconnect: true });
      await room.hub.mint(sleeper);
      await new Sleep(room, route, ann).run();
      assert.deepEqual(room.model.faults, []);
    });
  }
});

class Sleep {
  private readonly room: AgentRoom;
  private readonly route: WakeRoute;
  private readonly ann: BusClient;
  private plan: Step[] = [];

  constructor(room: AgentRoom, route: WakeRoute, ann: BusClient) {
    this.room = room;
    this.route = route;
    this.ann = ann;
  }

  async run(): Promise<void> {
    const { room, route } = this;
    const mcp = { command: room.agentBus, args: ['mcp', '--agent', sleeper] };
    route.product.configure(room, { mcp, ...route.setup?.(room, sleeper) });
    room.model.follow(() => this.plan.shift());
    this.expect(0);
    const terminal = await room.terminal(route.product.interactive(room));
    await terminal.shows(route.product.ready);
    await terminal.submit('Wait for mail.', () => room.model.turns.length > 0);
    await terminal.shows('Round 0 is over');

    await this.wake(1, terminal);
    await terminal.type(draft);
    await terminal.shows(draft);
    await this.wake(2, terminal);
    assert.ok((await terminal.screen()).includes(draft), 'what the person was writing is still there');
    await room.crashHub();
    await this.wake(3, terminal);
  }

  /** Sends a question to the idle session, and waits for its model's answer. */
  private async wake(round: number, terminal: AgentTerminal): Promise<void> {
    const { room, route, ann } = this;
    await terminal.idle();
    await until('the session waits for mail', () => room.processes(`wait --as ${sleeper}`).length > 0);
    this.expect(round);
    const began = performance.now();
    const text = `Question ${round}: are you awake`;
    await ann.call('send', { to: [sleeper], text, kind: 'request' });
    const turn = await room.model.hears(text);
    await until('the answer has come', async () => {
      assert.deepEqual(room.model.faults, []);
      const { data } = await ann.call('inbox', {});
      return data.messages.some((message) => message.text === `Answer ${round}`);
    });
    await terminal.shows(`Round ${round} is over`);
    const latencyMs = turn.at - began;
    const proof = 'the text was in a request of the model in a new turn, and its answer came back';
    recordReach({ product: route.product.name, state: 'idle', route: route.name, latencyMs, proof });
  }

  private expect(round: number): void {
    const { room, route } = this;
    const answer = { call: 'send', with: { to: ['ann'], text: `Answer ${round}`, kind: 'inform' } };
    const wait = route.wait?.(room, sleeper);
    this.plan = [...(round > 0 ? [answer] : []), ...(wait ? [wait] : []), { say: `Round ${round} is over.` }];
  }
}
