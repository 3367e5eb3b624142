/** What the HTTP door lets in and how it says no, over real sockets. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Caller } from '../../src/core/model.ts';
import { bodyBytes, bodyDepth } from '../../src/transports/body.ts';
import { bearer, checkHost, checkOrigin, loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor, type HttpDoor, type Route } from '../../src/transports/httpDoor.ts';
import { RawHttp } from '../support/rawHttp.ts';

const token = 'good-token_0123456789';
const known = new Set([token, 'revoked-token']);
const revoked = new Set(['revoked-token']);
const authenticate = (given: string): Caller | undefined =>
  known.has(given) && !revoked.has(given) ? { agent: 7, via: 'mcp' } : undefined;

let door: HttpDoor;
let port: number;
let raw: RawHttp;
let bodies: unknown[] = [];

const echo: Route = {
  handle: (_req, res, { caller, body }) => {
    bodies.push(body);
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ agent: caller.agent, kind: typeof body }));
  },
};

const open: Route = {
  ...echo,
  visit: (_req, res) => void res.writeHead(200).end('for everybody'),
  mayBeEmpty: true,
  unreadable: (_req, res, { code }) => void res.writeHead(400).end(`unreadable: ${code}`),
};

before(async () => {
  const routes = new Map([
    ['/mcp', echo],
    ['/below/', echo],
    ['/a2a/', open],
  ]);
  door = await openHttpDoor({ port: 0, guard: loopbackGuard(bearer(authenticate)), routes });
  port = door.port;
  raw = new RawHttp(port, token);
});
after(() => door.close(0));

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
        const headers = {
          Host: named(host),
          Origin: named(origin),
          Authorization: onHost === 200 && onOrigin === 200 ? `Bearer ${token}` : undefined,
        };
        const expected = onHost === 400 || onOrigin === 400 ? 400 : onHost === 200 ? onOrigin : onHost;
        assert.equal(await raw.status({ headers }), expected, `Host ${String(host)} Origin ${String(origin)}`);
      }
    }
  });

  test('every token with every content type: the token comes first', async () => {
    for (const [authorization, onToken] of tokens) {
      for (const [type, onType] of types) {
        const expected = onToken === 400 || onType === 400 ? 400 : onToken === 200 ? onType : onToken;
        const headers = { Authorization: authorization, 'Content-Type': type };
        assert.equal(
          await raw.status({ headers }),
          expected,
          `Authorization ${String(authorization)} Content-Type ${String(type)}`,
        );
      }
    }
  });

  test('methods: only three, and OPTIONS gets no CORS header', async () => {
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'HEAD', 'TRACE']) {
      const headers = {
        Origin: `http://127.0.0.1:${port}`,
        'Access-Control-Request-Method': 'POST',
        Authorization: undefined,
      };
      const answer = await raw.talk(raw.request({ method, headers }));
      assert.equal(answer.status, 405, method);
      assert.match(answer.head, /allow: GET, POST, DELETE/i);
      assert.doesNotMatch(answer.head, /access-control/i);
    }
    const foreign = await raw.talk(raw.request({ method: 'OPTIONS', headers: { Origin: 'http://evil.example' } }));
    assert.equal(foreign.status, 403);
    assert.doesNotMatch(foreign.head, /access-control/i);
    assert.equal(await raw.status({ method: 'GET' }), 200);
    assert.equal(await raw.status({ method: 'DELETE' }), 200);
    assert.notEqual(
      (await raw.talk(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).status,
      200,
    );
  });

  test('paths: unknown ones look like nothing without a token, and a folder serves what is below it', async () => {
    assert.equal(await raw.status({ path: '/nothing' }), 404);
    assert.equal(await raw.status({ path: '/nothing', headers: { Authorization: undefined } }), 401);
    assert.equal(await raw.status({ path: '/mcp?x=1' }), 200);
    assert.equal(await raw.status({ path: '/below/a/b' }), 200);
    assert.equal(await raw.status({ path: '/mcp/../below/' }), 404);
    assert.equal(await raw.status({ path: `http://127.0.0.1:${port}/mcp` }), 404);
    assert.equal(await raw.status({ path: '//evil.example/mcp' }), 404);
  });

  test('the cards of A2A agents are for everybody, and nothing else is', async () => {
    const card = { method: 'GET', path: '/a2a/cook/.well-known/agent-card.json' };
    const nobody = { Authorization: undefined };
    assert.match((await raw.talk(raw.request({ ...card, headers: nobody }))).body, /for everybody/);
    assert.equal(await raw.status({ ...card, headers: { ...nobody, Host: 'evil.example' } }), 403);
    assert.equal(await raw.status({ ...card, headers: { ...nobody, Origin: 'null' } }), 403);
    assert.equal(await raw.status({ ...card, method: 'POST', headers: nobody }), 401);
    assert.equal(await raw.status({ ...card, path: '/a2a/cook', headers: nobody }), 401);
    assert.equal(await raw.status({ ...card, path: '/below/.well-known/agent-card.json', headers: nobody }), 401);
  });

  test('the same decisions without a socket', () => {
    assert.equal(checkHost('127.0.0.1:80', 80), undefined);
    assert.equal(checkHost('127.0.0.1:80', 81)?.status, 403);
    assert.equal(checkOrigin('null', 80)?.error.code, 'forbidden');
    const asked: (string | undefined)[] = [];
    const guard = loopbackGuard((authorization) => void asked.push(authorization));
    guard({
      method: 'POST',
      path: '/mcp',
      port: 80,
      rawHeaders: ['Host', 'evil.example', 'Authorization', 'Bearer x'],
    });
    assert.deepEqual(asked, [], 'a foreign Host never reaches the token check');
  });

  function named(value: string | string[] | undefined): string | string[] | undefined {
    if (Array.isArray(value)) return value.map((one) => one.replace('PORT', String(port)));
    return value?.replace('PORT', String(port));
  }
});

test('no, wrong, truncated, revoked and malformed tokens get the same 401, byte for byte', async () => {
  const given = [
    undefined,
    'Bearer',
    'Bearer ',
    'Bearer wrong',
    `Bearer ${token.slice(0, 5)}`,
    `Bearer ${token}x`,
    'Bearer revoked-token',
    `Bearer  ${token}`,
    `Bearer ${token} ${token}`,
    `Token ${token}`,
    'Bearer ü',
    `Bearer ${'a'.repeat(4_000)}`,
  ];
  const answers = await Promise.all(
    given.map((Authorization) => raw.talk(raw.request({ headers: { Authorization } }))),
  );
  const [first] = answers;
  assert.equal(first!.status, 401);
  assert.match(first!.head, /www-authenticate: Bearer\r\n|www-authenticate: Bearer$/im);
  assert.deepEqual(Object.keys((JSON.parse(first!.body) as { error: object }).error).sort(), [
    'code',
    'message',
    'next',
  ]);
  for (const answer of answers) assert.equal(answer.raw, first!.raw);
  assert.ok(!answers.some((answer) => answer.raw.includes(token)));
});

describe('bodies', () => {
  test('a declared length over the limit is refused at once, at the limit it is read', async () => {
    const answer = await raw.talk(raw.request({ headers: { 'Content-Length': String(bodyBytes + 1) }, body: '' }));
    assert.equal(answer.status, 413);
    assert.equal((JSON.parse(answer.body) as { error: { code: string } }).error.code, 'too-large');
    const full = JSON.stringify('x'.repeat(bodyBytes - 2));
    assert.equal(await raw.status({ body: full }), 200);
  });

  test('a chunked body is cut at the limit, and the refusal arrives while the sender is still sending', async () => {
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    const head = raw.request({ headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' }, body: '' });
    const answer = await raw.talk(head, (socket) => {
      for (let at = 0; at < 9; at++) socket.write(chunk);
    });
    assert.equal(answer.status, 413);
    assert.equal(await raw.status(), 200);
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
      const answer = await raw.talk(raw.request({ body }));
      assert.equal(answer.status, 400);
      assert.equal((JSON.parse(answer.body) as { error: { code: string } }).error.code, code);
    }
    const latin = Buffer.concat([
      Buffer.from(raw.request({ headers: { 'Content-Length': '3' }, body: '' })),
      Buffer.from([0x22, 0xff, 0x22]),
    ]);
    assert.equal((await raw.talk(latin)).status, 400);
  });

  test('a route may take an empty body and its protocol’s own type, and say itself what it can’t read', async () => {
    const type = { 'Content-Type': 'application/a2a+json' };
    assert.equal(await raw.status({ path: '/a2a/cook', headers: type }), 200);
    assert.equal(await raw.status({ path: '/mcp', headers: type }), 415);
    assert.match((await raw.talk(raw.request({ path: '/a2a/cook', body: '' }))).body, /"undefined"/);
    assert.match((await raw.talk(raw.request({ path: '/a2a/cook', body: '{' }))).body, /unreadable: invalid-input/);
    const huge = { 'Content-Length': String(bodyBytes + 1) };
    assert.equal(await raw.status({ path: '/a2a/cook', headers: huge, body: '' }), 413);
  });

  test('`__proto__` stays data', async () => {
    bodies = [];
    assert.equal(
      await raw.status({ body: '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}' }),
      200,
    );
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.equal(Object.getPrototypeOf(bodies[0]), Object.prototype);
    assert.deepEqual(Object.keys(bodies[0] as object), ['__proto__', 'constructor']);
  });

  test('Expect: 100-continue is granted only to a request that is let in', async () => {
    const refused = await raw.talk(
      raw.request({ headers: { Expect: '100-continue', Authorization: undefined }, body: '' }),
    );
    assert.equal(refused.status, 401);
    const granted = await raw.talk(
      raw.request({ headers: { Expect: '100-continue', 'Content-Length': '2' }, body: '' }),
      (socket) => {
        socket.once('data', () => socket.write('{}'));
      },
    );
    assert.match(granted.raw, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
  });
});
