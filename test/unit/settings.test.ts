import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { BusError } from '../../src/core/errors.ts';
import { defaultTunables } from '../../src/core/limits.ts';
import { defaultSettings, loadSettings } from '../../src/hub/settings.ts';

describe('settings.json', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-settings-'));
    path = join(folder, 'settings.json');
  });

  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  const load = (text: string) => {
    fs.writeFileSync(path, text, { mode: 0o600 });
    return loadSettings(path);
  };

  const refusal = (text: string): BusError => {
    try {
      load(text);
    } catch (error) {
      assert.ok(error instanceof BusError, String(error));
      assert.equal(error.code, 'bad-settings');
      assert.ok(error.message.includes(path) && error.next.length > 0);
      return error;
    }
    return assert.fail(`accepted: ${text}`);
  };

  it('has defaults when there is no file or nothing in it', () => {
    const expected = {
      idleMinutes: 15,
      port: 0,
      retention: { days: 180, megabytes: 2_048 },
      limits: defaultTunables,
      reach: { quietMinutes: 30, staleSeconds: 180, proofSeconds: 30, unreachableMinutes: 10, tellHours: 24 },
      a2a: {
        pollSeconds: 1,
        pollAtMostSeconds: 30,
        healthMinutes: 10,
        unreachableHours: 24,
        allowLinkLocal: false,
      },
      logMegabytes: 2,
    };
    assert.deepEqual(loadSettings(path), expected);
    assert.deepEqual(load(' \n'), expected);
    assert.deepEqual(load('{}'), expected);
    assert.deepEqual(defaultSettings, expected);
  });

  it('keeps the defaults of what is left out, at every level', () => {
    const settings = load('\uFEFF{"idleMinutes": 0, "retention": {"days": 0}, "limits": {"hops": 5}}');
    assert.equal(settings.idleMinutes, 0);
    assert.deepEqual(settings.retention, { days: 0, megabytes: 2_048 });
    assert.deepEqual(settings.limits, { ...defaultTunables, hops: 5 });
  });

  it('hands out a copy each time', () => {
    load('{}').limits.hops = 1;
    assert.equal(load('{}').limits.hops, defaultTunables.hops);
  });

  it('names an unknown setting and the known ones', () => {
    const top = refusal('{"idleMinuts": 5}');
    assert.match(top.message, /"idleMinuts"/);
    assert.match(top.next, /idleMinutes/);
    const nested = refusal('{"limits": {"hop": 5}}');
    assert.match(nested.message, /"limits\.hop"/);
    assert.match(nested.next, /hops/);
    refusal('{"__proto__": {"port": 1}}');
  });

  it('names a setting with a wrong value', () => {
    assert.match(refusal('{"port": "80"}').message, /"port"/);
    assert.match(refusal('{"port": 70000}').message, /"port"/);
    assert.match(refusal('{"retention": {"days": -1}}').message, /"retention\.days"/);
    assert.match(refusal('{"limits": {"hops": 0}}').message, /"limits\.hops"/);
    refusal('{"limits": null}');
    refusal('[]');
    refusal('null');
  });

  it('says where JSON is broken', () => {
    assert.match(refusal('{"port": 1,}').message, /JSON/);
  });
});
