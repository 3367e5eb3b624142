import { lookup } from 'node:dns/promises';
import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import type { Courier } from '../../core/couriers.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord, MessageRecord } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import { pingPeer, sendMessage, type Destination } from '../../transports/agentTool/frameSender.ts';
import { isLoopback, plainAddress, type PeerList } from '../../transports/agentTool/peerAddresses.ts';
import { hostAndPort, parseTcpAddress, tcpScheme } from '../../transports/agentTool/tcpAddress.ts';
import type { Log } from '../log.ts';
import { TcpLane } from './tcpLane.ts';

export interface TcpCourierParts {
  bus: Bus;
  store: Store;
  clock: Clock;
  log: Log;
  isPaused: () => boolean;
  peers: () => PeerList;
  /** The hub's own frame door, while it is open. */
  ownPort: () => number | undefined;
}

/** Each address that was sent to is an agent; a caller that goes through all ports must not fill the roster. */
const agentsAtMost = 1_000;
const lookupMs = 5_000;

const prefix = 'tcp\n';

/** Carries mail to agent-tool sessions that wait in `receive` at tcp://host:port. */
export class TcpCourier implements Courier {
  private readonly parts: TcpCourierParts;
  private readonly lanes = new Map<number, TcpLane>();
  private readonly making = new Map<string, Promise<AgentRecord>>();
  private readonly closing = new AbortController();
  private readonly since: number;
  private readonly stopListening: () => void;

  constructor(parts: TcpCourierParts) {
    this.parts = parts;
    this.since = parts.clock.now();
    this.stopListening = parts.bus.feed.subscribe((event) => {
      if (event.type === 'message') for (const id of event.recipients) this.look(parts.bus.roster.get(id));
      if (event.type === 'paused' && !event.paused) this.start();
    });
  }

  /** Goes on with what was under way when the last hub ended. */
  start(): void {
    for (const agent of this.parts.bus.roster.all()) {
      if (this.addressOf(agent) !== undefined && this.parts.store.unreadCount(agent.id, 1) > 0) this.look(agent);
    }
  }

  /** Whether something is being tried, or will be in a moment. */
  get isBusy(): boolean {
    return [...this.lanes.values()].some((lane) => lane.isBusy);
  }

  async close(): Promise<void> {
    this.stopListening();
    this.closing.abort();
    await Promise.all([...this.lanes.values()].map((lane) => lane.close()));
  }

  knows(address: string): boolean {
    return tcpScheme.test(address);
  }

  addressOf({ identity }: AgentRecord): string | undefined {
    return identity?.startsWith(prefix) ? `tcp://${identity.slice(prefix.length)}` : undefined;
  }

  async agentAt(address: string): Promise<AgentRecord> {
    const place = hostAndPort(parseTcpAddress(address));
    await this.destination(address, { toSend: true });
    const known = this.parts.bus.roster.byIdentity(prefix + place) ?? this.making.get(place);
    if (known) return known;
    const made = this.create(place).finally(() => this.making.delete(place));
    this.making.set(place, made);
    return made;
  }

  async firstTry(message: MessageRecord, agent: AgentRecord): Promise<void> {
    await this.lanes.get(agent.id)?.firstTry(message);
  }

  describe(agent: AgentRecord): { reach: string[]; doing?: string } {
    const trouble = this.lanes.get(agent.id)?.trouble;
    return { reach: ['TCP, when it listens'], ...(trouble !== undefined && { doing: trouble }) };
  }

  async probe(address: string, signal: AbortSignal): Promise<void> {
    await pingPeer(await this.destination(address, { toSend: false }), signal);
  }

  private look(agent: AgentRecord): void {
    const address = this.addressOf(agent);
    if (address === undefined || this.closing.signal.aborted) return;
    const { bus, store, clock, log, isPaused } = this.parts;
    const lane =
      this.lanes.get(agent.id) ??
      new TcpLane({
        bus,
        store,
        clock,
        agent: agent.id,
        since: this.since,
        carry: async (text) =>
          sendMessage(await this.destination(address, { toSend: true }), text, this.closing.signal),
        isPaused,
        onError: (error) => log.error('tcp-courier', { agent: agent.name, error }),
      });
    this.lanes.set(agent.id, lane);
    lane.look();
  }

  /** Looks the host up and checks what came of it: that very address is connected to, and no other. */
  private async destination(address: string, { toSend }: { toSend: boolean }): Promise<Destination> {
    const { host, port } = parseTcpAddress(address);
    const shown = hostAndPort({ host, port });
    const found = plainAddress(host) === undefined ? await resolve(host) : [host];
    const ip = found.find((candidate) => this.parts.peers().allows(candidate));
    if (ip === undefined) {
      throw new BusError('refused-address', `${shown} is neither on this machine nor a peer of the frame door.`, {
        next: `The person can allow it: \`agent-bus door frames on --peer ${found[0] ?? 'ADDRESS'}\`.`,
      });
    }
    if (toSend && isLoopback(ip) && port === this.parts.ownPort()) {
      throw new BusError('refused-address', `${shown} is this bus’s own frame door.`, {
        next: 'Send to the agent by its name; `agents` lists them.',
      });
    }
    return { ip, port, shown };
  }

  private create(place: string): Promise<AgentRecord> {
    const { roster } = this.parts.bus;
    const count = roster.all().filter((agent) => this.addressOf(agent) !== undefined).length;
    if (count >= agentsAtMost) {
      return Promise.reject(
        new BusError('too-many-agents', `${agentsAtMost} TCP addresses have been sent to; no more are taken in.`, {
          next: 'Remove those that are gone: `agent-bus register NAME --remove`.',
        }),
      );
    }
    return roster.createNear(`tcp-${place}`, {
      about: `An agent-tool session that receives at ${place}, while it waits there.`,
      product: 'agent-tool',
      identity: prefix + place,
    });
  }
}

async function resolve(host: string): Promise<string[]> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('it took too long')), lookupMs).unref();
  });
  try {
    const found = await Promise.race([lookup(host, { all: true }), late]);
    return found.flatMap(({ address }) => plainAddress(address) ?? []);
  } catch (error) {
    throw new BusError('unreachable', `The host "${host.slice(0, 100)}" is not known here.`, {
      next: 'Check the name, or give its IP address.',
      cause: error,
    });
  }
}
