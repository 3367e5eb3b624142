import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import { scanWal } from '../../src/storage/walScan.ts';
import { HubBundle } from '../support/hubBundle.ts';
import { HubProcess, hubScript } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';
import { recorded, recording, withoutStrace, type DiskCall } from '../support/strace.ts';

// The hub runs under strace, which writes down every write and every sync of the database and its log. From that the
// files are built anew as a power cut would have left them at the moment of each acknowledgement: what was synced is
// there; of what was written since, nothing, or any part of it. Every message acknowledged by then has to be in them.

interface Acknowledged {
  id: string;
  /** Seconds, as the wall clock says; rounded up, so the cut comes no earlier than the answer. */
  at: number;
}

interface Run {
  acknowledged: Acknowledged[];
  calls: DiskCall[];
  /** The names that the recording knows the files by. */
  files: string[];
}

let folder: string;
before(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-power-'));
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Sends until the log has been played into the database at least once, so that all of its states are in the recording. */
async function record(script: string): Promise<Run> {
  const output = fs.mkdtempSync(join(folder, 'trace-'));
  const data = join(output, 'data');
  fs.mkdirSync(data, { mode: 0o700 });
  const database = join(data, 'bus.db');
  const files = [database, `${database}-wal`];
  const hub = new HubProcess({ folder: data, script, under: recording(join(output, 'calls'), files) });
  const acknowledged: Acknowledged[] = [];
  try {
    await hub.start();
    const [ann, bob] = await hub.agents(['ann', 'bob']);
    const send = async (text: string): Promise<void> => {
      const { id } = (await ann.call('send', { to: bob.agent, text })).data;
      acknowledged.push({ id, at: (Date.now() + 1) / 1000 });
    };
    for (let i = 0; i < 40; i++) await send(`small ${i}`);
    for (let i = 0; i < 60; i++) await send(`large ${i} ${'x'.repeat(100_000)}`);
    for (let i = 0; i < 20; i++) await Promise.all([send(`together ${i}`), send(`and ${i}`), send(`too ${i}`)]);
    await hub.kill();
  } finally {
    await hub.dispose();
  }
  const calls = recorded(join(output, 'calls'));
  fs.rmSync(data, { recursive: true, force: true });
  return { acknowledged, calls, files };
}

/** The bytes of a file, with room to grow. */
class Content {
  private room: Buffer;
  private size: number;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.room = Buffer.from(bytes);
    this.size = bytes.length;
  }

  get bytes(): Buffer {
    return this.room.subarray(0, this.size);
  }

  write(offset: number, bytes: Buffer): void {
    this.reserve(offset + bytes.length);
    bytes.copy(this.room, offset);
  }

  truncate(size: number): void {
    this.reserve(size);
    this.room.fill(0, size);
    this.size = size;
  }

  apply(call: DiskCall): void {
    if (call.kind === 'write') this.write(call.offset, call.bytes);
    if (call.kind === 'truncate') this.truncate(call.size);
  }

  private reserve(size: number): void {
    if (size > this.room.length) this.room = Buffer.concat([this.room], 2 * size);
    this.size = Math.max(this.size, size);
  }
}

/** One file of which a part is on the disk and a part is on its way there. */
class Disk {
  private readonly synced = new Content();
  private pending: DiskCall[] = [];
  syncs = 0;

  take(call: DiskCall): void {
    if (call.kind !== 'sync') {
      this.pending.push(call);
      return;
    }
    this.syncs++;
    for (const earlier of this.pending) if (earlier.at <= call.began) this.synced.apply(earlier);
    this.pending = this.pending.filter((earlier) => earlier.at > call.began);
  }

  /** What is found after a power cut; `survives` says of each later write, sector by sector, whether it got there. */
  afterPowerCut(survives: () => boolean): Buffer {
    const found = new Content(this.synced.bytes);
    for (const call of this.pending) {
      if (call.kind === 'truncate' && survives()) found.truncate(call.size);
      if (call.kind !== 'write') continue;
      for (let start = 0; start < call.bytes.length; start += 512) {
        if (survives()) found.write(call.offset + start, call.bytes.subarray(start, start + 512));
      }
    }
    return found.bytes;
  }
}

/** Cuts the power at every acknowledgement, or at some; says which messages were gone, and what would alarm the next start. */
function cutThePower(
  { acknowledged, calls, files }: Run,
  random: () => number,
  every = 1,
): { lost: string[]; alarms: string[]; checkpoints: number } {
  const lost: string[] = [];
  const alarms: string[] = [];
  const disks = files.map(() => new Disk());
  let next = 0;
  for (const [i, { at }] of acknowledged.entries()) {
    for (let call = calls[next]; call !== undefined && call.at <= at; call = calls[++next]) {
      disks[files.indexOf(call.path)]?.take(call);
    }
    if (i % every !== 0) continue;
    const outcomes: [string, () => boolean][] = [
      ['nothing since the last sync', () => false],
      ['parts of it', () => random() < 0.5],
    ];
    for (const [what, survives] of outcomes) {
      const place = fs.mkdtempSync(join(folder, 'cut-'));
      const path = join(place, 'bus.db');
      fs.writeFileSync(path, disks[0]!.afterPowerCut(survives));
      fs.writeFileSync(`${path}-wal`, disks[1]!.afterPowerCut(survives));
      const damage = scanWal(`${path}-wal`).damage;
      if (damage) alarms.push(`${what} at ${acknowledged[i]?.id}: ${JSON.stringify(damage)}`);
      const there = idsIn(path);
      for (const { id } of acknowledged.slice(0, i + 1))
        if (!there.has(id)) lost.push(`${id} with ${what} at ${acknowledged[i]?.id}`);
      fs.rmSync(place, { recursive: true, force: true });
    }
  }
  return { lost, alarms, checkpoints: disks[0]!.syncs };
}

function idsIn(path: string): Set<string> {
  let store: SqliteStore;
  try {
    store = new SqliteStore(path);
  } catch {
    return new Set();
  }
  try {
    const messages = store.messagesAfter(0, 10_000);
    return new Set(messages.map((message) => `m${message.seq.toString(36)}`));
  } finally {
    store.close();
  }
}

describe('a power cut', { skip: withoutStrace() }, () => {
  test('loses nothing that was acknowledged, whatever became of the rest', async () => {
    const random = seededRandom(testSeed());
    const run = await record(hubScript);
    assert.equal(run.acknowledged.length, 160);
    const { lost, alarms, checkpoints } = cutThePower(run, random);
    assert.deepEqual(lost.slice(0, 5), []);
    assert.deepEqual(alarms.slice(0, 5), [], 'the next start would refuse a sound log');
    assert.ok(checkpoints > 2, 'the log was never played into the database');
  });

  test('is found out where the log is not synced at every commit', async () => {
    const careless = new HubBundle('0.1.1');
    try {
      const text = fs.readFileSync(careless.script, 'utf8');
      const changed = text.replace(/PRAGMA synchronous ?= ?FULL/g, 'PRAGMA synchronous = NORMAL');
      assert.notEqual(changed, text);
      fs.writeFileSync(careless.script, changed);
      const run = await record(careless.script);
      const { lost } = cutThePower(run, seededRandom(1), 10);
      assert.ok(lost.length > 0, 'the check has no teeth');
    } finally {
      careless.dispose();
    }
  });
});
