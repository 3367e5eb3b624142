/** A real hub in a folder of its own, with real clients. Whatever a test starts here, it ends here, by process id. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BusClient, type ClientOptions } from '../../src/client/busClient.ts';
import { readRecord, type HubRecord } from '../../src/hub/discovery.ts';
import { busHome, type BusHome } from '../../src/hub/home.ts';
import type { HubStatus } from '../../src/protocol/messages.ts';

/** AGENT_BUS_TEST_HUB is for trying a bundle that is not in dist yet. */
export const hubScript = process.env['AGENT_BUS_TEST_HUB'] ?? join(import.meta.dirname, '..', '..', 'dist', 'hub.js');

/** What a client of the same release says; the bundle's own version. */
export const clientVersion = '0.0.0-test';

/** Long enough for a crowded machine; nothing is ever measured with it. */
export const patienceMs = 60_000;

export interface HubOptions {
  settings?: Record<string, unknown>;
  script?: string;
  /** A program and its arguments to run the hub under, such as strace. */
  under?: readonly string[];
  env?: Record<string, string>;
  folder?: string;
}

/** A data folder, and the hub that serves it, if one runs. */
export class HubProcess {
  readonly home: BusHome;
  private readonly options: HubOptions;
  private readonly clients = new Set<BusClient>();
  private readonly found = new Set<number>();
  private strangersMade = 0;
  child: ChildProcess | undefined;
  /** What the hub wrote to its standard output and error. */
  output = '';

  constructor(options: HubOptions = {}) {
    this.options = options;
    const folder = options.folder ?? fs.mkdtempSync(join(tmpdir(), 'agent-bus-test-'));
    this.home = busHome({ AGENT_BUS_HOME: folder });
    if (options.settings) this.configure(options.settings);
  }

  static async start(options: HubOptions = {}): Promise<HubProcess> {
    const hub = new HubProcess(options);
    try {
      await hub.start();
    } catch (error) {
      await hub.dispose();
      throw error;
    }
    return hub;
  }

  configure(settings: Record<string, unknown>): void {
    fs.writeFileSync(this.home.settings, JSON.stringify(settings), { mode: 0o600 });
  }

  /** Starts the process and does not wait for it. */
  spawn(script = this.options.script ?? hubScript): ChildProcess {
    const [program = process.execPath, ...args] = [...(this.options.under ?? []), process.execPath, script];
    const env = { ...process.env, ...this.options.env, AGENT_BUS_HOME: this.home.folder };
    delete (env as Record<string, unknown>)['NODE_TEST_CONTEXT'];
    const child = spawn(program, args, { env, cwd: this.home.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.child = child;
    return child;
  }

  /** Starts it and waits until it serves; throws what it said if it ends instead. */
  async start(script?: string): Promise<HubRecord> {
    const before = readRecord(this.home.record).record?.nonce;
    const child = this.spawn(script);
    const record = await until('the hub is up', () => {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new StartFailed(child.exitCode, this.failure(), this.output);
      }
      const { record: now } = readRecord(this.home.record);
      return now && now.nonce !== before ? now : undefined;
    });
    this.found.add(record.pid);
    return record;
  }

  get record(): HubRecord {
    const { record } = readRecord(this.home.record);
    if (!record) throw new Error('no hub is running');
    return record;
  }

  get running(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Why the last start failed, in the words that clients get. */
  failure(): { code: string; message: string; next: string } | undefined {
    try {
      return JSON.parse(fs.readFileSync(this.home.startFailure, 'utf8')) as {
        code: string;
        message: string;
        next: string;
      };
    } catch {
      return undefined;
    }
  }

  /** A client that speaks as the person unless told otherwise. It does not start hubs unless told to. */
  async client(options: Partial<ClientOptions> = {}): Promise<BusClient> {
    const client = await BusClient.connect({
      home: this.home,
      start: false,
      hubScript: this.options.script ?? hubScript,
      version: clientVersion,
      via: 'rpc',
      ...options,
    });
    this.clients.add(client);
    return client;
  }

  /** Clients of agents by these names, made where they are missing. */
  async agents<const Names extends readonly string[]>(
    names: Names,
    options: Partial<ClientOptions> = {},
  ): Promise<{ [Index in keyof Names]: BusClient }> {
    const person = await this.client();
    const made = [];
    for (const name of names) {
      await person.request('mint', { name });
      made.push(await this.client({ as: name, ...options }));
    }
    this.close(person);
    return made as { [Index in keyof Names]: BusClient };
  }

  /** Clients of agents that nobody has heard of yet. */
  async strangers<const Count extends number>(
    count: Count,
    options: Partial<ClientOptions> = {},
  ): Promise<Tuple<BusClient, Count>> {
    const names = Array.from({ length: count }, () => `agent-${++this.strangersMade}`);
    return (await this.agents(names, options)) as unknown as Tuple<BusClient, Count>;
  }

  async mint(name: string): Promise<string> {
    const person = await this.client();
    try {
      return (await person.request('mint', { name })).token;
    } finally {
      this.close(person);
    }
  }

  async status(): Promise<HubStatus> {
    const person = await this.client({ passing: true });
    try {
      return await person.request('status', {});
    } finally {
      this.close(person);
    }
  }

  close(client: BusClient): void {
    this.clients.delete(client);
    client.close();
  }

  /** Remembers a hub that somebody else started for this folder, so that it is ended with it. */
  adopt(pid: number): void {
    this.found.add(pid);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (!child || !this.running) return;
    const exited = once(child, 'exit');
    // Under strace the child is strace; the hub itself has to go, too.
    const { record } = readRecord(this.home.record);
    if (this.options.under && record && isHubOf(record.pid, this.home.folder)) process.kill(record.pid, signal);
    else child.kill(signal);
    await exited;
  }

  /** An orderly end, as `agent-bus stop` makes it. */
  async stop(): Promise<void> {
    const { child } = this;
    if (!child || !this.running) return;
    const exited = once(child, 'exit');
    const person = await this.client();
    await person.request('stop', { reason: 'stop' });
    await exited;
    this.close(person);
  }

  async dispose(): Promise<void> {
    for (const client of [...this.clients]) this.close(client);
    const { record } = readRecord(this.home.record);
    if (record) this.found.add(record.pid);
    await this.kill();
    for (const pid of [...this.found, ...hubsOf(this.home.folder)]) await endHub(pid, this.home.folder);
    if (!this.options.folder) fs.rmSync(this.home.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Tuple<T, Count extends number, Found extends T[] = []> = number extends Count
  ? T[]
  : Found['length'] extends Count
    ? Found
    : Tuple<T, Count, [...Found, T]>;

export class StartFailed extends Error {
  readonly exitCode: number | null;
  readonly failure: { code: string; message: string; next: string } | undefined;

  constructor(exitCode: number | null, failure: StartFailed['failure'], output: string) {
    super(`the hub ended with ${exitCode}: ${failure?.code ?? ''} ${failure?.message ?? ''} ${output}`);
    this.exitCode = exitCode;
    this.failure = failure;
  }
}

/** A pid alone may be anybody's by now: it is ours if it runs a hub in our folder. */
export function isHubOf(pid: number, folder: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`AGENT_BUS_HOME=${folder}`);
  } catch {
    return false;
  }
}

export async function endHub(pid: number, folder: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (!isHubOf(pid, folder)) return;
  process.kill(pid, signal);
  await until(`hub ${pid} is gone`, () => !isHubOf(pid, folder));
}

/** Asks again and again; the bound only says that something hangs. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  patience = patienceMs,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${patience} ms in vain until ${what}`);
    await pause(10);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Every process that is a hub of this folder, or tries to become it. */
export function hubsOf(folder: string): number[] {
  if (!fs.existsSync('/proc')) return [];
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isHubOf(pid, folder) && /hub[^\0]*\.js/.test(commandLine(pid)));
}

function commandLine(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
