import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readPrivateFile } from '../../src/hub/privateFile.ts';
import {
  assertPrivateFile,
  ensurePrivateFolder,
  removeStaleTemporaries,
  writePrivateFileAtomic,
} from '../../src/hub/privateFolder.ts';

const onWindows = process.platform === 'win32';
const notRoot = process.getuid?.() !== 0 && 'only root can give a file to another user';
const stranger = 54_321;

describe('the private folder', { skip: onWindows && 'POSIX permissions' }, () => {
  let base: string;
  let folder: string;
  let umask: number;

  beforeEach(() => {
    umask = process.umask(0o022);
    base = fs.mkdtempSync(join(tmpdir(), 'agent-bus-private-'));
    folder = join(base, 'deep', 'bus');
  });

  afterEach(() => {
    process.umask(umask);
    fs.rmSync(base, { recursive: true, force: true });
  });

  const mode = (path: string) => fs.lstatSync(path).mode & 0o777;

  it('is created 0700 whatever the umask, and found again', () => {
    process.umask(0);
    assert.deepEqual(ensurePrivateFolder(folder), { created: true, tightened: false });
    assert.equal(mode(folder), 0o700);
    assert.deepEqual(ensurePrivateFolder(folder), { created: false, tightened: false });
  });

  it('is closed if it is ours but open to others', () => {
    fs.mkdirSync(folder, { recursive: true });
    fs.chmodSync(folder, 0o777);
    assert.deepEqual(ensurePrivateFolder(folder), { created: false, tightened: true });
    assert.equal(mode(folder), 0o700);
  });

  it('is refused if it is a link, even to a good folder, or no folder', () => {
    const real = join(base, 'real');
    fs.mkdirSync(real, { mode: 0o700 });
    fs.symlinkSync(real, join(base, 'link'));
    fs.symlinkSync(join(base, 'nowhere'), join(base, 'dangling'));
    fs.writeFileSync(join(base, 'file'), '');
    for (const name of ['link', 'dangling', 'file']) {
      assert.throws(() => ensurePrivateFolder(join(base, name)), { code: 'unsafe-folder' }, name);
    }
  });

  it('is refused if somebody else made it', { skip: notRoot }, () => {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.chownSync(folder, stranger, stranger);
    assert.throws(() => ensurePrivateFolder(folder), { code: 'unsafe-folder', message: /another user/ });
    assert.equal(mode(folder), 0o700, 'and left as it was');
  });

  it('keeps another user out', { skip: notRoot }, () => {
    // The way there is open, so that it is the folder itself that refuses.
    fs.chmodSync(base, 0o755);
    ensurePrivateFolder(join(base, 'bus'));
    writePrivateFileAtomic(join(base, 'bus', 'hub.json'), 'secret');
    const asStranger = (script: string) =>
      spawnSync('/bin/sh', ['-c', script], { uid: stranger, gid: stranger, encoding: 'utf8' });
    const bus = join(base, 'bus');
    assert.equal(asStranger(`ls "${base}"`).status, 0);
    for (const script of [`ls "${bus}"`, `cat "${bus}/hub.json"`, `touch "${bus}/x"`, `mv "${bus}" "${bus}2"`]) {
      assert.notEqual(asStranger(script).status, 0, script);
    }
  });
});

describe('private files', { skip: onWindows && 'POSIX permissions' }, () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-private-'));
    path = join(folder, 'file');
  });

  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('are written whole, 0600, and leave nothing beside them', () => {
    for (const text of ['first', '', 'ünïcode 🚌'.repeat(1_000)]) {
      writePrivateFileAtomic(path, text);
      assert.equal(readPrivateFile(path, 100_000), text);
      assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    }
    assert.deepEqual(fs.readdirSync(folder), ['file']);
    fs.mkdirSync(join(folder, 'taken'));
    assert.throws(() => writePrivateFileAtomic(join(folder, 'taken'), 'text'));
    assert.deepEqual(fs.readdirSync(folder).sort(), ['file', 'taken']);
  });

  it('are bounded, and may be missing', () => {
    assert.equal(readPrivateFile(path, 10), undefined);
    fs.writeFileSync(path, '0123456789', { mode: 0o600 });
    assert.equal(readPrivateFile(path, 10), '0123456789');
    assert.throws(() => readPrivateFile(path, 9), { code: 'bad-data' });
  });

  it('are not read through links, from pipes or folders, nor if others can change them', () => {
    fs.writeFileSync(join(folder, 'real'), 'text', { mode: 0o600 });
    fs.symlinkSync(join(folder, 'real'), path);
    assert.throws(() => readPrivateFile(path, 10), { code: 'unsafe-folder' });
    assert.throws(() => assertPrivateFile(path), { code: 'unsafe-folder' });
    assert.throws(() => assertPrivateFile(path, { create: true }), { code: 'unsafe-folder' });
    fs.rmSync(path);
    assert.equal(spawnSync('mkfifo', [path]).status, 0);
    assert.throws(() => readPrivateFile(path, 10), { code: 'unsafe-folder' });
    assert.throws(() => readPrivateFile(folder, 10), { code: 'unsafe-folder' });
    fs.chmodSync(join(folder, 'real'), 0o666);
    assert.throws(() => readPrivateFile(join(folder, 'real'), 10), { code: 'unsafe-folder' });
  });

  it('are not read if somebody else put them there', { skip: notRoot }, () => {
    fs.writeFileSync(path, 'text', { mode: 0o600 });
    fs.chownSync(path, stranger, stranger);
    assert.throws(() => readPrivateFile(path, 10), { code: 'unsafe-folder', message: /another user/ });
    assert.throws(() => assertPrivateFile(path), { code: 'unsafe-folder' });
    writePrivateFileAtomic(path, 'ours');
    assert.equal(readPrivateFile(path, 10), 'ours');
  });

  it('replace a link instead of writing through it', () => {
    fs.writeFileSync(join(folder, 'precious'), 'precious');
    fs.symlinkSync(join(folder, 'precious'), path);
    writePrivateFileAtomic(path, 'ours');
    assert.equal(fs.readFileSync(join(folder, 'precious'), 'utf8'), 'precious');
    assert.equal(readPrivateFile(path, 10), 'ours');
  });

  it('are made private before SQLite opens them', () => {
    assertPrivateFile(path);
    assert.equal(fs.existsSync(path), false);
    assertPrivateFile(path, { create: true });
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    fs.chmodSync(path, 0o644);
    assertPrivateFile(path);
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  });

  it('that a killed writer left half done are cleared away, and nothing else', () => {
    const stale = `${path}.${'0a'.repeat(9)}.tmp`;
    const fresh = `${path}.${'0b'.repeat(9)}.tmp`;
    for (const name of [stale, fresh, join(folder, 'bus.db'), join(folder, 'notes.tmp')]) fs.writeFileSync(name, '');
    const old = new Date(Date.now() - 3_600_000);
    for (const name of [stale, join(folder, 'bus.db'), join(folder, 'notes.tmp')]) fs.utimesSync(name, old, old);
    removeStaleTemporaries(folder);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['bus.db', `file.${'0b'.repeat(9)}.tmp`, 'notes.tmp'].sort());
  });
});

describe('the private folder on Windows', () => {
  let base: string;

  beforeEach(() => {
    base = fs.mkdtempSync(join(tmpdir(), 'agent-bus-private-'));
  });

  afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

  const attempt = (folder: string, profile: string, works: boolean) => {
    const calls: [string, string[]][] = [];
    const env = { USERPROFILE: profile, USERNAME: 'ann', USERDOMAIN: 'PC', SystemRoot: 'C:\\Windows' };
    const report = ensurePrivateFolder(folder, {
      platform: 'win32',
      env,
      run: (program, args) => calls.push([program, args]) > 0 && works,
    });
    return { report, calls };
  };

  it('relies on the profile, and gets its own access list outside of it, once', () => {
    const folder = join(base, 'bus');
    const inside = attempt(folder, base, true);
    assert.deepEqual(inside, { report: { created: true, tightened: false }, calls: [] });
    fs.rmdirSync(folder);
    const outside = attempt(folder, join(base, 'other'), true);
    assert.deepEqual(outside.report, { created: true, tightened: true });
    const grant = ['/inheritance:r', '/grant:r', 'PC\\ann:(OI)(CI)F'];
    assert.deepEqual(outside.calls, [['C:\\Windows\\System32\\icacls.exe', [folder, ...grant]]]);
    fs.writeFileSync(join(folder, 'bus.db'), '');
    assert.deepEqual(attempt(folder, join(base, 'other'), true).calls, []);
  });

  it('says so if that fails', () => {
    const { report } = attempt(join(base, 'bus'), join(base, 'other'), false);
    assert.match(report.note ?? '', /other users/);
  });
});
