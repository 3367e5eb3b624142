import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  addressKind,
  agentUrl,
  assertAddress,
  assertUrl,
  type AddressKind,
  type AddressRule,
} from '../../src/transports/a2a/addresses.ts';

const anywhere: AddressRule = { allowLinkLocal: false, nearest: 'loopback' };

describe('the kind of an address', () => {
  const kinds: Record<AddressKind, string[]> = {
    public: ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808', '11.0.0.1'],
    private: [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.9.9',
      '100.64.0.1',
      'fc00::1',
      'fdff::1',
      '::ffff:10.1.1.1',
    ],
    loopback: [
      '127.0.0.1',
      '127.255.0.3',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
    ],
    'link-local': ['169.254.0.1', 'fe80::1', 'febf::1', 'fe80::1%eth0', '::ffff:169.254.3.3'],
    metadata: ['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fd00:ec2::254', '100.100.100.200'],
    unusable: ['0.0.0.0', '0.1.2.3', '::', '224.0.0.1', '255.255.255.255', 'ff02::1', '2002:7f00:1::', 'name', ''],
  };
  for (const [kind, addresses] of Object.entries(kinds)) {
    test(kind, () => {
      for (const address of addresses) assert.equal(addressKind(address), kind, address);
    });
  }

  test('does not depend on how an IPv4 address is wrapped', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const kind = addressKind(address);
        assert.equal(addressKind(`::ffff:${address}`), kind);
        assert.equal(addressKind(`64:ff9b::${address}`), kind);
        const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
        assert.equal(addressKind(new URL(`http://${number}/`).hostname), kind);
      }),
    );
  });

  test('is found for every address there is', () => {
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (address) => void addressKind(address)));
  });
});

describe('what is refused', () => {
  test('link-local and metadata, unless they are allowed', () => {
    for (const address of ['169.254.169.254', 'fe80::1', 'fd00:ec2::254']) {
      assert.throws(() => assertAddress(address, anywhere), { code: 'refused-address' });
      assertAddress(address, { ...anywhere, allowLinkLocal: true });
    }
  });

  test('what can be nobody’s address, always', () => {
    for (const address of ['0.0.0.0', '::', '239.0.0.1', 'ff02::1']) {
      assert.throws(() => assertAddress(address, { ...anywhere, allowLinkLocal: true }), { code: 'refused-address' });
    }
  });

  test('what is nearer than where the card came from', () => {
    const nearer: [AddressRule['nearest'], string[], string[]][] = [
      ['public', ['8.8.8.8'], ['10.0.0.1', '127.0.0.1', '::1']],
      ['private', ['8.8.8.8', '10.0.0.1'], ['127.0.0.1', '::1']],
      ['loopback', ['8.8.8.8', '10.0.0.1', '127.0.0.1', '::1'], []],
    ];
    for (const [nearest, allowed, refused] of nearer) {
      for (const address of allowed) assertAddress(address, { ...anywhere, nearest });
      for (const address of refused) {
        assert.throws(() => assertAddress(address, { ...anywhere, nearest }), { code: 'refused-address' });
      }
    }
  });

  test('names are for later', () => assertUrl(new URL('http://localhost/'), { ...anywhere, nearest: 'public' }));
});

describe('an agent’s address', () => {
  const same: [string, string[]][] = [
    [
      'http://h',
      ['http://h/', 'HTTP://H', 'http://h:80', 'http://h//', ' http://h/ ', 'http://h./', 'http://h/?a=b#c'],
    ],
    [
      'https://h/a',
      ['https://h:443/a/', 'https://h/a/.well-known/agent-card.json', 'https://h/a/.well-known/agent.json'],
    ],
    ['http://127.0.0.1:8080', ['http://2130706433:8080/', 'http://0x7f.0.0.1:8080', 'http://127.1:8080']],
    ['http://[::1]', ['http://[0:0:0:0:0:0:0:1]:80/']],
  ];
  for (const [one, spellings] of same) {
    test(`${one} is one agent`, () => {
      for (const spelling of [one, ...spellings]) assert.equal(agentUrl(spelling), one, spelling);
    });
  }

  test('is written the same when it is written again', () => {
    const host = fc.constantFrom('h', 'A.example.', '127.1', '[::1]:80', 'h:8443');
    const pieces = fc.array(fc.constantFrom('/', '/a', '/B%20', '.', '..', '/.well-known/agent.json', '?q', '#f'));
    fc.assert(
      fc.property(fc.constantFrom('http', 'HTTPS'), host, pieces, (scheme, where, path) => {
        const once = agentUrl(`${scheme}://${where}/${path.join('')}`);
        assert.equal(agentUrl(once), once);
      }),
    );
  });

  test('is http or https, and holds no password', () => {
    for (const url of ['ftp://h/', 'file:///x', 'javascript:1', 'http://a:b@h/', 'http://a@h/']) {
      assert.throws(() => agentUrl(url), { code: 'refused-address' }, url);
    }
    for (const url of ['', 'h', 'http://', `http://h/${'x'.repeat(3_000)}`]) {
      assert.throws(() => agentUrl(url), { code: 'invalid-input' }, url);
    }
  });
});
