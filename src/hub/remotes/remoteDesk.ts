import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import type { AddedRemote, Courier, RemoteDirectory } from '../../core/couriers.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord, Caller, RemoteRecord } from '../../core/model.ts';
import type { SqliteStore } from '../../storage/sqliteStore.ts';
import { agentUrl } from '../../transports/a2a/addresses.ts';
import { GuardedFetch } from '../../transports/a2a/guardedFetch.ts';
import { readCard, type RemoteCard } from '../../transports/a2a/remoteCard.ts';
import type { BusHome } from '../home.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import { ArtifactFolder } from './artifactFolder.ts';
import { Remote, type RemoteWorld } from './remote.ts';
import { RemoteAnswers } from './remoteAnswers.ts';
import { RemoteTasks } from './remoteTasks.ts';
import { assertSecret } from './remoteSecret.ts';

export interface RemoteParts {
  bus: Bus;
  store: SqliteStore;
  clock: Clock;
  log: Log;
  home: BusHome;
  settings: Settings;
  isPaused: () => boolean;
  /** Under which address the hub's own HTTP door is reached, such as http://127.0.0.1:4711; known once it is open. */
  baseUrl: () => string;
}

type Secret = RemoteRecord['secret'];

/** Each is looked after all the time: more than anybody needs. */
const remotesAtMost = 500;

/**
 * Agents elsewhere: their cards, their health, and what was given to them to do. The record of one that was removed stays,
 * without its card and secret, so that its address brings back the same agent.
 */
export class RemoteDesk implements RemoteDirectory {
  readonly courier: Courier;
  private readonly parts: RemoteParts;
  private readonly world: RemoteWorld;
  private readonly folder: ArtifactFolder;
  private readonly tasks: RemoteTasks;
  private readonly byUrl = new Map<string, Remote>();
  private readonly byAgent = new Map<number, Remote>();
  private readonly adding = new Map<string, Promise<unknown>>();

  constructor(parts: RemoteParts) {
    this.parts = parts;
    const { bus, store, clock, log } = parts;
    const settings = parts.settings.a2a;
    this.world = { bus, store, clock, settings };
    this.folder = new ArtifactFolder(parts.home.folder, store);
    const answers = new RemoteAnswers({ bus, store, log, folder: this.folder });
    const remoteOf = (agent: number): Remote | undefined => this.byAgent.get(agent);
    this.tasks = new RemoteTasks({ bus, store, clock, log, settings, answers, remoteOf, isPaused: parts.isPaused });
    this.courier = this.makeCourier();
    for (const record of store.remotes()) {
      const agent = bus.roster.get(record.agent);
      if (record.card !== '' && !agent.removed) this.keep(new Remote(this.world, agent, record));
    }
  }

  /** Goes on with what was under way when the last hub ended. */
  start(): void {
    this.folder.sweep();
    for (const record of this.parts.store.remotes()) {
      const half = record.card !== '' && !this.byAgent.has(record.agent);
      // The last hub ended between taking the agent off the roster and forgetting its secret.
      if (half) this.parts.store.write((tx) => tx.putRemote(tombstone(record))).catch(() => undefined);
    }
    for (const remote of this.byAgent.values()) {
      remote.start({ looked: false });
      this.tasks.recover(remote);
    }
  }

  async add(
    caller: Caller,
    url: string,
    options: { name?: string | undefined; secret?: Secret | undefined },
  ): Promise<AddedRemote> {
    const address = agentUrl(url);
    return this.oneByOne(address, async () => {
      const secret = options.secret === undefined ? undefined : assertSecret(options.secret);
      const known = this.byUrl.get(address);
      if (known) return this.readAgain(caller, known, secret);
      if (this.byAgent.size >= remotesAtMost) {
        throw new BusError('too-many-agents', `The bus has ${remotesAtMost} agents elsewhere, which is its limit.`, {
          next: 'Remove those that nobody uses: `agent-bus register NAME --remove`.',
        });
      }
      const card = await this.readFor(address, secret ?? null);
      const agent = await this.agentFor(address, card, options.name);
      const record: RemoteRecord = {
        agent: agent.id,
        url: address,
        card: JSON.stringify(card),
        secret: secret ?? null,
        addedBy: caller.agent,
        health: 'ok',
        trouble: null,
        checkedAt: this.parts.clock.now(),
      };
      await this.parts.store.write((tx) => tx.putRemote(record));
      const remote = new Remote(this.world, agent, record);
      this.keep(remote);
      remote.start({ looked: true });
      this.tasks.recover(remote);
      return { agent, known: false };
    });
  }

  async remove(caller: Caller, name: string): Promise<AgentRecord> {
    const { bus, store } = this.parts;
    const agent = bus.roster.require(name);
    const remote = this.byAgent.get(agent.id);
    if (!remote) {
      throw new BusError('forbidden', `"${agent.name}" is no agent elsewhere; it leaves by itself.`, {
        next: 'Call agents to see who has an address.',
      });
    }
    this.assertOwner(caller, remote, 'remove it');
    // Nothing new goes to it from here on.
    this.byAgent.delete(agent.id);
    this.byUrl.delete(remote.url);
    await this.tasks.giveUp(remote);
    remote.close();
    await bus.remove(agent);
    const record = store.remotes().find((one) => one.agent === agent.id);
    if (record) await store.write((tx) => tx.putRemote(tombstone(record)));
    return agent;
  }

  cardUrl(agent: AgentRecord): string {
    return `${this.parts.baseUrl()}/a2a/${agent.name}/`;
  }

  /** Whether the hub has to stay because an agent elsewhere is at work. */
  get isNeeded(): boolean {
    return this.tasks.isNeeded;
  }

  close(): void {
    this.tasks.close();
    for (const remote of this.byAgent.values()) remote.close();
  }

  private async readAgain(caller: Caller, remote: Remote, secret: Secret | undefined): Promise<AddedRemote> {
    if (secret !== undefined) this.assertOwner(caller, remote, 'change its credentials');
    const wanted = secret === undefined ? remote.secret : secret;
    const card = await this.readFor(remote.url, wanted);
    await remote.renew(card, wanted);
    await this.parts.bus.roster.describe(remote.agent, { about: card.about, skills: card.skills });
    return { agent: remote.agent, known: true };
  }

  private async readFor(address: string, secret: Secret, signal?: AbortSignal): Promise<RemoteCard> {
    const { allowLinkLocal } = this.parts.settings.a2a;
    const web = new GuardedFetch({ rule: { allowLinkLocal, nearest: 'loopback' }, home: address, secret });
    try {
      return await readCard(web, address, signal);
    } finally {
      web.close();
    }
  }

  /** The one that this address had before, or a new one. */
  private async agentFor(address: string, card: RemoteCard, name: string | undefined): Promise<AgentRecord> {
    const { bus, store } = this.parts;
    const identity = `a2a\n${address}`;
    const before = store.remotes().find((record) => record.url === address);
    const former = before && bus.roster.get(before.agent);
    const known = former?.removed ? former : bus.roster.byIdentity(identity);
    const description = { about: card.about, skills: card.skills };
    if (!known) {
      const wanted = { ...description, product: 'a2a', identity };
      return name === undefined ? bus.roster.createNear(card.name, wanted) : bus.roster.create({ ...wanted, name });
    }
    await bus.roster.revive(known);
    await store.write((tx) => tx.updateAgent(known.id, { identity }));
    known.identity = identity;
    await bus.roster.describe(known, { ...description, product: 'a2a' });
    return known;
  }

  private assertOwner(caller: Caller, remote: Remote, what: string): void {
    const { roster } = this.parts.bus;
    if (caller.agent === remote.addedBy || caller.agent === roster.person.id) return;
    throw new BusError('forbidden', `"${remote.agent.name}" was added by ${roster.get(remote.addedBy).name}.`, {
      next: `Only ${roster.get(remote.addedBy).name} and the person can ${what}.`,
    });
  }

  private keep(remote: Remote): void {
    this.byUrl.set(remote.url, remote);
    this.byAgent.set(remote.agent.id, remote);
  }

  /** Two who add the same address in the same moment get the same agent. */
  private async oneByOne<T>(address: string, work: () => Promise<T>): Promise<T> {
    const before = this.adding.get(address);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.adding.set(address, mine);
    try {
      return await mine;
    } finally {
      if (this.adding.get(address) === mine) this.adding.delete(address);
    }
  }

  private makeCourier(): Courier {
    return {
      knows: (address) => /^https?:/i.test(address),
      addressOf: (agent) => this.byAgent.get(agent.id)?.url,
      agentAt: async (address, caller) => {
        const known = this.byUrl.get(agentUrl(address));
        return known ? known.agent : (await this.add(caller, address, {})).agent;
      },
      firstTry: (message, agent) => this.tasks.firstTry(message, agent.id),
      describe: (agent) => describe(this.byAgent.get(agent.id)),
      probe: async (address, signal) => {
        const known = this.byUrl.get(agentUrl(address));
        if (known) await known.probe(signal);
        else await this.readFor(agentUrl(address), null, signal);
      },
      task: (seq) => this.tasks.view(seq),
    };
  }
}

function describe(remote: Remote | undefined): { reach: string[]; doing?: string } {
  const { trouble, tasks = 0 } = remote ?? {};
  return {
    reach: [trouble === undefined ? 'A2A' : `A2A, once it is back: ${trouble}`],
    ...(tasks > 0 && { doing: tasks === 1 ? 'works on a request' : `works on ${tasks} requests` }),
  };
}

function tombstone(record: RemoteRecord): RemoteRecord {
  return { ...record, card: '', secret: null, health: 'down', trouble: null };
}
