/** Connections that mean harm, and how the HTTP door closes. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor, type HttpDoor, type Route } from '../../src/transports/httpDoor.ts';
import { RawHttp, type Answer } from '../support/rawHttp.ts';

const token = 'good-token_0123456789';
let door: HttpDoor;
let port: number;
let raw: RawHttp;

const echo: Route = { handle: (_req, res, { body }) => void res.end(typeof body) };
const slow: Route = {
  handle: async (_req, res) => {
    await sleep(1_200);
    res.end('late');
  },
};

before(async () => {
  door = await openHttpDoor({
    port: 0,
    guard: loopbackGuard(bearer((given) => (given === token ? { agent: 7, via: 'mcp' } : undefined))),
    routes: new Map([
      ['/mcp', echo],
      ['/slow', slow],
    ]),
    timings: { headersTimeout: 400, requestTimeout: 600, checkEvery: 50, linger: 300, maxConnections: 300 },
  });
  port = door.port;
  raw = new RawHttp(port, token);
});
after(() => door.close(0));

describe('hostile connections', () => {
  test('slow-loris: a head or a body that dribbles is cut, a slow answer is not', async () => {
    const started = Date.now();
    const dribble = (bytes: string): Promise<Answer> =>
      raw.talk(bytes, (socket) => {
        const timer = setInterval(() => socket.write('x'), 50);
        socket.on('close', () => clearInterval(timer));
      });
    const [head, body, answer] = await Promise.all([
      dribble(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: `),
      dribble(raw.request({ headers: { 'Content-Length': '5000' }, body: '' })),
      raw.talk(raw.request({ path: '/slow' })),
    ]);
    assert.ok(Date.now() - started < 5_000);
    assert.equal(head.status, 408);
    assert.ok([0, 408].includes(body.status), `body: ${body.status}`);
    assert.equal(answer.status, 200, 'the time-outs are about requests, not about waiting answers');
    assert.equal(await raw.status(), 200);
  });

  test('huge heads are refused', async () => {
    assert.equal(await raw.status({ headers: { 'X-Big': 'a'.repeat(20_000) } }), 431);
    assert.equal((await raw.talk(raw.request({ path: `/mcp?${'a'.repeat(20_000)}` }))).status, 431);
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`x${at}`, '1']));
    assert.equal(await raw.status({ headers: many }), 431);
    assert.equal(await raw.status(), 200);
  });

  test('a guarded header cannot hide behind many others', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`x${at}`, '1']));
    assert.equal(await raw.status({ headers: { ...many, host: 'evil.example' } }), 431);
    assert.equal(await raw.status({ headers: { ...many, origin: 'http://evil.example' } }), 431);
  });

  test('request smuggling: ambiguous lengths are refused and the connection ends', async () => {
    const inner = raw.request({ method: 'GET', path: '/smuggled' });
    const host = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const tries = [
      `POST /mcp HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Content-Length: +2\r\n\r\n{}${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST /mcp HTTP/1.1\r\n${host}X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST /mcp HTTP/1.1\r\n${host} Content-Length: 2\r\n\r\n{}${inner}`,
    ];
    for (const bytes of tries) {
      const sent = await raw.all(bytes);
      assert.match(sent, /^HTTP\/1\.1 4\d\d/, bytes);
      assert.equal(sent.match(/HTTP\/1\.1 /g)?.length, 1, `one answer only: ${bytes}\n${sent}`);
    }
    assert.equal(await raw.status(), 200);
  });

  test('noise is answered 400 or cut, and memory stays flat over thousands of bad requests', async () => {
    assert.equal((await raw.talk('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')).status, 400);
    const round = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at += 20) {
        await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            n % 4 === 0
              ? raw.talk(raw.request({ headers: { Authorization: undefined }, body: 'x'.repeat(10_000) }))
              : n % 4 === 1
                ? raw.talk(raw.request({ headers: { Host: 'evil.example' } }))
                : n % 4 === 2
                  ? raw.talk(raw.request({ body: '[[[[' }))
                  : raw.talk('GET / HTTP/1.1\r\nHost', (socket) => socket.end()),
          ),
        );
      }
    };
    const heap = (): number => {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    };
    await round(400);
    const before = heap();
    await round(2_000);
    assert.ok(heap() - before < 24 * 1_048_576, `grew by ${heap() - before} bytes`);
    assert.equal(await raw.status(), 200);
    await sleep(400);
    assert.ok((await door.connections()) < 20);
  });

  test('more connections than the cap are dropped, not queued', async () => {
    const sockets = Array.from({ length: 350 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await sleep(300);
    assert.ok((await door.connections()) <= 300);
    for (const socket of sockets) socket.destroy();
    await sleep(200);
    assert.equal(await raw.status(), 200);
  });
});

describe('closing', () => {
  const open = (routes: [string, Route][], wanted = 0): Promise<HttpDoor> =>
    openHttpDoor({ port: wanted, guard: loopbackGuard(() => ({ agent: 1, via: 'mcp' })), routes: new Map(routes) });

  test('a running call gets its answer, a new one is not taken, a stuck one is cut', async () => {
    const steps: string[] = [];
    const other = await open([
      [
        '/quick',
        {
          handle: async (_req, res) => void (await sleep(200), res.end('done')),
          drain: () => void steps.push('drain'),
          close: () => void steps.push('close'),
        },
      ],
      [
        '/stuck',
        {
          handle: () => new Promise(() => {}),
          drain: () => assert.fail('a step that throws'),
          close: () => Promise.reject(new Error('no')),
        },
      ],
    ]);
    const call = (path: string): Promise<string> =>
      fetch(`http://127.0.0.1:${other.port}${path}`).then(
        (response) => response.text(),
        () => 'cut',
      );
    const quick = call('/quick');
    const stuck = call('/stuck');
    await sleep(50);
    const closed = other.close(600);
    assert.equal(await quick, 'done');
    assert.equal(await call('/quick'), 'cut');
    await closed;
    assert.equal(await stuck, 'cut');
    assert.deepEqual(steps, ['drain', 'close']);
  });

  test('a taken port: any other', async () => {
    const other = await open([['/mcp', echo]], port);
    assert.notEqual(other.port, port);
    await other.close(0);
  });
});
