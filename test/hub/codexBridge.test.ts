/** The bridge that Codex starts, as a carrier at the hub: the server of Codex is scripted, all else is real. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { Cli, cliScript } from '../support/cliProcess.ts';
import { pause, until } from '../support/hubProcess.ts';
import { asking, idle, ScriptedCodex, working } from '../support/scriptedCodex.ts';

const skip = process.platform === 'win32' ? 'Codex has no control socket there that Node can open' : false;
const thread = '01a1e634-1864-7483-98ea-c6f7e9a282c7';
const agent = 'shop-codex';

class Room {
  readonly cli: Cli;
  readonly codex: ScriptedCodex;
  readonly workspace: string;
  private readonly folder: string;
  private readonly bridges: ChildProcess[] = [];
  ann!: BusClient;

  private constructor(cli: Cli, codex: ScriptedCodex, folder: string) {
    this.cli = cli;
    this.codex = codex;
    this.folder = folder;
    this.workspace = join(folder, 'shop');
  }

  static async open(t: TestContext): Promise<Room> {
    const cli = new Cli(t);
    const folder = mkdtempSync(join(realpathSync(tmpdir()), 'abus-'));
    const room = new Room(cli, await ScriptedCodex.listen(join(folder, '.codex')), folder);
    t.after(async () => {
      for (const bridge of room.bridges) bridge.kill('SIGKILL');
      await room.codex.close();
      rmSync(folder, { recursive: true, force: true });
    });
    mkdirSync(room.workspace);
    await cli.folder.start();
    await room.meet();
    return room;
  }

  async meet(): Promise<void> {
    const attach = { workspace: this.workspace, product: 'test', name: 'ann' };
    this.ann = await this.cli.folder.client({ attach, reconnect: true });
  }

  bridge(): ChildProcess {
    const env = this.cli.environment({ HOME: this.folder, CODEX_HOME: join(this.folder, '.codex') });
    const args = [cliScript, 'mcp', '--product', 'codex'];
    const bridge = spawn(process.execPath, args, { env, cwd: this.workspace, stdio: ['pipe', 'ignore', 'inherit'] });
    this.bridges.push(bridge);
    return bridge;
  }

  /** It is on the bus, and somebody can wake it. */
  async reachable(): Promise<void> {
    await until('it can be woken', async () => (await this.hears())?.includes('control socket'));
  }

  async hears(): Promise<string | undefined> {
    const { data } = await this.ann.call('agents', {});
    const found = data.agents.find(({ name }) => name === agent);
    return found && JSON.stringify(found);
  }

  async ask(text: string): Promise<string> {
    return (await this.ann.call('send', { to: [agent], text, kind: 'request' })).data.id;
  }

  async step(id: string): Promise<{ step: string; note?: string | undefined }> {
    const { data } = await this.ann.call('status', { id });
    const [recipient] = data.recipients;
    return { step: recipient?.step ?? '', note: recipient?.steps.at(-1)?.note };
  }

  async shown(id: string): Promise<void> {
    await until('it was shown', async () => (await this.step(id)).step === 'shown');
  }
}

describe('the bridge of Codex', { skip }, () => {
  test('wakes an idle session without any hook, and proves it; the hub hears when it is through', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace);
    room.bridge();
    await room.reachable();
    const first = await room.ask('Are you there?');
    await until('a turn', () => room.codex.prompts(thread).length === 1);
    assert.match(room.codex.prompts(thread)[0] ?? '', /Are you there\?/);
    await room.shown(first);
    room.codex.become(thread, idle);
    const second = await room.ask('And now?');
    await until('another turn', () => room.codex.prompts(thread).length === 2);
    await room.shown(second);
  });

  test('begins no turn beside another one, nor while the person is asked, and does when that is over', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace, { status: asking });
    room.bridge();
    await until('it is known to ask', async () => (await room.hears())?.includes('"waiting"'));
    const id = await room.ask('Are you there?');
    room.codex.become(thread, working);
    room.codex.become(thread, asking);
    await until('it is known to ask', async () => (await room.hears())?.includes('"waiting"'));
    assert.deepEqual(room.codex.prompts(thread), []);
    room.codex.become(thread, idle);
    await room.shown(id);
    assert.equal(room.codex.prompts(thread).length, 1);
  });

  test('has a look at the session itself before it begins a turn', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace);
    room.bridge();
    await room.reachable();
    // Nobody is told of it: the hub takes it for idle.
    const quiet = room.codex.threads.get(thread);
    assert.ok(quiet);
    quiet.status = asking;
    const id = await room.ask('Are you there?');
    await until('it is held', async () => (await room.step(id)).note?.includes('asking its person'));
    assert.deepEqual(room.codex.prompts(thread), []);
    room.codex.become(thread, idle);
    await until('a turn', () => room.codex.prompts(thread).length === 1);
  });

  test('tells of no delivery that Codex refuses', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace);
    room.codex.instead = ({ method }) =>
      method === 'turn/start' ? { error: { code: -32000, message: 'not today' } } : undefined;
    room.bridge();
    await room.reachable();
    const id = await room.ask('Are you there?');
    await until('it is held', async () => (await room.step(id)).note?.includes('not today'));
    assert.equal((await room.step(id)).step, 'held');
  });

  test('finds its way back to Codex and to the hub, and is gone when it is killed', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace);
    const bridge = room.bridge();
    await room.reachable();
    room.codex.cut();
    await room.cli.folder.kill();
    await room.cli.folder.start();
    await until('it is back', () =>
      room
        .reachable()
        .then(() => true)
        .catch(() => false),
    );
    const id = await room.ask('Are you there?');
    await room.shown(id);
    bridge.kill('SIGKILL');
    await until('nobody can wake it', async () => !(await room.hears())?.includes('control socket'));
  });

  test('is nobody’s but that of sessions of people in its folder, and tells of their end', async (t) => {
    const room = await Room.open(t);
    room.codex.thread('01a1e634-0000-7483-98ea-000000000001', '/elsewhere');
    room.codex.thread('01a1e634-0000-7483-98ea-000000000002', room.workspace, { ephemeral: true });
    room.codex.thread('01a1e634-0000-7483-98ea-000000000003', room.workspace, { preview: '' });
    room.codex.thread(thread, room.workspace);
    room.bridge();
    await room.reachable();
    const { data } = await room.ann.call('agents', {});
    assert.deepEqual(
      data.agents.map(({ name }) => name).filter((name) => name.includes('codex')),
      [agent],
    );
    room.codex.threads.delete(thread);
    room.codex.become(thread, { type: 'notLoaded' });
    await until('it is gone', async () => (await room.hears())?.includes('"offline"'));
  });

  test('tells of the end of a session that ended while there was no hub', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace);
    room.bridge();
    await room.reachable();
    // What has taken a message is on disk.
    await room.shown(await room.ask('Are you there?'));
    await room.cli.folder.kill();
    room.codex.threads.delete(thread);
    room.codex.become(thread, { type: 'notLoaded' });
    await pause(500);
    const lists = (): number => room.codex.asked.filter((method) => method === 'thread/loaded/list').length;
    const before = lists();
    await room.cli.folder.start();
    await until('the bridge is back and looks around', () => lists() > before);
    await pause(1_000);
    await until('it is gone', async () => (await room.hears())?.includes('"offline"'));
  });

  test('tells of the end of a session that ends while the hub hears of it for the first time', async (t) => {
    const room = await Room.open(t);
    room.codex.thread(thread, room.workspace);
    let reads = 0;
    room.codex.instead = ({ method }) => {
      // The first is for the list of sessions, the second for whether this one is to be an agent.
      if (method === 'thread/read' && ++reads === 2) room.codex.become(thread, { type: 'notLoaded' });
      return undefined;
    };
    room.bridge();
    await until('the hub has heard of it', async () => reads >= 2 && (await room.hears()) !== undefined);
    // For a moment it may be away because nothing was told of it yet.
    await pause(1_000);
    await until('it is gone', async () => (await room.hears())?.includes('"offline"'));
  });
});
