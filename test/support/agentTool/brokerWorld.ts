/** A bus in this process over a real database, with the broker's door open. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Bus, type SendResult } from '../../../src/core/bus.ts';
import { defaultTunables } from '../../../src/core/limits.ts';
import type { AgentRecord, Caller, MessageKind } from '../../../src/core/model.ts';
import { Mailboxes } from '../../../src/hub/doors/mailboxes.ts';
import { SqliteStore } from '../../../src/storage/sqliteStore.ts';
import { openBrokerDoor, type BrokerDoor } from '../../../src/transports/agentTool/brokerDoor.ts';
import type { BrokerTimings } from '../../../src/transports/agentTool/brokerSession.ts';
import { tempFolder } from '../tempFolder.ts';
import { BrokerClient } from './brokerClient.ts';

export class BrokerWorld {
  readonly bus: Bus;
  readonly store: SqliteStore;
  readonly host: Mailboxes;
  readonly door: BrokerDoor;
  readonly client: BrokerClient;

  private constructor(bus: Bus, store: SqliteStore, host: Mailboxes, door: BrokerDoor) {
    this.bus = bus;
    this.store = store;
    this.host = host;
    this.door = door;
    this.client = new BrokerClient(door.port);
  }

  static async open(t: TestContext, timings: Partial<BrokerTimings> = {}): Promise<BrokerWorld> {
    const store = new SqliteStore(join(tempFolder(t), 'bus.db'));
    const bus = new Bus(store, { now: Date.now }, { ...defaultTunables, rateBurst: 1_000_000 });
    await bus.load();
    // What the hub would log as its own failure.
    const failures: unknown[] = [];
    const onError = (error: unknown): void => void failures.push(error);
    const host = new Mailboxes({ bus, store });
    const door = await openBrokerDoor(host, { port: 0, timings, onError });
    t.after(async () => {
      bus.waiting.stop();
      await door.close();
      store.close();
      assert.deepEqual(failures, []);
    });
    return new BrokerWorld(bus, store, host, door);
  }

  readonly agent = (name: string): Promise<AgentRecord> => this.bus.roster.create({ name });

  readonly send = (
    from: AgentRecord,
    to: string,
    text: string,
    kind: MessageKind = 'inform',
    wait = 0,
  ): Promise<SendResult> => {
    const signal = AbortSignal.timeout(60_000);
    return this.bus.send(asCaller(from), { to: [to], text, kind }, wait, { signal });
  };

  /** Unread mail of an agent of the bus. */
  readonly inbox = (agent: AgentRecord): { from: string; text: string }[] => {
    const page = this.bus.reading.inbox(asCaller(agent), { filter: 'new', limit: 100, budget: 10_000_000 });
    return page.messages.map(({ from, text }) => ({ from, text }));
  };

  readonly steps = (sender: AgentRecord, id: string): string[] => {
    const [recipient] = this.bus.status(asCaller(sender), id).recipients;
    return recipient?.steps.map(({ step, route }) => (route ? `${step} by ${route}` : step)) ?? [];
  };

  readonly mailboxes = (): AgentRecord[] =>
    this.bus.roster.all().filter(({ identity }) => identity?.startsWith('broker\n'));
}

function asCaller(agent: AgentRecord): Caller {
  return { agent: agent.id, via: 'rpc' };
}
