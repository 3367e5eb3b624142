/** A bus in this process over a real database, for tests of the tools themselves. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Bus } from '../../src/core/bus.ts';
import { defaultTunables } from '../../src/core/limits.ts';
import type { AgentRecord } from '../../src/core/model.ts';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import type { ModelAnswer } from '../../src/tools/answer.ts';
import { callForModel } from '../../src/tools/callTool.ts';
import { tempFolder } from './tempFolder.ts';

export interface UnitBus {
  bus: Bus;
  agent(name: string): Promise<AgentRecord>;
  /** A call as a model makes it. What the hub would log as its own failure is thrown. */
  call(agent: AgentRecord, tool: string, args: unknown): Promise<ModelAnswer>;
}

export async function unitBus(t: TestContext): Promise<UnitBus> {
  const store = new SqliteStore(join(tempFolder(t), 'bus.db'));
  t.after(() => store.close());
  const bus = new Bus(store, { now: Date.now }, defaultTunables);
  await bus.load();
  return {
    bus,
    agent: (name) => bus.roster.create({ name }),
    async call(agent, tool, args) {
      let failure: Error | undefined;
      const host = { bus, onInternalError: (_tool: string, error: unknown) => void (failure = error as Error) };
      const caller = { agent: agent.id, via: 'mcp' } as const;
      const answer = await callForModel(host, caller, tool, args, { signal: AbortSignal.timeout(30_000) });
      if (failure) throw failure;
      return answer;
    },
  };
}
