import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { writeRecord, type HubRecord } from '../../src/hub/discovery.ts';
import { protocolVersion } from '../../src/protocol/messages.ts';
import { ClientProcess } from '../support/clientProcess.ts';
import { HubProcess, hubsOf, isHubOf, until } from '../support/hubProcess.ts';

const secret = `abo_${'S'.repeat(43)}`;
const agentSecret = `abt_${'A'.repeat(43)}`;

/** A record as a hub leaves it behind that was killed. */
function staleRecord(fields: Partial<HubRecord> = {}): HubRecord {
  return {
    pid: 2 ** 22 - 1,
    version: '0.1.0',
    protocol: protocolVersion,
    mcpUrl: 'http://127.0.0.1:9/mcp',
    rpcPort: 9,
    token: secret,
    startedAt: '2026-01-01T00:00:00.000Z',
    nonce: 'stale',
    ...fields,
  };
}

describe('20 clients start the hub at once', () => {
  let hub: HubProcess;
  const crowd: ClientProcess[] = [];

  before(async () => {
    hub = new HubProcess();
    for (let i = 0; i < 20; i++) crowd.push(new ClientProcess(hub.home.folder));
    await Promise.all(crowd.map((client) => client.ready()));
  });

  after(async () => {
    await Promise.all(crowd.map((client) => client.end()));
    await hub.dispose();
  });

  /** All connect to the same one; then nobody but that one is left. */
  async function meet(): Promise<number> {
    const reports = await Promise.all(crowd.map((client) => client.tell('connect')));
    const pids = new Set(reports.map((report) => ('pid' in report ? report.pid : report.error)));
    assert.equal(pids.size, 1, `they met in ${[...pids].join(', ')}`);
    const [pid] = pids;
    assert.ok(typeof pid === 'number', String(pid));
    hub.adopt(pid);
    await until('the others have left', () => hubsOf(hub.home.folder).length === 1);
    assert.deepEqual(hubsOf(hub.home.folder), [pid]);
    assert.equal(hub.record.pid, pid);
    return pid;
  }

  async function part(): Promise<void> {
    await Promise.all(crowd.map((client) => client.tell('close')));
  }

  const ends: Record<string, (pid: number) => Promise<void>> = {
    'after it was killed': async (pid) => process.kill(pid, 'SIGKILL') && undefined,
    'after it was told to stop': async (pid) => process.kill(pid, 'SIGTERM') && undefined,
    'after its record was garbled': async (pid) => {
      process.kill(pid, 'SIGKILL');
      fs.writeFileSync(hub.home.record, '{"pid":');
    },
    'after its record vanished': async (pid) => {
      process.kill(pid, 'SIGKILL');
      fs.rmSync(hub.home.record);
    },
  };

  for (const [when, end] of Object.entries(ends)) {
    test(`${when}, 5 rounds`, async () => {
      for (let round = 0; round < 5; round++) {
        const pid = await meet();
        await part();
        await end(pid);
        await until('the old hub is gone', () => !isHubOf(pid, hub.home.folder));
      }
    });
  }

  test('or come back to it after a kill, each by itself', async () => {
    const first = await meet();
    process.kill(first, 'SIGKILL');
    const reports = await Promise.all(crowd.map((client) => client.tell('ask')));
    const pids = new Set(reports.map((report) => ('pid' in report ? report.pid : report.error)));
    assert.equal(pids.size, 1, `they met in ${[...pids].join(', ')}`);
    assert.ok(!pids.has(first));
    await part();
  });
});

describe('a record that is no proof of a hub', () => {
  let hub: HubProcess;
  let listeners: Server[] = [];
  const sockets = new Set<Socket>();
  let heard = '';

  afterEach(async () => {
    for (const listener of listeners) listener.close();
    for (const socket of sockets) socket.destroy();
    listeners = [];
    heard = '';
    await hub.dispose();
  });

  async function listen(answer: (socket: Socket, chunk: Buffer) => void, port = 0): Promise<number> {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
      socket.on('data', (chunk) => {
        heard += chunk.toString('latin1');
        answer(socket, chunk);
      });
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    listeners.push(server);
    return (server.address() as AddressInfo).port;
  }

  const frame = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  const hello = { protocol: 1, version: '0.1.0', nonce: 'n'.repeat(32), proof: Buffer.alloc(32).toString('base64url') };

  const strangers: Record<string, (socket: Socket, chunk: Buffer) => void> = {
    'says nothing': () => undefined,
    'hangs up': (socket) => socket.destroy(),
    'speaks HTTP': (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'echoes everything': (socket, chunk) => socket.write(chunk),
    'pretends to be a hub': (socket) => socket.write(frame(JSON.stringify({ jsonrpc: '2.0', id: 1, result: hello }))),
    'pretends to be a newer hub': (socket) =>
      socket.write(
        frame(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { ...hello, protocol: 99, version: '99.0.0' } })),
      ),
    'knows our errors': (socket) =>
      socket.write(
        frame(
          JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            error: { code: -32000, message: 'no', data: { code: 'unauthorized', next: '' } },
          }),
        ),
      ),
  };

  for (const [does, answer] of Object.entries(strangers)) {
    test(`its port belongs to a stranger that ${does}: it never hears a token`, async () => {
      hub = new HubProcess();
      const port = await listen(answer);
      writeRecord(hub.home.record, staleRecord({ rpcPort: port, mcpUrl: `http://127.0.0.1:${port}/mcp` }));
      const client = await hub.client({ start: true });
      const { agents } = (await client.call('agents', {})).data;
      assert.deepEqual(agents, []);
      assert.notEqual(client.hub?.rpcPort, port);
      assert.notEqual(new URL(client.hub?.mcpUrl ?? '').port, String(port));
      assert.doesNotMatch(heard, /abo_|abt_|SSSS|proof|login/);
      // Now with an agent's own token: a refusal of the stranger must not be taken for the hub's.
      writeRecord(hub.home.record, staleRecord({ rpcPort: port }));
      await assert.rejects(hub.client({ start: false, token: agentSecret }), { code: 'hub-unavailable' });
      assert.match(heard, /hello/);
      assert.doesNotMatch(heard, /abo_|abt_|AAAA|proof|login/);
    });
  }

  test('it names the pid of a program that is not a hub', async () => {
    hub = new HubProcess();
    writeRecord(hub.home.record, staleRecord({ pid: process.pid }));
    const client = await hub.client({ start: true });
    assert.notEqual(client.hub?.pid, process.pid);
    await client.call('agents', {});
  });

  const garbage: Record<string, string | Buffer> = {
    empty: '',
    'half written': '{"pid": 12, "vers',
    null: 'null',
    'an array': '[1,2]',
    'of other types': JSON.stringify({ ...staleRecord(), rpcPort: '9' }),
    'with a port out of range': JSON.stringify(staleRecord({ rpcPort: 70_000 })),
    'with a foreign address': JSON.stringify(staleRecord({ mcpUrl: 'file:///etc/passwd' })),
    binary: Buffer.from([0, 255, 254, 1, 2, 3]),
    huge: Buffer.alloc(100_000, 'x'),
  };

  test(`it is garbled: ${Object.keys(garbage).join(', ')}`, async () => {
    hub = new HubProcess();
    for (const [what, text] of Object.entries(garbage)) {
      fs.writeFileSync(hub.home.record, text, { mode: 0o600 });
      await assert.rejects(hub.client({ start: false }), { code: 'hub-unavailable' }, what);
      const client = await hub.client({ start: true });
      await client.call('agents', {});
      const pid = client.hub?.pid ?? 0;
      hub.close(client);
      process.kill(pid, 'SIGKILL');
      await until('the hub is gone', () => !isHubOf(pid, hub.home.folder));
    }
  });

  test('the wanted port is taken: the hub takes another and says which', async () => {
    const taken = await listen(() => undefined);
    hub = new HubProcess({ settings: { port: taken } });
    const record = await hub.start();
    assert.notEqual(Number(new URL(record.mcpUrl).port), taken);
    assert.equal((await hub.status()).mcpUrl, record.mcpUrl);
    assert.equal(heard, '');
  });

  test('its last ports are free: the hub takes them again, so that written-down addresses stay right', async () => {
    hub = new HubProcess();
    const first = await hub.start();
    await hub.mint('ann');
    await hub.kill();
    const second = await hub.start();
    assert.equal(second.mcpUrl, first.mcpUrl);
    assert.equal(second.rpcPort, first.rpcPort);
    assert.notEqual(second.token, first.token);
  });

  test('its last ports are taken: the hub takes others and says which', async () => {
    hub = new HubProcess();
    const first = await hub.start();
    await hub.mint('ann');
    await hub.kill();
    const ports = [first.rpcPort, Number(new URL(first.mcpUrl).port)];
    for (const port of ports) await listen(() => undefined, port);
    const second = await hub.start();
    assert.ok(!ports.includes(second.rpcPort) && !ports.includes(Number(new URL(second.mcpUrl).port)));
    assert.equal((await hub.status()).rpcPort, second.rpcPort);
    assert.equal(heard, '');
  });
});

describe('a start that fails', () => {
  test('is explained to whoever wanted it', async () => {
    const hub = new HubProcess({ settings: { idleMinutes: 'soon' } });
    try {
      await assert.rejects(hub.client({ start: true }), { code: 'bad-settings', message: /idleMinutes/ });
      hub.configure({});
      await (await hub.client({ start: true })).call('agents', {});
    } finally {
      await hub.dispose();
    }
  });
});
