import { BusError } from '../../core/errors.ts';
import { defaultFramePort } from './frames.ts';
import { plainAddress } from './peerAddresses.ts';

/** Where an agent-tool session listens. */
export interface TcpAddress {
  /** A name in lower case, or an IP address in its one spelling. */
  host: string;
  port: number;
}

export const tcpScheme = /^tcp:\/\//i;

const shape = /^tcp:\/\/(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?\/?$/i;

export function parseTcpAddress(text: string): TcpAddress {
  const [, ip6, name = '', digits = String(defaultFramePort)] = shape.exec(text) ?? [];
  const port = Number(digits);
  const host = ip6 === undefined ? hostName(name) : plainAddress(ip6);
  if (host === undefined || host === '' || host.length > 253 || port < 1 || port > 65_535) throw noAddress(text);
  return { host, port };
}

/** host:port, as it is shown and kept. */
export function hostAndPort({ host, port }: TcpAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function hostName(name: string): string {
  const host = name.toLowerCase().replace(/\.$/, '');
  // agent-tool listens on 127.0.0.1 unless told otherwise: two names of one receiver must not become two agents.
  return host === 'localhost' ? '127.0.0.1' : (plainAddress(host) ?? host);
}

function noAddress(text: string): BusError {
  return new BusError('invalid-input', `"${text.slice(0, 100)}" is not an address of an agent-tool session.`, {
    next: 'Write tcp://host:port, for example tcp://127.0.0.1:19900, or tcp://[::1]:19900 for IPv6; nothing else belongs into it.',
  });
}
