import { z } from 'zod';
import type { Bus } from '../../core/bus.ts';
import { BusError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { personName } from '../../core/names.ts';
import type { DoorName, DoorParams } from '../../protocol/doorMessages.ts';
import { defaultFramePort } from '../../transports/agentTool/frames.ts';
import { isLoopback, PeerList, plainAddress } from '../../transports/agentTool/peerAddresses.ts';
import { isFramePeer } from './frameMail.ts';

/** How a door is to be. `to` and `peers` mean something for the frame door only. */
export interface DoorConfig {
  on: boolean;
  port: number;
  bind: string;
  to: string;
  peers: readonly string[];
}

const loopback = '127.0.0.1';

export const defaultConfig: Readonly<Record<DoorName, DoorConfig>> = {
  frames: { on: false, port: defaultFramePort, bind: loopback, to: personName, peers: [] },
  broker: { on: false, port: 19_901, bind: loopback, to: personName, peers: [] },
};

const stored = z.strictObject({
  on: z.boolean(),
  port: z.int().min(0).max(65_535),
  bind: z.string().max(100),
  to: z.string().max(limits.nameLength + 1),
  peers: z.array(z.string().max(100)).max(1_000),
});

/** What was kept, if it still makes sense; a door whose configuration is damaged is not simply taken for closed. */
export function readConfig(door: DoorName, kept: unknown): DoorConfig {
  if (kept === undefined) return defaultConfig[door];
  const config = stored.parse(kept);
  return checked(door, { ...config, peers: new PeerList(config.peers).entries });
}

/** The configuration as it would be after this, or the reason why it can't be. */
export function changedConfig(bus: Bus, before: DoorConfig, params: DoorParams): DoorConfig {
  if (params.door === 'broker' && (params.to !== undefined || params.peers !== undefined)) {
    throw invalid('The broker has neither a recipient nor peers.', 'Its clients name the mailbox; leave these out.');
  }
  return checked(params.door, {
    on: params.on,
    port: params.port ?? before.port,
    bind: params.bind === undefined ? before.bind : bindAddress(params.bind),
    to: params.to === undefined ? before.to : recipient(bus, params.to),
    peers: params.peers === undefined ? before.peers : new PeerList(params.peers).entries,
  });
}

function checked(door: DoorName, config: DoorConfig): DoorConfig {
  if (isLoopback(config.bind)) return config;
  if (door === 'broker') {
    throw invalid('The broker listens on this machine only.', 'Leave out --bind: its clients dial 127.0.0.1.');
  }
  if (config.peers.length === 0) {
    throw invalid(
      `Listening on ${config.bind} lets in other machines, and the protocol asks nobody who they are.`,
      `Say which addresses may connect: \`agent-bus door frames on --bind ${config.bind} --peer ADDRESS\`.`,
    );
  }
  return config;
}

function bindAddress(text: string): string {
  const address = text === 'localhost' ? loopback : plainAddress(text);
  if (address !== undefined) return address;
  throw invalid(
    `"${text.slice(0, 100)}" is not an address to listen on.`,
    'Give an IP address of this machine, such as 192.168.1.5; 127.0.0.1 is for this machine alone.',
  );
}

function recipient(bus: Bus, to: string): string {
  if (to.startsWith('#')) return bus.visibility.channel(to).key;
  const agent = bus.roster.require(to);
  // What came from elsewhere must not go there again by itself: two such doors would play ping-pong for ever.
  if (bus.couriers.of(agent) || isFramePeer(agent)) {
    throw invalid(
      `"${agent.name}" is not on this bus itself, so it can’t get what comes in.`,
      'Name the person, an agent of this bus or a "#channel".',
    );
  }
  return agent.name;
}

function invalid(message: string, next: string): BusError {
  return new BusError('invalid-input', message, { next });
}
