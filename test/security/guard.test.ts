/** What the HTTP door lets in and how it says no, over real sockets. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../src/core/model.ts';
import { bodyBytes, bodyDepth } from '../../src/transports/body.ts';
import { bearer, checkHost, checkOrigin, loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor, type HttpDoor, type Route } from '../../src/transports/httpDoor.ts';

const token = 'good-token_0123456789';
const revoked = new Set(['revoked-token']);
const authenticate = (given: string): Caller | undefined => (given === token && !revoked.has(given) ? { agent: 7, via: 'mcp' } : undefined);

let door: HttpDoor;
let port: number;
let bodies: unknown[] = [];

const echo: Route = {
  handle: (_req, res, { caller, body }) => {
    bodies.push(body);
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ agent: caller.agent, kind: typeof body }));
  },
};
const slow: Route = {
  handle: async (_req, res) => {
    await sleep(1_200);
    res.end('late');
  },
};

before(async () => {
  door = await openHttpDoor({
    port: 0,
    guard: loopbackGuard(bearer(authenticate)),
    routes: new Map([
      ['/mcp', echo],
      ['/slow', slow],
      ['/below/', echo],
    ]),
    timings: { headersTimeout: 400, requestTimeout: 600, checkEvery: 50, linger: 300, maxConnections: 300 },
  });
  port = door.port;
});
after(() => door.close(0));

interface Answer {
  status: number;
  head: string;
  body: string;
  raw: string;
}

/** Everything the door sends until it closes the connection or the first answer is complete. */
function talk(bytes: string | Buffer, onSocket?: (socket: Socket) => void): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let raw = '';
    const finish = (): void => {
      socket.destroy();
      const [head = '', ...rest] = raw.split('\r\n\r\n');
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(raw)?.[1] ?? 0), head, body: rest.join('\r\n\r\n'), raw });
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      raw += chunk;
      const end = raw.indexOf('\r\n\r\n');
      const length = bytes.toString().startsWith('HEAD') ? '0' : /content-length: (\d+)/i.exec(raw)?.[1];
      if (raw.endsWith('\r\n0\r\n\r\n') || (end >= 0 && length !== undefined && raw.length >= end + 4 + Number(length))) finish();
    });
    socket.on('close', finish);
    socket.setTimeout(5_000, finish);
    socket.on('error', () => {});
    socket.write(bytes);
    onSocket?.(socket);
  });
}

interface Parts {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[] | undefined>;
  body?: string;
}

function request({ method = 'POST', path = '/mcp', headers = {}, body = '{}' }: Parts = {}): string {
  const all: Record<string, string | string[] | undefined> = {
    Host: `127.0.0.1:${port}`,
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': method === 'POST' ? String(Buffer.byteLength(body)) : undefined,
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`)));
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${method === 'POST' ? body : ''}`;
}

const status = async (parts: Parts): Promise<number> => (await talk(request(parts))).status;

async function stillUp(): Promise<void> {
  assert.equal(await status({}), 200);
}

describe('guard matrix', () => {
  const hosts: [string | string[] | undefined, number][] = [
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LocalHost:PORT', 200],
    ['[::1]:PORT', 200],
    ['127.0.0.1', 403],
    ['127.0.0.1:1', 403],
    ['evil.example:PORT', 403],
    ['127.0.0.1.evil.example:PORT', 403],
    ['127.0.0.1:PORT.evil.example', 403],
    ['user@127.0.0.1:PORT', 403],
    ['localhost.:PORT', 403],
    ['0.0.0.0:PORT', 403],
    ['127.1:PORT', 403],
    ['', 403],
    [undefined, 400],
    [['127.0.0.1:PORT', 'evil.example'], 400],
    [['127.0.0.1:PORT', '127.0.0.1:PORT'], 400],
  ];
  const origins: [string | string[] | undefined, number][] = [
    [undefined, 200],
    ['http://127.0.0.1:PORT', 200],
    ['http://localhost:PORT', 200],
    ['http://[::1]:PORT', 200],
    ['null', 403],
    ['', 403],
    ['https://127.0.0.1:PORT', 403],
    ['http://127.0.0.1:1', 403],
    ['http://127.0.0.1', 403],
    ['http://evil.example', 403],
    ['http://localhost:PORT.evil.example', 403],
    ['vscode-webview://abc', 403],
    ['file://', 403],
    [['http://127.0.0.1:PORT', 'http://evil.example'], 400],
  ];
  const types: [string | string[] | undefined, number][] = [
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON', 200],
    ['text/plain', 415],
    ['text/plain;application/json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/jsonp', 415],
    ['application/json, text/plain', 415],
    ['', 415],
    [undefined, 415],
    [['application/json', 'text/plain'], 400],
  ];
  const tokens: [string | string[] | undefined, number][] = [
    [`Bearer ${token}`, 200],
    [`bearer ${token}`, 200],
    [undefined, 401],
    ['Bearer wrong', 401],
    [`Bearer ${token.slice(0, -1)}`, 401],
    ['Bearer revoked-token', 401],
    [token, 401],
    [`Basic ${Buffer.from(`a:${token}`).toString('base64')}`, 401],
    [[`Bearer ${token}`, 'Bearer wrong'], 400],
  ];

  test('every Host with every Origin: the stricter one decides, before the token is looked at', async () => {
    for (const [host, onHost] of hosts) {
      for (const [origin, onOrigin] of origins) {
        const headers = { Host: named(host), Origin: named(origin), Authorization: onHost === 200 && onOrigin === 200 ? `Bearer ${token}` : undefined };
        const expected = onHost === 400 || onOrigin === 400 ? 400 : onHost === 200 ? onOrigin : onHost;
        assert.equal(await status({ headers }), expected, `Host ${String(host)} Origin ${String(origin)}`);
      }
    }
  });

  test('every token with every content type: the token comes first', async () => {
    for (const [authorization, onToken] of tokens) {
      for (const [type, onType] of types) {
        const expected = onToken === 400 || onType === 400 ? 400 : onToken === 200 ? onType : onToken;
        const headers = { Authorization: authorization, 'Content-Type': type };
        assert.equal(await status({ headers }), expected, `Authorization ${String(authorization)} Content-Type ${String(type)}`);
      }
    }
  });

  test('methods: only three, and OPTIONS gets no CORS header', async () => {
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'HEAD', 'TRACE']) {
      const headers = { Origin: `http://127.0.0.1:${port}`, 'Access-Control-Request-Method': 'POST', Authorization: undefined };
      const answer = await talk(request({ method, headers }));
      assert.equal(answer.status, 405, method);
      assert.match(answer.head, /allow: GET, POST, DELETE/i);
      assert.doesNotMatch(answer.head, /access-control/i);
    }
    const foreign = await talk(request({ method: 'OPTIONS', headers: { Origin: 'http://evil.example' } }));
    assert.equal(foreign.status, 403);
    assert.doesNotMatch(foreign.head, /access-control/i);
    assert.equal(await status({ method: 'GET' }), 200);
    assert.equal(await status({ method: 'DELETE' }), 200);
    assert.notEqual((await talk(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).status, 200);
  });

  test('paths: unknown ones look like nothing without a token, and a folder serves what is below it', async () => {
    assert.equal(await status({ path: '/nothing' }), 404);
    assert.equal(await status({ path: '/nothing', headers: { Authorization: undefined } }), 401);
    assert.equal(await status({ path: '/mcp?x=1' }), 200);
    assert.equal(await status({ path: '/below/a/b' }), 200);
    assert.equal(await status({ path: '/mcp/../below/' }), 404);
    assert.equal(await status({ path: `http://127.0.0.1:${port}/mcp` }), 404);
    assert.equal(await status({ path: '//evil.example/mcp' }), 404);
  });

  test('the same decisions without a socket', () => {
    assert.equal(checkHost('127.0.0.1:80', 80), undefined);
    assert.equal(checkHost('127.0.0.1:80', 81)?.status, 403);
    assert.equal(checkOrigin('null', 80)?.error.code, 'forbidden');
    const asked: (string | undefined)[] = [];
    const guard = loopbackGuard((authorization) => void asked.push(authorization));
    guard({ method: 'POST', port: 80, rawHeaders: ['Host', 'evil.example', 'Authorization', 'Bearer x'] });
    assert.deepEqual(asked, [], 'a foreign Host never reaches the token check');
  });

  function named(value: string | string[] | undefined): string | string[] | undefined {
    if (Array.isArray(value)) return value.map((one) => one.replace('PORT', String(port)));
    return value?.replace('PORT', String(port));
  }
});

test('no, wrong, truncated, revoked and malformed tokens get the same 401, byte for byte', async () => {
  const given = [undefined, 'Bearer', 'Bearer ', 'Bearer wrong', `Bearer ${token.slice(0, 5)}`, `Bearer ${token}x`, 'Bearer revoked-token', `Bearer  ${token}`, `Bearer ${token} ${token}`, `Token ${token}`, 'Bearer ü', `Bearer ${'a'.repeat(4_000)}`];
  const answers = await Promise.all(given.map((Authorization) => talk(request({ headers: { Authorization } }))));
  const [first] = answers;
  assert.equal(first!.status, 401);
  assert.match(first!.head, /www-authenticate: Bearer\r\n|www-authenticate: Bearer$/im);
  assert.deepEqual(Object.keys((JSON.parse(first!.body) as { error: object }).error).sort(), ['code', 'message', 'next']);
  for (const answer of answers) assert.equal(answer.raw, first!.raw);
  assert.ok(!answers.some((answer) => answer.raw.includes(token)));
});

describe('bodies', () => {
  test('a declared length over the limit is refused at once, at the limit it is read', async () => {
    const answer = await talk(request({ headers: { 'Content-Length': String(bodyBytes + 1) }, body: '' }));
    assert.equal(answer.status, 413);
    assert.equal((JSON.parse(answer.body) as { error: { code: string } }).error.code, 'too-large');
    const full = JSON.stringify('x'.repeat(bodyBytes - 2));
    assert.equal(await status({ body: full }), 200);
  });

  test('a chunked body is cut at the limit, and the refusal arrives while the sender is still sending', async () => {
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    const head = request({ headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' }, body: '' });
    const answer = await talk(head, (socket) => {
      for (let at = 0; at < 9; at++) socket.write(chunk);
    });
    assert.equal(answer.status, 413);
    await stillUp();
  });

  test('deep nesting, broken JSON, wrong encodings: 400 with a code', async () => {
    const bad: [string, string][] = [
      ['['.repeat(bodyDepth + 1) + ']'.repeat(bodyDepth + 1), 'too-deep'],
      ['{"a":'.repeat(200_000), 'too-deep'],
      ['{', 'invalid-input'],
      ['', 'invalid-input'],
      ['\ufeff{}', 'invalid-input'],
      ["{'a':1}", 'invalid-input'],
    ];
    for (const [body, code] of bad) {
      const answer = await talk(request({ body }));
      assert.equal(answer.status, 400);
      assert.equal((JSON.parse(answer.body) as { error: { code: string } }).error.code, code);
    }
    const latin = Buffer.concat([Buffer.from(request({ headers: { 'Content-Length': '3' }, body: '' })), Buffer.from([0x22, 0xff, 0x22])]);
    assert.equal((await talk(latin)).status, 400);
  });

  test('`__proto__` stays data', async () => {
    bodies = [];
    assert.equal(await status({ body: '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}' }), 200);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.equal(Object.getPrototypeOf(bodies[0]), Object.prototype);
    assert.deepEqual(Object.keys(bodies[0] as object), ['__proto__', 'constructor']);
  });

  test('Expect: 100-continue is granted only to a request that is let in', async () => {
    const refused = await talk(request({ headers: { Expect: '100-continue', Authorization: undefined }, body: '' }));
    assert.equal(refused.status, 401);
    const granted = await talk(request({ headers: { Expect: '100-continue', 'Content-Length': '2' }, body: '' }), (socket) => {
      socket.once('data', () => socket.write('{}'));
    });
    assert.match(granted.raw, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
  });
});

describe('hostile connections', () => {
  test('slow-loris: a head or a body that dribbles is cut, a slow answer is not', async () => {
    const started = Date.now();
    const dribble = (bytes: string): Promise<Answer> =>
      talk(bytes, (socket) => {
        const timer = setInterval(() => socket.write('x'), 50);
        socket.on('close', () => clearInterval(timer));
      });
    const [head, body, answer] = await Promise.all([
      dribble(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: `),
      dribble(request({ headers: { 'Content-Length': '5000' }, body: '' })),
      talk(request({ path: '/slow' })),
    ]);
    assert.ok(Date.now() - started < 5_000);
    assert.equal(head.status, 408);
    assert.ok([0, 408].includes(body.status), `body: ${body.status}`);
    assert.equal(answer.status, 200, 'the time-outs are about requests, not about waiting answers');
    await stillUp();
  });

  test('huge heads are refused', async () => {
    assert.equal(await status({ headers: { 'X-Big': 'a'.repeat(20_000) } }), 431);
    assert.equal((await talk(request({ path: `/mcp?${'a'.repeat(20_000)}` }))).status, 431);
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`x${at}`, '1']));
    assert.equal(await status({ headers: many }), 431);
    await stillUp();
  });

  test('a guarded header cannot hide behind many others', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`x${at}`, '1']));
    assert.equal(await status({ headers: { ...many, host: 'evil.example' } }), 431);
    assert.equal(await status({ headers: { ...many, origin: 'http://evil.example' } }), 431);
  });

  test('request smuggling: ambiguous lengths are refused and the connection ends', async () => {
    const inner = request({ method: 'GET', path: '/smuggled' });
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
      const raw = await whole(bytes);
      assert.match(raw, /^HTTP\/1\.1 4\d\d/, bytes);
      assert.equal(raw.match(/HTTP\/1\.1 /g)?.length, 1, `one answer only: ${bytes}\n${raw}`);
    }
    await stillUp();
  });

  test('noise is answered 400 or cut, and memory stays flat over thousands of bad requests', async () => {
    assert.equal((await talk('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')).status, 400);
    const round = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at += 20) {
        await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            n % 4 === 0
              ? talk(request({ headers: { Authorization: undefined }, body: 'x'.repeat(10_000) }))
              : n % 4 === 1
                ? talk(request({ headers: { Host: 'evil.example' } }))
                : n % 4 === 2
                  ? talk(request({ body: '[[[[' }))
                  : talk('GET / HTTP/1.1\r\nHost', (socket) => socket.end()),
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
    await stillUp();
    await sleep(400);
    assert.ok((await door.connections()) < 20);
  });

  test('more connections than the cap are dropped, not queued', async () => {
    const sockets = Array.from({ length: 350 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await sleep(300);
    assert.ok((await door.connections()) <= 300);
    for (const socket of sockets) socket.destroy();
    await sleep(200);
    await stillUp();
  });

  function whole(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let raw = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (raw += chunk));
      socket.on('error', () => {}).on('close', () => resolve(raw));
      socket.setTimeout(1_000, () => socket.destroy());
      socket.write(bytes);
    });
  }
});

describe('closing', () => {
  const open = (routes: [string, Route][], wanted = 0): Promise<HttpDoor> => openHttpDoor({ port: wanted, guard: loopbackGuard(() => ({ agent: 1, via: 'mcp' })), routes: new Map(routes) });

  test('a running call gets its answer, a new one is not taken, a stuck one is cut', async () => {
    const steps: string[] = [];
    const other = await open([
      ['/quick', { handle: async (_req, res) => void (await sleep(200), res.end('done')), drain: () => void steps.push('drain'), close: () => void steps.push('close') }],
      ['/stuck', { handle: () => new Promise(() => {}), drain: () => assert.fail('a step that throws'), close: () => Promise.reject(new Error('no')) }],
    ]);
    const call = (path: string): Promise<string> => fetch(`http://127.0.0.1:${other.port}${path}`).then((response) => response.text(), () => 'cut');
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
