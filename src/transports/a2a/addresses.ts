/** Where agents elsewhere may be: how an address is written, what kind it is, and which kinds are refused. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { BusError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';

/** Unusable: nobody can be reached there, or everybody at once. */
export type AddressKind = 'public' | 'private' | 'loopback' | 'link-local' | 'metadata' | 'unusable';

/** How near an address is to this machine. What one place says must not lead to a nearer one. */
export type Nearness = 'public' | 'private' | 'loopback';

export interface AddressRule {
  allowLinkLocal: boolean;
  /** Nothing nearer than this. */
  nearest: Nearness;
}

const kinds: readonly (readonly [AddressKind, BlockList])[] = [
  // Services that hand out the machine's own credentials in a cloud; before the networks that they lie in.
  [
    'metadata',
    listOf(
      '169.254.169.254',
      '169.254.170.2',
      '169.254.170.23',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
    ),
  ],
  ['loopback', listOf('127.0.0.0/8', '::1')],
  ['link-local', listOf('169.254.0.0/16', 'fe80::/10')],
  [
    'unusable',
    // "This network" and unspecified, multicast, reserved and broadcast; tunnels that would hide another address.
    listOf('0.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4', '::', 'ff00::/8', '2002::/16', '2001::/32', '100::/64'),
  ],
  [
    'private',
    listOf(
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '100.64.0.0/10',
      '192.0.0.0/24',
      '198.18.0.0/15',
      'fc00::/7',
      'fec0::/10',
    ),
  ],
];

function listOf(...entries: string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** IPv6 prefixes whose last four bytes are an IPv4 address: mapped, compatible, and the two that translators use. */
const carriers = ['0000:0000:0000:0000:0000:ffff', '0000:0000:0000:0000:0000:0000', '0064:ff9b:0000:0000:0000:0000'];
const localTranslation = '0064:ff9b:0001:';

/** The kind of an IP address in any spelling that Node takes. */
export function addressKind(ip: string): AddressKind {
  const [address = ''] = ip.split('%');
  if (isIP(address) === 4) return kindIn(address, 'ipv4');
  if (isIP(address) !== 6) return 'unusable';
  const own = kindIn(address, 'ipv6');
  if (own !== 'public') return own;
  const full = fullIPv6(address);
  if (carriers.includes(full.slice(0, 29)) || full.startsWith(localTranslation)) {
    const bytes = full.slice(30).replace(':', '').match(/../g) ?? [];
    return kindIn(bytes.map((byte) => Number.parseInt(byte, 16)).join('.'), 'ipv4');
  }
  return 'public';
}

function kindIn(address: string, family: 'ipv4' | 'ipv6'): AddressKind {
  return kinds.find(([, list]) => list.check(address, family))?.[0] ?? 'public';
}

/** Eight groups of four digits. */
function fullIPv6(address: string): string {
  // The URL parser writes dotted ends as hexadecimal.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const between = Array<string>(tail === undefined ? 0 : 8 - before.length - after.length).fill('0');
  return [...before, ...between, ...after].map((group) => group.padStart(4, '0')).join(':');
}

export function nearnessOf(kind: AddressKind): Nearness {
  return kind === 'loopback' ? 'loopback' : kind === 'public' ? 'public' : 'private';
}

const ranks: Record<Nearness, number> = { public: 0, private: 1, loopback: 2 };

/** Throws `refused-address` if an IP address may not be talked to. `host` is how the caller named it. */
export function assertAddress(ip: string, rule: AddressRule, host = ip): void {
  const kind = addressKind(ip);
  const named = host === ip ? ip : `${host} (${ip})`;
  if (kind === 'unusable') {
    throw refused(
      `${named} is no address that an agent can have.`,
      'Use the address under which the agent is reached.',
    );
  }
  if ((kind === 'link-local' || kind === 'metadata') && !rule.allowLinkLocal) {
    throw refused(
      `${named} is a ${kind === 'metadata' ? 'metadata service’s' : 'link-local'} address, which the bus does not talk to.`,
      'If an agent of yours really is there, the person can set a2a.allowLinkLocal in settings.json.',
    );
  }
  if (ranks[nearnessOf(kind)] > ranks[rule.nearest]) {
    throw refused(
      `${named} is a ${nearnessOf(kind)} address, and the agent’s card came from a ${rule.nearest} one.`,
      'Nothing was sent there. If you trust the agent, add it by its nearer address.',
    );
  }
}

/** The host of a URL, where it is an IP address; names are checked once they are resolved. */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** A URL that may be talked to, as far as that is known before its name is resolved. */
export function assertUrl(url: URL, rule: AddressRule): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(
      `"${url.protocol}" is no way to an A2A agent.`,
      'Use an address that begins with http:// or https://.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw refused(
      'The address holds a user name or password.',
      'Leave it out of the address; the person can give credentials with `agent-bus register URL --bearer-from FILE`.',
    );
  }
  const ip = literalAddress(url);
  if (ip !== undefined) assertAddress(ip, rule);
}

const cardFile = /\/\.well-known\/agent(-card)?\.json$/;

/** One agent has one address: however it was written, this is how the bus writes it. */
export function agentUrl(text: string): string {
  const url = text.length <= limits.addressLength && URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url) {
    throw new BusError('invalid-input', `"${text.slice(0, 100)}" is not an address.`, {
      next: 'Give the agent’s URL, such as https://agents.example/search.',
    });
  }
  assertUrl(url, { allowLinkLocal: true, nearest: 'loopback' });
  url.hostname = url.hostname.replace(/\.$/, '');
  let path = url.pathname;
  for (let before = ''; before !== path;) {
    before = path;
    path = path.replace(/\/+$/, '').replace(cardFile, '');
  }
  return url.origin + path;
}

function refused(message: string, next: string): BusError {
  return new BusError('refused-address', message, { next });
}
