import type { Clock } from './clock.ts';
import { BusError } from './errors.ts';
import type { EventFeed } from './events.ts';
import { limits } from './limits.ts';
import type { AgentRecord } from './model.ts';
import { assertFreeForm, assertNotReserved, busName, closestName, freeName, personName, suggestName } from './names.ts';
import type { Store, Writes } from './ports.ts';

export interface NewAgent {
  name: string;
  about?: string;
  workspace?: string;
  product?: string;
  skills?: string[];
  identity?: string | null;
}

export type Description = Partial<Pick<AgentRecord, 'about' | 'workspace' | 'product' | 'skills' | 'open'>>;

/**
 * Everybody on the bus. The whole roster is held in memory (10,000 agents at most) and changes only after the store
 * has committed the change. Removed agents stay, so that old conversations keep their names.
 */
export class Roster {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly feed: EventFeed;
  private readonly byId = new Map<number, AgentRecord>();
  private readonly byName = new Map<string, AgentRecord>();
  private living = 0;
  person!: AgentRecord;
  /** The bus itself, in whose name notices are written. */
  bus!: AgentRecord;

  constructor(store: Store, clock: Clock, feed: EventFeed) {
    this.store = store;
    this.clock = clock;
    this.feed = feed;
  }

  async load(): Promise<void> {
    for (const agent of this.store.agents()) this.keep(agent);
    for (const { name, agent } of this.store.aliases()) {
      const owner = this.byId.get(agent);
      if (owner) this.byName.set(name, owner);
    }
    this.person =
      this.byName.get(personName) ??
      (await this.insert({ name: personName, about: 'The person at this machine.' }, 'person'));
    // By its kind and not by its name, which somebody else may have had before.
    this.bus = [...this.byId.values()].find(({ kind }) => kind === 'bus') ?? (await this.insertBus());
  }

  get(id: number): AgentRecord {
    const agent = this.byId.get(id);
    if (!agent) throw new BusError('internal', `No agent has the number ${id}.`, { next: 'Look at `agent-bus logs`.' });
    return agent;
  }

  find(name: string): AgentRecord | undefined {
    return this.byName.get(name);
  }

  /** The agent that a caller named, living; or the error that helps to name it right. */
  require(name: string): AgentRecord {
    const agent = this.byName.get(name);
    if (agent?.kind === 'bus') {
      throw new BusError('forbidden', `"${agent.name}" is the bus itself: it writes notices and reads nothing.`, {
        next: 'Name an agent; call agents to see who is here.',
      });
    }
    if (agent && !agent.removed) return agent;
    if (agent) {
      throw new BusError('agent-removed', `"${agent.name}" has left the bus.`, {
        next: 'Call agents to see who is here.',
      });
    }
    const closest = closestName(name, this.names());
    throw new BusError('unknown-agent', `No agent is called "${name.slice(0, 60)}".`, {
      next: `Call agents to see who is here${closest ? `; the closest name is "${closest}"` : ''}. A channel is written "#name".`,
    });
  }

  all(): AgentRecord[] {
    return [...this.byId.values()].filter(isOne);
  }

  byIdentity(identity: string): AgentRecord | undefined {
    for (const agent of this.byId.values()) if (agent.identity === identity && !agent.removed) return agent;
    return undefined;
  }

  /** A name of the caller's choice; taken names are refused. */
  async create(wanted: NewAgent): Promise<AgentRecord> {
    assertFreeForm(wanted.name);
    assertNotReserved(wanted.name);
    this.assertRoom();
    return this.insert(wanted, 'agent');
  }

  /** A name derived from workspace and product; taken names get a number. */
  async createNear(base: string, wanted: Omit<NewAgent, 'name'>): Promise<AgentRecord> {
    this.assertRoom();
    for (;;) {
      const name = freeName(suggestName(base), (candidate) => this.byName.has(candidate));
      try {
        return await this.insert({ ...wanted, name }, 'agent');
      } catch (error) {
        // Somebody took it in the same moment: the roster knows by now.
        if (!(error instanceof BusError) || error.code !== 'name-taken') throw error;
      }
    }
  }

  async rename(agent: AgentRecord, name: string): Promise<void> {
    if (agent.name === name) return;
    assertFreeForm(name);
    assertNotReserved(name);
    if (agent.kind === 'person') {
      throw new BusError('forbidden', 'The person cannot be renamed.', { next: 'Register a new agent instead.' });
    }
    const former = agent.name;
    await this.store.write((tx) => {
      this.assertFree(tx, name, agent.id);
      tx.deleteAlias(name);
      tx.updateAgent(agent.id, { name });
      tx.insertAlias(former, agent.id);
    });
    agent.name = name;
    this.byName.set(name, agent);
    this.feed.publish({ type: 'agents' });
  }

  async describe(agent: AgentRecord, patch: Description): Promise<void> {
    const changed = Object.entries(patch).some(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(agent[field as keyof Description]),
    );
    if (!changed) return;
    await this.store.write((tx) => tx.updateAgent(agent.id, patch));
    Object.assign(agent, patch);
    this.feed.publish({ type: 'agents' });
  }

  /** Takes an agent off the roster and revokes its tokens; its messages and conversations stay. */
  async remove(agent: AgentRecord): Promise<void> {
    if (agent.kind === 'person') {
      throw new BusError('forbidden', 'The person cannot be removed.', { next: 'Name an agent.' });
    }
    await this.store.write((tx) => {
      tx.updateAgent(agent.id, { removed: true, identity: null });
      tx.deleteTokens(agent.id);
      for (const channel of tx.channelsOf(agent.id)) tx.deleteMember(channel, agent.id);
    });
    agent.removed = true;
    agent.identity = null;
    this.living--;
    this.feed.publish({ type: 'agents' });
  }

  /** Brings a removed name back to life, for its owner. */
  async revive(agent: AgentRecord): Promise<void> {
    if (!agent.removed) return;
    this.assertRoom();
    await this.store.write((tx) => tx.updateAgent(agent.id, { removed: false }));
    agent.removed = false;
    this.living++;
    this.feed.publish({ type: 'agents' });
  }

  /** As if it had never been here: for one that has neither sent nor got a message. */
  async forget(agent: AgentRecord): Promise<void> {
    await this.store.write((tx) => tx.deleteAgent(agent.id));
    this.byId.delete(agent.id);
    this.byName.delete(agent.name);
    if (!agent.removed) this.living--;
    this.feed.publish({ type: 'agents' });
  }

  noteSeen(seen: ReadonlyMap<number, number>): void {
    if (seen.size === 0) return;
    for (const [id, at] of seen) {
      const agent = this.byId.get(id);
      if (agent) agent.lastSeen = Math.max(agent.lastSeen, at);
    }
    this.store.later((tx) => {
      for (const [id, at] of seen) tx.updateAgent(id, { lastSeen: at });
    });
  }

  private async insert(wanted: NewAgent, kind: AgentRecord['kind']): Promise<AgentRecord> {
    const now = this.clock.now();
    const record: Omit<AgentRecord, 'id'> = {
      name: wanted.name,
      kind,
      about: (wanted.about ?? '').slice(0, limits.aboutLength),
      workspace: wanted.workspace ?? '',
      product: wanted.product ?? '',
      skills: wanted.skills ?? [],
      open: false,
      identity: wanted.identity ?? null,
      created: now,
      lastSeen: now,
      removed: false,
    };
    const id = await this.store.write((tx) => {
      this.assertFree(tx, record.name);
      return tx.insertAgent(record);
    });
    const agent = this.keep({ id, ...record });
    this.feed.publish({ type: 'agents' });
    return agent;
  }

  private assertFree(tx: Writes, name: string, self?: number): void {
    const owner = tx.nameOwner(name);
    if (owner === undefined || owner === self) return;
    throw new BusError('name-taken', `The name "${name}" is taken.`, {
      next: `Choose another, for example "${freeName(name, (candidate) => this.byName.has(candidate))}".`,
    });
  }

  private assertRoom(): void {
    if (this.living >= limits.agents) {
      throw new BusError('too-many-agents', `The bus has ${limits.agents} agents, which is its limit.`, {
        next: 'Remove agents that are gone: `agent-bus register NAME --remove`.',
      });
    }
  }

  private keep(agent: AgentRecord): AgentRecord {
    this.byId.set(agent.id, agent);
    this.byName.set(agent.name, agent);
    if (isOne(agent)) this.living++;
    return agent;
  }

  private insertBus(): Promise<AgentRecord> {
    const name = this.byName.has(busName) ? freeName(busName, (taken) => this.byName.has(taken)) : busName;
    return this.insert({ name, about: 'The bus itself: it tells what became of requests.' }, 'bus');
  }

  private *names(): Iterable<string> {
    for (const [name, agent] of this.byName) if (isOne(agent)) yield name;
  }
}

/** Somebody to write to: not the bus itself, and nobody who has left. */
function isOne(agent: AgentRecord): boolean {
  return !agent.removed && agent.kind !== 'bus';
}
