import type { Bus, Cancellable } from '../../core/bus.ts';
import { BusError, errorShape } from '../../core/errors.ts';
import type { AgentRecord, Caller, MessageRecord } from '../../core/model.ts';
import { DeliveryPhase } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import type { FrameHost, FramePeer } from '../../transports/agentTool/frameConnection.ts';
import { isLoopback, type PeerList } from '../../transports/agentTool/peerAddresses.ts';
import type { Log } from '../log.ts';
import { BrakedLog } from './brakedLog.ts';

export interface FrameMailParts {
  bus: Bus;
  store: Store;
  log: Log;
  onActivity: () => void;
  /** Who gets what comes in: a name or a #channel. */
  recipient: () => string;
  peers: () => PeerList;
}

/** Addresses that have got an agent of their own; a network of peers must not fill the roster. */
const sendersAtMost = 256;

const identityOf = (address: string): string => `frames\n${address}`;

/** An agent that stands for the sessions at an address which send through the frame door. */
export function isFramePeer(agent: AgentRecord): boolean {
  return agent.identity?.startsWith(identityOf('')) ?? false;
}

const noWayBack =
  'agent-tool’s protocol names no sender, so nothing can be sent back; send to tcp://host:port where a session listens';

/** What comes in through the frame door, as messages on the bus. */
export class FrameMail implements FrameHost {
  private readonly parts: FrameMailParts;
  private readonly log: BrakedLog;
  private readonly senders = new Map<string, Promise<AgentRecord>>();
  private readonly stopListening: () => void;

  constructor(parts: FrameMailParts) {
    this.parts = parts;
    this.log = new BrakedLog(parts.log);
    this.stopListening = parts.bus.feed.subscribe((event) => {
      if (event.type !== 'message') return;
      for (const id of event.recipients) this.returnIfUnanswerable(parts.bus.roster.get(id), event.message);
    });
  }

  /** What came for a peer shortly before the last hub ended. */
  start(): void {
    const { bus, store } = this.parts;
    for (const agent of bus.roster.all().filter(isFramePeer)) {
      const unread = store.inbox({ agent: agent.id, phases: [DeliveryPhase.unread], limit: 1_000 });
      for (const message of unread) this.returnIfUnanswerable(agent, message);
    }
  }

  close(): void {
    this.stopListening();
  }

  admits(address: string): boolean {
    return this.parts.peers().allows(address);
  }

  refused(address: string): void {
    this.log.warn('frames-refused', { address });
  }

  failed(peer: FramePeer, error: unknown): void {
    const { code, message } = errorShape(error);
    this.log.warn('frames-cut', { peer: shown(peer), code, reason: message, ...(code === 'internal' && { error }) });
  }

  async deliver(peer: FramePeer, text: string): Promise<void> {
    const { bus, onActivity } = this.parts;
    onActivity();
    const sender = await this.sender(peer.address);
    const caller: Caller = { agent: sender.id, via: 'frames' };
    const to = await this.recipient(caller);
    bus.touch(sender.id);
    await bus.send(caller, { to: [to], text, kind: 'inform', data: { peer: shown(peer) } }, 0, neverCancelled);
  }

  /** One agent for an address; the ports of a machine's sessions change with every connection. */
  private async sender(address: string): Promise<AgentRecord> {
    // All of 127.0.0.0/8 is this machine, and anybody here can choose among its sixteen million addresses.
    const place = isLoopback(address) ? '127.0.0.1' : address;
    const known = await this.senders.get(place);
    // One that was removed has lost its identity: whoever speaks from there now is somebody new.
    if (known?.identity === identityOf(place)) return known;
    const made = this.parts.bus.roster.byIdentity(identityOf(place)) ?? this.create(place);
    this.senders.set(place, Promise.resolve(made));
    return made;
  }

  private async create(place: string): Promise<AgentRecord> {
    const { roster } = this.parts.bus;
    if (roster.all().filter(isFramePeer).length >= sendersAtMost) {
      throw new BusError('too-many-agents', `${sendersAtMost} addresses have sent frames; no more are taken in.`, {
        next: 'Remove those that are gone: `agent-bus register NAME --remove`.',
      });
    }
    return roster.createNear(`tcp-${place}`, {
      about: `The agent-tool sessions at ${place} that send over TCP. Their protocol names no sender and takes no answer here.`,
      product: 'agent-tool',
      identity: identityOf(place),
    });
  }

  /** The configured one, or the person where that one is gone: a message is never lost over it. */
  private async recipient(caller: Caller): Promise<string> {
    const { bus, store, recipient } = this.parts;
    const wanted = recipient();
    try {
      if (!wanted.startsWith('#')) return bus.roster.require(wanted).name;
      const channel = bus.visibility.channel(wanted);
      if (!store.isMember(channel.id, caller.agent)) await bus.channels.join(caller, wanted);
      return wanted;
    } catch (error) {
      if (!(error instanceof BusError) || !goneCodes.has(error.code)) throw error;
      this.log.warn('frames-recipient-gone', { recipient: wanted, to: bus.roster.person.name });
      return bus.roster.person.name;
    }
  }

  private returnIfUnanswerable(agent: AgentRecord, message: MessageRecord): void {
    if (!isFramePeer(agent)) return;
    this.parts.bus.receipts.noteUndeliverable(agent.id, message, noWayBack).catch((error: unknown) => {
      this.log.warn('frames-note-lost', { error });
    });
  }
}

const goneCodes: ReadonlySet<string> = new Set(['unknown-agent', 'agent-removed', 'unknown-channel']);
const neverCancelled: Cancellable = { signal: new AbortController().signal };

function shown({ address, port }: FramePeer): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
