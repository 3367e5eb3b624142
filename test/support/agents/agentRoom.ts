/** A home folder to throw away, with a hub in it, a workspace and a scripted model, for one agent product; `beside` has room for more. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { ensureAgents } from '../../../scripts/agents.mjs';
import { cliScript } from '../cliProcess.ts';
import { HubProcess, hubsOf, StartFailed, until } from '../hubProcess.ts';
import { AgentModel } from './agentModel.ts';
import { AgentRun, type Launch } from './agentRun.ts';
import { AgentTerminal } from './agentTerminal.ts';

export class AgentRoom {
  readonly folder: string;
  readonly home: string;
  readonly workspace: string;
  /** Products keep sockets there. */
  private readonly temporary: string;
  /** The folder of the products' programs. */
  readonly bin: string;
  readonly hub: HubProcess;
  readonly model: AgentModel;
  /** Runs our command line, from wherever a product starts it. */
  readonly agentBus: string;
  private readonly node: string;
  private readonly open: { end(): Promise<void> }[] = [];

  private constructor(parts: Parts, model: AgentModel, workspace: string) {
    this.folder = parts.folder;
    this.bin = parts.bin;
    this.node = parts.node;
    this.home = parts.home;
    this.temporary = parts.temporary;
    this.hub = parts.hub;
    this.agentBus = parts.agentBus;
    this.model = model;
    this.workspace = join(parts.folder, workspace);
    fs.mkdirSync(this.workspace, { recursive: true });
  }

  static async open(t: Pick<TestContext, 'after'>): Promise<AgentRoom> {
    const room = new AgentRoom(furnished(await ensureAgents()), await AgentModel.start(), 'shop-api');
    // Terminals outlive us: a run that is stopped in the middle takes them along.
    const stopped = () => process.exit(143);
    const ending = () => room.killAll();
    process.once('SIGTERM', stopped).once('exit', ending);
    t.after(async () => {
      await room.close();
      process.off('SIGTERM', stopped).off('exit', ending);
    });
    await room.hub.start();
    return room;
  }

  /** The same home and bus for another product, with a model of its own; in this workspace, or in another one. */
  async beside(workspace?: string): Promise<AgentRoom> {
    const { folder, bin, node, home, temporary, hub, agentBus } = this;
    const model = await AgentModel.start();
    this.open.push({ end: () => model.close() });
    const parts = { folder, bin, node, home, temporary, hub, agentBus };
    const room = new AgentRoom(parts, model, workspace ?? basename(this.workspace));
    this.open.push({ end: () => room.endAll() });
    return room;
  }

  /** What a product and all that it starts may know of this machine. */
  environment(extra: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: [dirname(this.node), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: this.home,
      TMPDIR: this.temporary,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...extra,
    };
  }

  /** A file of the person's, such as `.claude.json`. */
  write(path: string, content: string | object): string {
    const file = join(this.home, path);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return file;
  }

  run(launch: Launch): AgentRun {
    const run = new AgentRun(launch);
    this.open.push(run);
    return run;
  }

  async terminal(launch: Launch): Promise<AgentTerminal> {
    const terminal = await AgentTerminal.open(launch, this.folder);
    this.open.push(terminal);
    return terminal;
  }

  /** Our command line, as somebody in this home runs it. */
  agentBusRun(...args: string[]): AgentRun {
    return this.run({ program: this.agentBus, args, env: this.environment(), cwd: this.workspace });
  }

  /** Those with these words in their command line that have been started in this home. */
  processes(words = ''): number[] {
    return processesOf(this.home).filter((pid) => commandLine(pid).includes(words));
  }

  /** Kills the hub as a crash would, whoever has started it, and starts it again, unless somebody else is faster. */
  async crashHub(): Promise<void> {
    const { nonce } = this.hub.record;
    const { folder } = this.hub.home;
    for (const pid of hubsOf(folder)) kill(pid);
    await this.hub.kill();
    await this.hub.start().catch((error: unknown) => {
      if (!(error instanceof StartFailed)) throw error;
    });
    await until('another hub is up', () => {
      const { nonce: now, pid } = this.hub.record;
      return now !== nonce && hubsOf(folder).includes(pid);
    });
  }

  private killAll(): number {
    const left = this.processes();
    for (const pid of left) kill(pid);
    return left.length;
  }

  private async endAll(): Promise<void> {
    for (const one of this.open.reverse()) await one.end();
  }

  async close(): Promise<void> {
    await this.endAll();
    // Codex leaves a server behind for its next session; a hub may have been started by whoever needed one.
    await until('nothing runs in this home any more', () => this.killAll() === 0);
    await this.model.close();
    await this.hub.dispose();
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Parts = Pick<AgentRoom, 'folder' | 'bin' | 'home' | 'hub' | 'agentBus'> & { node: string; temporary: string };

function furnished({ bin, node }: { bin: string; node: string }): Parts {
  // The path of a socket in it may be no longer than 107 bytes.
  const folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'abus-'));
  const home = join(folder, 'home');
  const temporary = join(folder, 'tmp');
  fs.mkdirSync(temporary);
  // Where the bus is by itself for a person of this home: a product that hands on little of its environment finds it.
  const data = join(home, '.local', 'share', 'agent-bus');
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  // Copilot unpacks itself into a new home for seconds; the installation has done so once.
  fs.mkdirSync(join(home, '.cache'));
  fs.symlinkSync(join(bin, '..', '..', 'home', '.cache', 'copilot'), join(home, '.cache', 'copilot'));
  const agentBus = join(folder, 'agent-bus');
  fs.writeFileSync(agentBus, `#!/bin/sh\nexec '${node}' '${cliScript}' "$@"\n`, { mode: 0o755 });
  return { folder, home, temporary, bin, node, agentBus, hub: new HubProcess({ folder: data }) };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It went by itself.
  }
}

function commandLine(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Whatever has this home folder was started here, by a product or by us. */
function processesOf(home: string): number[] {
  const isOurs = (pid: number) => {
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`HOME=${home}`);
    } catch {
      return false;
    }
  };
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && isOurs(pid));
}
