import { BlockList, isIP, isIPv4 } from 'node:net';
import { BusError } from '../../core/errors.ts';

const family = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return plain !== undefined && loopback.check(plain, family(plain));
}

/** One spelling per address: without a zone, IPv6 shortened, IPv4 that was wrapped into IPv6 as IPv4 again. */
export function plainAddress(address: string): string | undefined {
  const bare = address.replace(/%.*$/, '');
  if (isIPv4(bare)) return bare;
  if (isIP(bare) !== 6) return undefined;
  const short = new URL(`tcp://[${bare}]`).hostname.slice(1, -1);
  const wrapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!wrapped) return short;
  const [high = 0, low = 0] = wrapped.slice(1).map((part) => Number.parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Networks that are larger than this are no list of peers any more. */
const shortestPrefix = { ipv4: 8, ipv6: 32 } as const;

/** The addresses and networks that may connect and be sent to, besides this machine's own. */
export class PeerList {
  private readonly list = new BlockList();
  /** As they are kept: each once, in one spelling. */
  readonly entries: readonly string[];

  constructor(entries: readonly string[]) {
    this.entries = [...new Set(entries.map((entry) => this.add(entry.trim())))];
  }

  allows(address: string): boolean {
    const plain = plainAddress(address);
    return plain !== undefined && (isLoopback(plain) || this.list.check(plain, family(plain)));
  }

  private add(entry: string): string {
    const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const plain = plainAddress(address);
    if (plain === undefined) throw noPeer(entry);
    const kind = family(plain);
    if (prefix === undefined) {
      this.list.addAddress(plain, kind);
      return plain;
    }
    const bits = Number(prefix);
    if (bits < shortestPrefix[kind] || bits > (kind === 'ipv4' ? 32 : 128)) throw noPeer(entry);
    this.list.addSubnet(plain, bits, kind);
    return `${plain}/${bits}`;
  }
}

function noPeer(entry: string): BusError {
  return new BusError('invalid-input', `"${entry.slice(0, 100)}" is not an address that can be a peer.`, {
    next: `Give an IP address such as 192.168.1.5, or a network such as 192.168.1.0/24, at least /${shortestPrefix.ipv4} (IPv6: /${shortestPrefix.ipv6}).`,
  });
}
