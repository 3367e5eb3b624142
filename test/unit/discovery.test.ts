import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { BusError } from '../../src/core/errors.ts';
import { readRecord, removeRecord, writeRecord } from '../../src/hub/discovery.ts';
import type { HubRecord } from '../../src/hub/discovery.ts';
import { busHome } from '../../src/hub/home.ts';

describe('the data folder', () => {
  it('is where each platform keeps the data of a user', () => {
    assert.equal(busHome({ HOME: '/home/ann' }, 'linux').folder, '/home/ann/.local/share/agent-bus');
    assert.equal(busHome({ HOME: '/home/ann', XDG_DATA_HOME: '/data' }, 'linux').folder, '/data/agent-bus');
    assert.equal(
      busHome({ HOME: '/home/ann', XDG_DATA_HOME: 'data' }, 'linux').folder,
      '/home/ann/.local/share/agent-bus',
    );
    assert.equal(
      busHome({ HOME: '/Users/ann', XDG_DATA_HOME: '/x' }, 'darwin').folder,
      '/Users/ann/Library/Application Support/agent-bus',
    );
    const local = 'C:\\Users\\ann\\AppData\\Local';
    assert.equal(busHome({ LOCALAPPDATA: local }, 'win32').folder, `${local}\\agent-bus`);
    assert.equal(busHome({ USERPROFILE: 'C:\\Users\\ann' }, 'win32').folder, `${local}\\agent-bus`);
  });

  it('can be chosen, by a full path only', () => {
    const home = busHome({ HOME: '/home/ann', AGENT_BUS_HOME: '/tmp/bus/' }, 'linux');
    assert.equal(home.database, '/tmp/bus/bus.db');
    assert.equal(home.record, '/tmp/bus/hub.json');
    assert.equal(busHome({ AGENT_BUS_HOME: 'D:\\bus' }, 'win32').lock, 'D:\\bus\\hub.lock');
    assert.equal(
      busHome({ HOME: '/home/ann', AGENT_BUS_HOME: '' }, 'linux').folder,
      '/home/ann/.local/share/agent-bus',
    );
    for (const [chosen, platform] of [
      ['bus', 'linux'],
      ['./bus', 'darwin'],
      ['~/bus', 'linux'],
      ['\\bus', 'win32'],
      ['D:bus', 'win32'],
    ] as const) {
      assert.throws(() => busHome({ HOME: '/home/ann', AGENT_BUS_HOME: chosen }, platform), { code: 'bad-settings' });
    }
  });
});

describe('the discovery record', () => {
  let folder: string;
  let path: string;
  const record: HubRecord = {
    pid: 4711,
    version: '0.1.0',
    protocol: 1,
    mcpUrl: 'http://127.0.0.1:40123/mcp',
    rpcPort: 40124,
    token: 'abo_secret',
    startedAt: '2026-11-16T08:00:00.000Z',
    nonce: 'n1',
  };

  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-record-'));
    path = join(folder, 'hub.json');
  });

  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('comes back as it was written, closed to others, with nothing beside it', () => {
    assert.deepEqual(readRecord(path), { record: undefined, reason: 'missing' });
    writeRecord(path, record);
    assert.deepEqual(readRecord(path), { record });
    writeRecord(path, { ...record, nonce: 'n2' });
    assert.equal(readRecord(path).record?.nonce, 'n2');
    assert.deepEqual(fs.readdirSync(folder), ['hub.json']);
    if (process.platform !== 'win32') assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  });

  it('is removed by its own hub only', () => {
    writeRecord(path, record);
    assert.equal(removeRecord(path, 'other'), false);
    assert.deepEqual(readRecord(path), { record });
    assert.equal(removeRecord(path, 'n1'), true);
    assert.equal(fs.existsSync(path), false);
    assert.equal(removeRecord(path, 'n1'), false);
  });

  it('can be read by an older client: unknown fields and a newer protocol are no error', () => {
    fs.writeFileSync(path, JSON.stringify({ ...record, protocol: 2, more: true }), { mode: 0o600 });
    assert.deepEqual(readRecord(path), { record: { ...record, protocol: 2 } });
  });

  it('never stops a start when torn or wrong, at whatever byte', () => {
    writeRecord(path, record);
    const whole = fs.readFileSync(path, 'utf8').trimEnd();
    for (let length = 0; length < whole.length; length++) {
      fs.writeFileSync(path, whole.slice(0, length));
      assert.deepEqual(readRecord(path), { record: undefined, reason: 'unreadable' }, `${length} characters`);
    }
    const wrong: unknown[] = [
      null,
      [],
      'x',
      { ...record, pid: 0 },
      { ...record, pid: '1' },
      { ...record, rpcPort: 65_536 },
      { ...record, rpcPort: 1.5 },
      { ...record, token: '' },
      { ...record, mcpUrl: 'file:///etc/passwd' },
      { ...record, mcpUrl: 'nonsense' },
      { ...record, nonce: undefined },
      { ...record, token: 'x'.repeat(20_000) },
    ];
    for (const value of wrong) {
      fs.writeFileSync(path, JSON.stringify(value));
      assert.deepEqual(readRecord(path), { record: undefined, reason: 'unreadable' }, JSON.stringify(value));
    }
  });

  it('is refused when it is a link', { skip: process.platform === 'win32' }, () => {
    writeRecord(join(folder, 'other.json'), record);
    fs.symlinkSync(join(folder, 'other.json'), path);
    assert.throws(
      () => readRecord(path),
      (error) => error instanceof BusError && error.code === 'unsafe-folder',
    );
    writeRecord(path, record);
    assert.equal(fs.lstatSync(path).isSymbolicLink(), false, 'writing replaces the link');
  });
});
