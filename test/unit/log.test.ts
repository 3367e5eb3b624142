import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { openLog, readLog } from '../../src/hub/log.ts';

describe('the log', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-log-'));
    path = join(folder, 'hub.log');
  });

  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('writes JSON lines, closed to others, and goes on where it stopped', () => {
    const log = openLog(path);
    log.info('started', { port: 1, nothing: null });
    log.warn('slow', { ms: 12 });
    log.close();
    log.info('after the end');
    const again = openLog(path);
    again.error('failed', { error: new TypeError('no such thing', { cause: new Error('deeper') }) });
    again.close();
    const lines = readLog(path);
    assert.deepEqual(
      lines.map(({ level, event }) => [level, event]),
      [
        ['info', 'started'],
        ['warn', 'slow'],
        ['error', 'failed'],
      ],
    );
    assert.equal(lines[0]?.['port'], 1);
    const error = lines[2]?.['error'] as { name: string; message: string; where: string; cause: { message: string } };
    assert.equal(error.name, 'TypeError');
    assert.equal(error.message, 'no such thing');
    assert.match(error.where, /log\.test/);
    assert.equal(error.cause.message, 'deeper');
    assert.ok(!Number.isNaN(Date.parse(lines[0]?.at ?? '')));
    if (process.platform !== 'win32') assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  });

  it('stays within its bounds and keeps the newest lines', () => {
    const log = openLog(path, { maxBytes: 4_096, keep: 2 });
    for (let n = 0; n < 500; n++) log.info('tick', { n, filling: 'x'.repeat(50) });
    log.close();
    assert.deepEqual(fs.readdirSync(folder).sort(), ['hub.log', 'hub.log.1', 'hub.log.2']);
    for (const name of fs.readdirSync(folder)) assert.ok(fs.statSync(join(folder, name)).size <= 4_096, name);
    const last = readLog(path, { lines: 50 });
    assert.equal(last.length, 50);
    assert.deepEqual(
      last.map((line) => line['n']),
      Array.from({ length: 50 }, (_, i) => 450 + i),
    );
    assert.deepEqual(readLog(path, { lines: 0 }), []);
    assert.deepEqual(readLog(join(folder, 'none.log')), []);
  });

  it('cuts long values and whole lines, and survives what JSON cannot say', () => {
    const log = openLog(path);
    const cyclic: Record<string, unknown> = { big: 12n, when: new Date(0), bytes: Buffer.alloc(9), call: () => 1 };
    cyclic['self'] = cyclic;
    log.info('cyclic', cyclic);
    log.info('long', { text: 'ä'.repeat(10_000) });
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, 'x'.repeat(499)]));
    log.info('wide', { a: wide });
    log.info('fake', { at: 'x', level: 'y', event: 'z', __proto__: { polluted: true } });
    const throws = Object.defineProperty({}, 'bad', { enumerable: true, get: () => assert.fail('getter') });
    log.info('throws', throws);
    log.info('next');
    log.close();
    const [first, long, tooWide, fake, next] = readLog(path);
    assert.equal(first?.['big'], '12');
    assert.equal(first?.['bytes'], '[9 bytes]');
    assert.equal((long?.['text'] as string).length, 501);
    assert.ok(Number(tooWide?.['tooLong']) > 16_384);
    assert.deepEqual([fake?.level, fake?.event], ['info', 'fake']);
    assert.deepEqual([next?.event, next?.['linesLost']], ['next', 1]);
  });

  it('never throws, and tells how many lines it could not write', () => {
    const log = openLog(join(folder, 'missing', 'hub.log'));
    log.info('lost');
    log.info('lost');
    fs.mkdirSync(join(folder, 'missing'));
    log.info('found');
    log.close();
    assert.equal(readLog(join(folder, 'missing', 'hub.log'))[0]?.['linesLost'], 2);
  });

  it('does not write through a link', { skip: process.platform === 'win32' }, () => {
    fs.writeFileSync(join(folder, 'precious'), 'precious');
    fs.symlinkSync(join(folder, 'precious'), path);
    openLog(path).info('hello');
    assert.equal(fs.readFileSync(join(folder, 'precious'), 'utf8'), 'precious');
  });

  it('keeps the lines written right before a crash', { skip: process.platform === 'win32' }, () => {
    const module = new URL('../../src/hub/log.ts', import.meta.url).href;
    const script = `
      import { openLog } from ${JSON.stringify(module)};
      const log = openLog(${JSON.stringify(path)});
      for (let n = 0; n < 100; n++) log.error('last words', { n });
      process.kill(process.pid, 'SIGKILL');`;
    spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    fs.appendFileSync(path, '{"at":"torn');
    assert.equal(readLog(path).length, 100);
  });

  it('redacts by name and by look', () => {
    const log = openLog(path);
    log.info('request abt_inTheEvent', {
      headers: { Authorization: 'Bearer hunter2', cookie: 'a=hunter2', 'x-api-key': 'hunter2' },
      url: 'http://127.0.0.1/mcp?token=hunter2&x=1',
      line: 'Authorization: Basic hunter2',
      agentToken: ['hunter2'],
      key_hash: Buffer.from('hunter2'),
      secret: { deep: 'hunter2' },
      tokens: 12,
      key: 'visible',
      abt_inAKey: 1,
      error: new Error('bad token abo_inAnError'),
    });
    log.close();
    const text = fs.readFileSync(path, 'utf8');
    for (const leak of ['hunter2', 'inTheEvent', 'inAKey', 'inAnError']) assert.ok(!text.includes(leak), leak);
    const [line] = readLog(path);
    assert.equal(line?.['tokens'], 12);
    assert.equal(line?.['key'], 'visible');
  });

  it('never lets a token through, wherever it stands', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{43}$/);
    const property = fc.property(secret, fc.json(), fc.string(), fc.nat(5_000), (core, json, around, padding) => {
      fs.rmSync(path, { force: true });
      const token = `abt_${core}`;
      const log = openLog(path);
      log.info('event', {
        text: around + token + around,
        late: `${'x'.repeat(padding)} ${token}`,
        nested: [{ [token]: token, json: JSON.parse(json), error: new Error(token, { cause: token }) }],
      });
      log.close();
      const text = fs.readFileSync(path, 'utf8');
      assert.ok(!text.includes(core.slice(0, 12)) && !text.includes(core.slice(-12)));
    });
    fc.assert(property, { numRuns: 150 });
  });
});
