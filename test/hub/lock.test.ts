import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { acquireHubLock } from '../../src/hub/lock.ts';

/** Takes and releases the lock when told to, so that many processes can be made to try at the same instant. */
class Contender {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly lines: AsyncIterator<string>;

  constructor(path: string) {
    const lock = new URL('../../src/hub/lock.ts', import.meta.url).href;
    const script = `
      import { createInterface } from 'node:readline';
      import { acquireHubLock } from ${JSON.stringify(lock)};
      let lock;
      console.log('ready');
      for await (const line of createInterface({ input: process.stdin })) {
        if (line === 'try') { lock = acquireHubLock(${JSON.stringify(path)}); console.log(lock ? 'won' : 'lost'); }
        else { lock?.release(); lock = undefined; console.log('released'); }
      }`;
    this.process = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async hears(): Promise<string> {
    return String((await this.lines.next()).value);
  }

  tell(what: 'try' | 'release'): Promise<string> {
    this.process.stdin.write(`${what}\n`);
    return this.hears();
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }
}

describe('the hub lock', () => {
  let folder: string;
  let path: string;
  let contenders: Contender[] = [];

  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'agent-bus-lock-'));
    path = join(folder, 'hub.lock');
  });

  afterEach(async () => {
    await Promise.all(contenders.map((contender) => contender.kill()));
    contenders = [];
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const start = async (count: number): Promise<Contender[]> => {
    contenders = Array.from({ length: count }, () => new Contender(path));
    for (const contender of contenders) assert.equal(await contender.hears(), 'ready');
    return contenders;
  };

  it('excludes a second holder in this process and frees itself on release', () => {
    const first = acquireHubLock(path);
    assert.ok(first);
    assert.ok(first.intact());
    assert.equal(acquireHubLock(path), undefined);
    first.release();
    first.release();
    assert.equal(first.intact(), false);
    const second = acquireHubLock(path);
    assert.ok(second);
    second.release();
  });

  it('leaves one empty file, closed to others', () => {
    const lock = acquireHubLock(path);
    assert.deepEqual(fs.readdirSync(folder), ['hub.lock']);
    assert.equal(fs.statSync(path).size, 0);
    if (process.platform !== 'win32') assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    lock?.release();
    assert.deepEqual(fs.readdirSync(folder), ['hub.lock']);
  });

  it('excludes another process until that one is killed', async () => {
    const [other] = (await start(1)) as [Contender];
    assert.equal(await other.tell('try'), 'won');
    assert.equal(acquireHubLock(path), undefined);
    await other.kill();
    const lock = acquireHubLock(path);
    assert.ok(lock, 'a killed holder leaves nothing behind');
    assert.deepEqual(fs.readdirSync(folder), ['hub.lock']);
    lock.release();
  });

  it('notices that its file was removed', () => {
    const lock = acquireHubLock(path);
    fs.rmSync(path);
    assert.equal(lock?.intact(), false);
    fs.writeFileSync(path, '');
    assert.equal(lock?.intact(), false);
    lock?.release();
  });

  it('refuses a link in its place', { skip: process.platform === 'win32' }, () => {
    fs.writeFileSync(join(folder, 'elsewhere'), '');
    fs.symlinkSync(join(folder, 'elsewhere'), path);
    assert.throws(() => acquireHubLock(path), { code: 'unsafe-folder' });
  });

  it('survives rubbish in the file, also while it is held', async () => {
    fs.writeFileSync(path, 'rubbish '.repeat(2_000));
    const lock = acquireHubLock(path);
    assert.ok(lock);
    const [other] = (await start(1)) as [Contender];
    // From the other process: writing here would close a descriptor and so drop our own lock.
    const write = `require('fs').writeFileSync(${JSON.stringify(path)}, 'rubbish '.repeat(2000))`;
    await once(spawn(process.execPath, ['-e', write]), 'exit');
    assert.equal(await other.tell('try'), 'lost');
    assert.ok(lock.intact());
    lock.release();
    assert.equal(await other.tell('try'), 'won');
  });

  it('goes to exactly one of 20 processes, round after round, even if the file is damaged', async () => {
    const all = await start(20);
    for (let round = 0; round < 12; round++) {
      if (round % 3 === 1) fs.writeFileSync(path, 'rubbish '.repeat(2_000));
      if (round % 3 === 2) fs.rmSync(path);
      const outcomes = await Promise.all(all.map((contender) => contender.tell('try')));
      assert.equal(outcomes.filter((outcome) => outcome === 'won').length, 1, `round ${round}: ${outcomes.join(' ')}`);
      await Promise.all(all.map((contender) => contender.tell('release')));
    }
  });
});
