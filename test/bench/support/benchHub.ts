import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { BusClient } from '../../../src/client/busClient.ts';
import { busHome, type BusHome } from '../../../src/hub/home.ts';
import { version } from '../../../src/hub/version.ts';
import type { Options } from '../options.ts';
import { McpClient } from './mcpClient.ts';
import { memoryOf, start, stop, temporaryFolder } from './processes.ts';

const noLimit = 1_000_000_000;

/** Limits would stop the load, clean-up would disturb it; a hub that was forgotten ends soon. */
const settings = {
  idleMinutes: 1,
  limits: { rateBurst: noLimit, ratePerSecond: noLimit, mailbox: noLimit },
  retention: { days: 0, megabytes: 0 },
};

export function benchHome(name: string): BusHome {
  const home = busHome({ AGENT_BUS_HOME: temporaryFolder(name) });
  writeFileSync(home.settings, JSON.stringify(settings), { mode: 0o600 });
  return home;
}

/** The real hub, in a process of its own and a folder of its own. */
export class BenchHub {
  readonly home: BusHome;
  /** The person, who may do everything. */
  readonly owner: BusClient;
  private readonly child: ChildProcess;
  private readonly clients: { close(): void }[] = [];

  private constructor(home: BusHome, owner: BusClient, child: ChildProcess) {
    this.home = home;
    this.owner = owner;
    this.child = child;
  }

  static async start(options: Options, home: BusHome, extra: { memory?: boolean } = {}): Promise<BenchHub> {
    const output = openSync(join(home.folder, 'hub.out'), 'w', 0o600);
    const flags = extra.memory ? ['--expose-gc', '--import', join(import.meta.dirname, 'memoryProbe.ts')] : [];
    if (options.profile !== undefined) flags.push('--cpu-prof', `--cpu-prof-dir=${options.profile}`);
    const child = start(process.execPath, [...flags, options.hubScript], {
      cwd: home.folder,
      stdio: ['ignore', output, output, ...(extra.memory ? (['ipc'] as const) : [])],
      env: { ...process.env, AGENT_BUS_HOME: home.folder },
    });
    return new BenchHub(home, await connect(home, child), child);
  }

  /** An agent, made on first use, over the hub's own protocol. */
  async client(name: string): Promise<BusClient> {
    await this.owner.request('mint', { name });
    const client = await BusClient.connect({ via: 'rpc', version, as: name, home: this.home, start: false });
    this.clients.push(client);
    return client;
  }

  /** The same over MCP. */
  async mcp(name: string): Promise<McpClient> {
    const { token } = await this.owner.request('mint', { name });
    const client = await McpClient.connect(this.owner.hub?.mcpUrl ?? '', token);
    this.clients.push(client);
    return client;
  }

  /** After garbage collection. Needs a start with `memory`. */
  memory(): Promise<NodeJS.MemoryUsage> {
    return memoryOf(this.child);
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.close();
    this.owner.close();
    await stop(this.child);
  }
}

async function connect(home: BusHome, child: ChildProcess): Promise<BusClient> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await BusClient.connect({ via: 'rpc', version, home, start: false });
    } catch (cause) {
      if (attempt > 4_000 || child.exitCode !== null)
        throw new Error(`The hub does not start. ${said(home)}`, { cause });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

function said(home: BusHome): string {
  const files = [join(home.folder, 'hub.out'), home.startFailure].filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, 'utf8').slice(0, 2_000)).join('\n');
}
