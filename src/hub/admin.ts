import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Bus } from '../core/bus.ts';
import type { Clock } from '../core/clock.ts';
import { BusError } from '../core/errors.ts';
import type { Caller } from '../core/model.ts';
import type {
  DoorParams,
  DoorView,
  OpenParams,
  OpenResult,
  RemoteParams,
  RemoteResult,
} from '../protocol/doorMessages.ts';
import type { HubStatus, MintResult } from '../protocol/messages.ts';
import type { SqliteStore } from '../storage/sqliteStore.ts';
import type { Attachment, HubAdmin } from '../transports/rpc/rpcHost.ts';
import type { Attachments } from './attachments.ts';
import type { Credentials } from './credentials.ts';
import type { HubRecord } from './discovery.ts';
import type { DoorDesk } from './doors/doorDesk.ts';
import type { BusHome } from './home.ts';
import type { ReachDesk } from './reachDesk.ts';
import type { RemoteDesk } from './remotes/remoteDesk.ts';

interface AdminParts {
  bus: Bus;
  store: SqliteStore;
  clock: Clock;
  credentials: Credentials;
  attachments: Attachments;
  reach: ReachDesk;
  doors: DoorDesk;
  remotes: RemoteDesk;
  home: BusHome;
  version: string;
  stop: (reason: string) => void;
}

/** What the owner can ask of the hub itself. */
export class Admin implements HubAdmin {
  private readonly parts: AdminParts;
  private readonly started = performance.now();
  private record: HubRecord | undefined;
  private connections: () => HubStatus['connections'] = () => ({ rpc: 0, mcpSessions: 0, waitingCalls: 0 });
  private upkeep: { checking: boolean } = { checking: false };

  constructor(parts: AdminParts) {
    this.parts = parts;
  }

  /** What is known only once the doors are open. */
  describe(record: HubRecord, connections: () => HubStatus['connections'], upkeep: { checking: boolean }): void {
    this.record = record;
    this.connections = connections;
    this.upkeep = upkeep;
  }

  status(): HubStatus {
    const { store, home, version } = this.parts;
    const { failed } = store.health;
    const checkedAt = Number(store.meta('checked_at') ?? 0);
    return {
      pid: process.pid,
      version,
      mcpUrl: this.record?.mcpUrl ?? '',
      rpcPort: this.record?.rpcPort ?? 0,
      home: home.folder,
      startedAt: this.record?.startedAt ?? '',
      uptimeSeconds: Math.round((performance.now() - this.started) / 1000),
      ...store.counts(),
      logBytes: sizeOf(home.log) + sizeOf(`${home.log}.1`),
      memoryBytes: process.memoryUsage.rss(),
      connections: this.connections(),
      paused: this.parts.reach.paused,
      doors: this.parts.doors.list(),
      hooksHeard: this.parts.reach.hooksHeard,
      ...(checkedAt > 0 && { databaseCheckedAt: new Date(checkedAt).toISOString() }),
      health: failed ? failed.toShape() : this.upkeep.checking ? 'checking' : 'ok',
    };
  }

  async mint(name: string, { about, skills }: Parameters<HubAdmin['mint']>[1]): Promise<MintResult> {
    const { bus, credentials, clock } = this.parts;
    const known = bus.roster.find(name);
    if (known?.kind === 'bus') bus.roster.require(name);
    if (known?.kind === 'person') {
      throw new BusError('forbidden', 'The person has no token: whoever owns this machine’s account is the person.', {
        next: 'Register an agent under another name.',
      });
    }
    const description = { ...(about !== undefined && { about }), ...(skills !== undefined && { skills }) };
    const agent = known ?? (await bus.roster.create({ name, ...description }));
    await bus.roster.revive(agent);
    if (known) await bus.roster.describe(agent, description);
    return { name: agent.name, token: await credentials.mint(agent.id, clock.now()), created: !known };
  }

  revoke(name: string): Promise<number> {
    return this.parts.credentials.revoke(this.parts.bus.roster.require(name).id);
  }

  async remove(name: string): Promise<void> {
    const { bus, remotes } = this.parts;
    const agent = bus.roster.require(name);
    // What is known of an agent elsewhere goes with it: its card, its secret, and what was on its way.
    if (remotes.courier?.addressOf(agent) === undefined) return bus.remove(agent);
    await bus.remotes?.remove({ agent: bus.roster.person.id, via: 'rpc' }, name);
  }

  attach({ workspace, product, name, chat, window, process }: Attachment): Promise<number> {
    const { attachments, reach } = this.parts;
    // A session keeps its bridge and its agent when the product begins another chat in it.
    const isOther = name !== undefined && chat !== undefined && !reach.knows(chat);
    if (chat !== undefined && !isOther) return reach.bind({ chat, workspace, product, window, process });
    return attachments.attach(workspace, product, name);
  }

  setDoor(params: DoorParams): Promise<DoorView> {
    return this.parts.doors.set(params);
  }

  async addRemote(caller: Caller, { url, name, secret }: RemoteParams): Promise<RemoteResult> {
    const { agent, known } = await this.parts.remotes.add(caller, url, { name, secret });
    return { agent: this.parts.bus.views.agent(agent), known };
  }

  async setOpen({ name, on }: OpenParams): Promise<OpenResult> {
    const { bus, remotes } = this.parts;
    const agent = bus.roster.require(name);
    if (agent.kind === 'person' || bus.couriers.of(agent)) {
      throw new BusError('forbidden', `"${agent.name}" can’t be opened: only agents of this bus are asked over A2A.`, {
        next: 'Name an agent that is a client of this bus; `agent-bus agents` lists them.',
      });
    }
    await bus.roster.describe(agent, { open: on });
    return { agent: bus.views.agent(agent), ...(on && { url: remotes.cardUrl(agent) }) };
  }

  async exportTo(path: string): Promise<number> {
    if (!isAbsolute(path))
      throw new BusError('invalid-input', 'The export needs an absolute path.', { next: 'Give a full path.' });
    if (statSync(path, { throwIfNoEntry: false })) {
      throw new BusError('invalid-input', `${path} is there already.`, {
        next: 'Choose a new file; nothing is overwritten.',
      });
    }
    await this.parts.store.exportTo(path);
    return sizeOf(path);
  }

  stop(reason: 'stop' | 'upgrade'): void {
    // The answer goes out first.
    setImmediate(() => this.parts.stop(reason));
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
