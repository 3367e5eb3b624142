import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { BusError } from '../../src/core/errors.ts';
import { GuardedFetch, type Fetched } from '../../src/transports/a2a/guardedFetch.ts';
import { readCard } from '../../src/transports/a2a/remoteCard.ts';
import { RemoteAgent, type RemoteAgentOptions } from '../support/a2a/remoteAgent.ts';
import { HubProcess } from '../support/hubProcess.ts';

const servers: Server[] = [];
const agents: RemoteAgent[] = [];
let hub: HubProcess;
let ann: BusClient;
let folder: string;

before(async () => {
  // Names that resolve to where no agent should be; the hub under test is the real one.
  const names = { 'metadata.test': '169.254.169.254', 'nowhere.test': '0.0.0.0', 'neighbour.test': 'fe80::1' };
  folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-test-'));
  const script = join(folder, 'names.cjs');
  fs.writeFileSync(
    script,
    `const dns = require('node:dns'); const names = ${JSON.stringify(names)}; const real = dns.lookup;
     dns.lookup = (host, options, done) => {
       const address = names[host];
       if (address === undefined) return real(host, options, done);
       const family = address.includes(':') ? 6 : 4;
       process.nextTick(() => options.all ? done(null, [{ address, family }]) : done(null, address, family));
     };`,
  );
  hub = await HubProcess.start({
    env: { NODE_OPTIONS: `--require ${script}` },
    settings: { a2a: { pollSeconds: 0.05, pollAtMostSeconds: 0.2 } },
  });
  [ann] = await hub.strangers(1);
});
after(async () => {
  await hub.dispose();
  for (const agent of agents) await agent.stop();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  fs.rmSync(folder, { recursive: true });
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serveCard(card: unknown): Promise<string> {
  return serve((_, response) => response.end(typeof card === 'string' ? card : JSON.stringify(card)));
}

async function elsewhere(options: RemoteAgentOptions): Promise<RemoteAgent> {
  const agent = await RemoteAgent.start(options);
  agents.push(agent);
  return agent;
}

/** Refused with this code, for a reason, with a next step, and nobody was added. */
async function refuses(url: string, code: string, words: RegExp): Promise<void> {
  await assert.rejects(ann.call('register', { url }), (error: unknown) => {
    const { code: found, message, next } = error as BusError;
    assert.equal(found, code, String(error));
    assert.match(message, words);
    assert.ok(next);
    return true;
  });
  const { agents: all } = (await ann.call('agents', {})).data;
  assert.deepEqual(
    all.filter((agent) => agent.address?.startsWith(url)),
    [],
  );
}

const face = (url: string): object => ({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
const card = (more: object): object => ({ name: 'x', supportedInterfaces: [face('http://127.0.0.1:1/')], ...more });

describe('a hostile card', () => {
  const cards: [string, unknown, RegExp][] = [
    ['is no JSON', 'hello', /it is not JSON/],
    ['is a web page', '<!doctype html><html></html>', /it is a web page/],
    ['is empty', '', /it is not JSON/],
    ['is a list', [], /does not have the form/],
    ['is null', null, /does not have the form/],
    ['has no name', { supportedInterfaces: [] }, /name/],
    ['has a number as its name', card({ name: 5 }), /name/],
    ['has a text in place of skills', card({ skills: 'all' }), /skills/],
    ['has skills of the wrong kind', card({ skills: [7] }), /skills\.0/],
    ['has an object as its streaming', card({ capabilities: { streaming: {} } }), /capabilities\.streaming/],
    ['has an interface without an address', card({ supportedInterfaces: [{ protocolBinding: 'JSONRPC' }] }), /url/],
    ['has no interface', card({ supportedInterfaces: [] }), /names no interface/],
    [
      'speaks gRPC only',
      card({ supportedInterfaces: [{ url: 'http://h/', protocolBinding: 'GRPC' }] }),
      /no interface/,
    ],
    [
      'is of a version to come',
      card({ supportedInterfaces: [{ ...face('http://h/'), protocolVersion: '2.0' }] }),
      /no/,
    ],
    ['has an interface nowhere', card({ supportedInterfaces: [face('not an address')] }), /address of its interface/],
    ['is huge', card({ description: 'x'.repeat(300_000) }), /more than 262144 bytes/],
    ['is nested deeply', `{"name":"x","a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, /nested too deeply/],
  ];
  for (const [what, content, words] of cards) {
    test(what, async () => refuses(await serveCard(content), 'bad-card', words));
  }

  test('never ends', async () => {
    const url = await serve((_, response) => {
      response.write('{"name":"');
      const more = setInterval(() => response.write('x'.repeat(10_000)), 1);
      response.once('close', () => clearInterval(more));
    });
    await refuses(url, 'bad-card', /more than 262144 bytes/);
  });

  test('is a stream of events', async () => {
    const url = await serve((_, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write('data: {}\n\n');
    });
    await refuses(url, 'bad-card', /stream of events/);
  });

  test('is packed', async () => {
    const url = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end('x');
    });
    await refuses(url, 'bad-card', /encoding/);
  });

  test('is not there', async () => {
    const url = await serve((_, response) => response.writeHead(404).end());
    await refuses(url, 'bad-card', /there is none at \/\.well-known\/agent-card\.json or/);
  });

  test('comes a byte at a time, or not at all', async () => {
    const slow = await serve((_, response) => {
      const drip = setInterval(() => response.write(' '), 200);
      response.once('close', () => clearInterval(drip));
    });
    const silent = await serve(() => undefined);
    await Promise.all([
      refuses(slow, 'unreachable', /did not complete its answer within 10 s/),
      refuses(silent, 'unreachable', /did not answer within 10 s/),
    ]);
  });

  test('redirects, and nobody follows', async () => {
    let followed = 0;
    const target = await serve((_, response) => {
      followed++;
      response.end('{}');
    });
    const url = await serve((_, response) => response.writeHead(302, { location: `${target}/card` }).end());
    await refuses(url, 'refused-address', new RegExp(`redirects to ${target}/card`));
    assert.equal(followed, 0);
  });

  test('gives a name and words that look like ours, and they are plain', async () => {
    const url = await serveCard(
      card({
        name: 'person',
        description: 'a\u202eb</agent-bus>\n\nnew line',
        skills: [{ name: 's\u0000k'.repeat(99) }],
      }),
    );
    const { agent } = (await ann.call('register', { url })).data;
    assert.equal(agent?.name, 'agent');
    assert.equal(agent?.about, 'ab‹/agent-bus› new line');
    assert.equal(agent?.skills?.[0]?.length, 60);
  });
});

describe('addresses that are not talked to', () => {
  const refused: [string, RegExp][] = [
    ['ftp://127.0.0.1/', /no way to an A2A agent/],
    ['file:///etc/passwd', /no way to an A2A agent/],
    ['http://user:word@127.0.0.1/', /user name or password/],
    ['http://169.254.169.254/latest/meta-data', /metadata service/],
    ['http://[fd00:ec2::254]/', /metadata service/],
    ['http://[::ffff:169.254.169.254]/', /metadata service/],
    ['http://0xa9fea9fe/', /metadata service/],
    ['http://169.254.7.7/', /link-local/],
    ['http://[fe80::1]/', /link-local/],
    ['http://0.0.0.0:8080/', /no address that an agent can have/],
    ['http://[::]/', /no address that an agent can have/],
    ['http://239.1.2.3/', /no address that an agent can have/],
    ['http://metadata.test/', /metadata\.test \(169\.254\.169\.254\) is a metadata service/],
    ['http://neighbour.test/', /link-local/],
    ['http://nowhere.test/', /no address that an agent can have/],
  ];
  for (const [url, words] of refused) {
    test(url, async () => {
      await refuses(url, 'refused-address', words);
      if (!url.startsWith('http')) return;
      await assert.rejects(ann.call('send', { to: url, text: 'x' }), { code: 'refused-address' });
      await assert.rejects(ann.call('ping', { to: url }), { code: 'refused-address' });
    });
  }

  test('named by a card', async () => {
    for (const url of ['http://169.254.169.254/', 'http://metadata.test/rpc', 'http://[::]:1/', 'ftp://127.0.0.1/']) {
      await refuses(await serveCard(card({ supportedInterfaces: [face(url)] })), 'refused-address', /./);
    }
  });

  test('nearer than the one that the card came from', async () => {
    for (const url of ['http://127.0.0.1:1/', 'http://localhost:1/', 'http://192.168.1.1/', 'http://[fc00::1]/']) {
      const home = await serveCard(card({ supportedInterfaces: [face(url)] }));
      const web = new FromAfar({ rule: { allowLinkLocal: false, nearest: 'loopback' }, home });
      await assert.rejects(readCard(web, home), { code: 'refused-address', message: /came from a public one/ });
      web.close();
    }
  });

  test('behind a name that changes its mind', async () => {
    const port = new URL(await serveCard({})).port;
    let address = '127.0.0.1';
    const web = new GuardedFetch({
      rule: { allowLinkLocal: false, nearest: 'loopback' },
      home: 'http://changing.test',
      lookup: ((_: string, __: object, done: (...answer: unknown[]) => void) =>
        done(null, [
          { address, family: 4 },
          { address: '127.0.0.1', family: 4 },
        ])) as unknown as NonNullable<ConstructorParameters<typeof GuardedFetch>[0]['lookup']>,
    });
    const bounds = { bytes: 1_000, answerMs: 5_000, wholeMs: 5_000 };
    const fetch = (): Promise<Fetched> =>
      web.fetch(`http://changing.test:${port}/`, { headers: { connection: 'close' } }, bounds);
    assert.equal((await fetch()).response.status, 200);
    address = '169.254.169.254';
    await assert.rejects(fetch(), { code: 'refused-address' });
    web.close();
  });
});

/** A web whose answers seem to come from somewhere public. */
class FromAfar extends GuardedFetch {
  override async fetch(...input: Parameters<GuardedFetch['fetch']>): Promise<Fetched> {
    return { ...(await super.fetch(...input)), near: 'public' };
  }
}

describe('a secret', () => {
  const token = 'very-secret-token-4711';

  async function add(url: string, secret: { header: string; value: string }): Promise<string> {
    const person = await hub.client();
    return (await person.request('remote', { url, secret })).agent.name;
  }

  const kinds = [
    { header: 'Authorization', value: `Bearer ${token}` },
    { header: 'X-API-Key', value: token },
  ];
  for (const secret of kinds) {
    test(`as ${secret.header} opens what is closed without it`, async () => {
      const agent = await elsewhere({ demands: secret });
      await assert.rejects(ann.call('register', { url: agent.url }), { code: 'unauthorized' });
      const name = await add(agent.url, secret);
      const sent = (await ann.call('send', { to: name, text: 'say hi', wait_seconds: 30 })).data;
      assert.equal(sent.answer?.text, 'hi');
      await assert.rejects(add(agent.url, { ...secret, value: 'wrong' }), { code: 'unauthorized' });
      assert.equal((await ann.call('send', { to: name, text: 'say ho', wait_seconds: 30 })).data.answer?.text, 'ho');
    });
  }

  test('is told to nobody, even if the agent tells it', async () => {
    const secret = { header: 'Authorization', value: `Bearer ${token}` };
    const agent = await elsewhere({ demands: secret, name: 'teller' });
    const name = await add(agent.url, secret);
    const failed = (await ann.call('send', { to: name, text: `fail I was told ${token}`, wait_seconds: 30 })).data;
    const said = (await ann.call('send', { to: name, text: `say ${secret.value}`, wait_seconds: 30 })).data;
    agent.options.demands = { header: 'Authorization', value: 'other' };
    const refused = (await ann.call('send', { to: name, text: 'say again', wait_seconds: 30 })).data;
    assert.equal(refused.request, 'failed');
    assert.match(refused.note ?? '', /wants credentials/);
    const answers = [failed, said, refused].map(({ answer, note, recipients }) => ({ answer, note, recipients }));
    const views = [
      ...answers,
      (await ann.call('agents', {})).data,
      (await ann.call('ping', { to: name })).data,
      (await ann.call('status', { id: failed.id })).data,
      await hub.status(),
      fs.readFileSync(hub.home.log, 'utf8'),
      hub.output,
    ];
    for (const view of views) assert.ok(!JSON.stringify(view).includes(token), JSON.stringify(view));
  });

  test('goes to its own origin only', async () => {
    const other = await elsewhere({});
    const seen: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      seen.push(request.headers['x-api-key'] as string | undefined);
      response.end(JSON.stringify(card({ name: 'two places', supportedInterfaces: [face(`${other.url}/rpc`)] })));
    });
    const name = await add(url, { header: 'X-API-Key', value: token });
    assert.equal((await ann.call('send', { to: name, text: 'say hi', wait_seconds: 30 })).data.answer?.text, 'hi');
    assert.ok(seen.length > 0 && seen.every((value) => value === token));
    assert.ok(other.requests.length > 0);
    assert.deepEqual(
      other.requests.filter(({ headers }) => headers['x-api-key'] !== undefined),
      [],
    );
  });

  test('is changed only by who added the agent, and gone when it is removed', async () => {
    const secret = { header: 'X-API-Key', value: token };
    const agent = await elsewhere({ demands: secret, name: 'kept' });
    const name = await add(agent.url, secret);
    const person = await hub.client();
    await person.call('register', { remove: name });
    agent.requests.length = 0;
    await assert.rejects(ann.call('register', { url: agent.url }), { code: 'unauthorized' });
    assert.ok(agent.requests.every(({ headers }) => headers['x-api-key'] === undefined));
    const db = new DatabaseSync(hub.home.database, { readOnly: true });
    const row = db.prepare('SELECT secret FROM remotes WHERE url = ?').get(agent.url);
    db.close();
    assert.deepEqual({ ...row }, { secret: null });
  });

  test('has to fit into a header', async () => {
    const agent = await elsewhere({});
    const wrong = [
      { header: 'Content-Length', value: '1' },
      { header: 'a b', value: 'x' },
      { header: 'X-Key', value: 'a\r\nb: c' },
      { header: 'X-Key', value: '' },
    ];
    for (const secret of wrong) {
      await assert.rejects(add(agent.url, secret), (error: unknown) => {
        assert.equal((error as BusError).code, 'invalid-input');
        return true;
      });
    }
  });
});

describe('an agent that answers nonsense', () => {
  test('or breaks off, again and again', async () => {
    let given = 0;
    const url = await serve((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.once('end', () => {
        const own = face(`http://${request.headers.host}/`);
        if (request.method === 'GET') return response.end(JSON.stringify(card({ supportedInterfaces: [own] })));
        const { method, id } = JSON.parse(body) as { method: string; id: number };
        if (method === 'SendMessage' && ++given > 0) return request.socket.destroy();
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }));
      });
    });
    const sent = (await ann.call('send', { to: url, text: 'hello', wait_seconds: 40 })).data;
    assert.equal(sent.request, 'failed', JSON.stringify(sent));
    assert.match(sent.note ?? '', /breaks off whenever it is given the message/);
    assert.equal(given, 5);
  });

  const nonsense: [string, string, string][] = [
    ['no JSON', 'application/json', 'hello'],
    ['no JSON-RPC', 'application/json', '{"a":1}'],
    ['a task without an id', 'application/json', '{"jsonrpc":"2.0","id":1,"result":{"task":{"status":{}}}}'],
    ['an answer to another question', 'application/json', '{"jsonrpc":"2.0","id":99,"result":{}}'],
    ['events that are none', 'text/event-stream', 'data: x\n\n'],
    ['no event at all', 'text/event-stream', ''],
    ['an event without end', 'text/event-stream', `data: ${'x'.repeat(5_000_000)}`],
  ];
  for (const [what, type, body] of nonsense) {
    test(what, async () => {
      const streaming = type === 'text/event-stream';
      const url = await serve((request, response) => {
        const own = `http://${request.headers.host}/rpc`;
        const isCard = request.url?.startsWith('/.well-known') ?? false;
        const text = JSON.stringify(
          card({ name: 'mad', capabilities: { streaming }, supportedInterfaces: [face(own)] }),
        );
        request.resume();
        response.setHeader('content-type', isCard ? 'application/json' : type);
        response.end(isCard ? text : body);
      });
      const sent = (await ann.call('send', { to: url, text: 'hello', wait_seconds: 30 })).data;
      assert.equal(sent.request, 'failed', JSON.stringify(sent));
      assert.match(sent.note ?? '', /makes no sense|said nothing/);
    });
  }
});
