import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, checkOpen, storedMessages } from '../support/checker.ts';
import { FakeAgent, McpDoorway, RpcDoorway, type Door } from '../support/fakeAgent.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

const rounds = Number(process.env['AGENT_BUS_CRASH_ROUNDS'] ?? 160);

/** Open while there is a hub to talk to. */
class Gate {
  private waiting: (() => void)[] = [];
  isOpen = false;

  open(): void {
    this.isOpen = true;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  shut(): void {
    this.isOpen = false;
  }

  readonly pass = (): Promise<void> =>
    this.isOpen ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
}

/** Some of them are told that their message is stored. */
async function promises(agents: readonly FakeAgent[]): Promise<void> {
  const made = (): number => agents.flatMap(({ log }) => log.sends).filter(({ outcome }) => outcome === 'ok').length;
  const before = made();
  await until('messages are stored', () => made() >= before + 4);
}

test(`nothing promised is lost when the hub is killed ${rounds} times under load`, async () => {
  const random = seededRandom(testSeed());
  const hub = new HubProcess();
  const gate = new Gate();
  const agents: FakeAgent[] = [];
  try {
    await hub.start();
    const names = ['rpc-1', 'rpc-2', 'rpc-3', 'mcp-1', 'mcp-2', 'mcp-3'];
    const tokens = new Map<string, string>();
    for (const name of names) tokens.set(name, await hub.mint(name));
    let url = hub.record.mcpUrl;
    for (const [i, name] of names.entries()) {
      const door: Door = name.startsWith('rpc')
        ? // By a token of its own, or by the owner's right to speak as any agent.
          new RpcDoorway(
            await hub.client({ reconnect: true, ...(i === 0 ? { token: tokens.get(name) ?? '' } : { as: name }) }),
            () => random() < 0.7,
          )
        : new McpDoorway(new McpCaller(() => url, tokens.get(name) ?? '', i % 2 === 0 ? 'modern' : 'legacy'));
      const peers = names.filter((other) => other !== name);
      agents.push(new FakeAgent({ name, door, peers, random, up: gate.pass, senders: 3 }));
    }
    for (const agent of agents) agent.run();

    for (let round = 0; round < rounds; round++) {
      if (random() < 0.2) {
        // Killed while it starts: recovery after recovery.
        if (hub.running) await hub.kill();
        hub.spawn();
        await pause(5 + random() * 295);
        await hub.kill();
        continue;
      }
      if (!hub.running) url = (await hub.start()).mcpUrl;
      gate.open();
      // A busy machine may need longer than that for the first messages: every other time they are waited for.
      if (round % 2 === 0) await promises(agents);
      await pause(5 + random() * 295);
      gate.shut();
      await hub.kill();
    }
    url = (await hub.start()).mcpUrl;
    gate.open();
    for (const agent of agents) await agent.finish();
    const open = new Map<string, string[]>();
    for (const agent of agents) open.set(agent.log.name, await agent.open());
    await hub.stop();

    const logs = agents.map((agent) => agent.log);
    const stored = storedMessages(hub.home.database);
    const sends = logs.flatMap((log) => log.sends);
    const count = (outcome: string): number => sends.filter((entry) => entry.outcome === outcome).length;
    const handed = logs.reduce((sum, log) => sum + log.deliveries.length, 0);
    console.log(
      `${rounds} kills; ${sends.length} sends (${count('ok')} ok, ${count('unknown')} unknown, ${count('failed')} refused), ` +
        `${stored.length} stored, ${handed} handed over`,
    );
    assert.deepEqual(
      agents.flatMap((agent) => agent.complaints),
      [],
    );
    assert.deepEqual(check(logs, stored), []);
    assert.deepEqual(
      logs.flatMap((log) => checkOpen(log, open.get(log.name) ?? [], stored)),
      [],
    );
    // A load that did nothing would prove nothing.
    assert.ok(count('ok') > rounds && handed > rounds && count('unknown') > 0);
  } finally {
    // Whatever happened, no agent may go on knocking at a hub that is gone.
    for (const agent of agents) agent.stop();
    gate.open();
    await hub.dispose();
  }
});
