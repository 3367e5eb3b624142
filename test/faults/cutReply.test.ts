import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeRecord } from '../../src/hub/discovery.ts';
import { busHome } from '../../src/hub/home.ts';
import { AgentLog, check, storedMessages } from '../support/checker.ts';
import { HubProcess } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

/** Stands between a client and the hub, and hangs up on both after so many bytes from the hub. */
class CuttingProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private left = Infinity;
  cuts = 0;

  private constructor(server: Server) {
    this.server = server;
  }

  static async to(port: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    server.on('connection', (client) => proxy.join(client, connect(port, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  cutAfter(bytes: number): void {
    this.left = bytes;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private join(client: Socket, hub: Socket): void {
    const both = [client, hub];
    for (const socket of both) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    client.pipe(hub);
    hub.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, Math.min(chunk.length, this.left));
      this.left -= passed.length;
      client.write(passed);
      if (this.left > 0) return;
      this.left = Infinity;
      this.cuts++;
      // What was passed on still arrives; the rest is lost.
      client.end();
      hub.destroy();
    });
  }
}

test('a lost answer is asked for again, and the message is there once', async () => {
  const random = seededRandom(testSeed());
  const hub = await HubProcess.start();
  const folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-proxy-'));
  const proxy = await CuttingProxy.to(hub.record.rpcPort);
  try {
    for (const name of ['ann', 'bob']) await hub.mint(name);
    // A record of its own sends the client through the proxy.
    const home = busHome({ AGENT_BUS_HOME: folder });
    fs.chmodSync(folder, 0o700);
    writeRecord(home.record, { ...hub.record, rpcPort: proxy.port });
    const ann = await hub.client({ home, as: 'ann', reconnect: true });
    const log = new AgentLog('ann');
    let repeated = 0;
    for (let i = 0; i < 100; i++) {
      const entry = log.invoke(['bob']);
      // Sometimes before the first byte of the answer, sometimes in its middle, sometimes after it.
      if (i % 2 === 0) proxy.cutAfter(1 + Math.floor(random() * 300));
      const { data } = await ann.call('send', { to: 'bob', text: entry.text });
      log.end(entry, 'ok', data.id);
      if (data.duplicate) repeated++;
    }
    assert.ok(proxy.cuts > 20 && repeated > 10, `${proxy.cuts} cuts, ${repeated} repeated`);
    hub.close(ann);
    await hub.stop();
    assert.deepEqual(check([log], storedMessages(hub.home.database)), []);
  } finally {
    proxy.close();
    await hub.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
