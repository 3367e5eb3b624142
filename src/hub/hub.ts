import { existsSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Bus } from '../core/bus.ts';
import { SteadyClock } from '../core/clock.ts';
import { BusError } from '../core/errors.ts';
import type { Caller } from '../core/model.ts';
import { protocolVersion } from '../protocol/messages.ts';
import { interrupted } from '../storage/repair.ts';
import { SqliteStore } from '../storage/sqliteStore.ts';
import { scanWal } from '../storage/walScan.ts';
import type { ModelAnswer } from '../tools/answer.ts';
import { callForModel, type ToolHost } from '../tools/callTool.ts';
import { instructions, listTools } from '../tools/table.ts';
import { a2aRoute } from '../transports/a2a/a2aRoute.ts';
import { bearer, loopbackGuard } from '../transports/guard.ts';
import { openHttpDoor, type Route } from '../transports/httpDoor.ts';
import { mcpHttp } from '../transports/mcp/mcpHttp.ts';
import { createBusServer } from '../transports/mcp/mcpServer.ts';
import { openRpcDoor } from '../transports/rpc/rpcDoor.ts';
import { Admin } from './admin.ts';
import { Attachments } from './attachments.ts';
import { Credentials } from './credentials.ts';
import { removeRecord, writeRecord, type HubRecord } from './discovery.ts';
import { DoorDesk } from './doors/doorDesk.ts';
import type { BusHome } from './home.ts';
import type { HubLock } from './lock.ts';
import type { Log } from './log.ts';
import { assertPrivateFile, writePrivateFileAtomic } from './privateFolder.ts';
import { ReachDesk } from './reachDesk.ts';
import { RemoteDesk } from './remotes/remoteDesk.ts';
import type { Settings } from './settings.ts';
import { Upkeep } from './upkeep.ts';

export interface RunningHub {
  record: HubRecord;
  /** Ends everything in order; what is promised is on disk before it resolves. */
  stop(reason: string): Promise<void>;
  stopped: Promise<string>;
}

export interface HubParts {
  home: BusHome;
  lock: HubLock;
  log: Log;
  settings: Settings;
  version: string;
}

/** The composition root: reads like the picture of the architecture, top to bottom. */
export async function startHub({ home, lock, log, settings, version }: HubParts): Promise<RunningHub> {
  refuseLostDatabase(home);
  assertPrivateFile(home.database, { create: true });
  const unclean = (statSync(`${home.database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (unclean) refuseLostCommits(home.database);
  const store = new SqliteStore(home.database, (trouble) =>
    log.error('store', { code: trouble.code, message: trouble.message }),
  );
  if (!existsSync(home.databaseMark)) writePrivateFileAtomic(home.databaseMark, `${store.epoch()}\n`);
  const clock = new SteadyClock(
    { wall: Date.now, monotonic: () => performance.now(), uptime: () => uptime() * 1000 },
    store.messagesAfter(store.lastSeq() - 1, 1)[0]?.sentAt ?? 0,
  );
  const bus = new Bus(store, clock, settings.limits);
  await bus.load();
  const credentials = new Credentials(store, bus);
  const toolHost: ToolHost = {
    bus,
    onInternalError: (tool, error) => log.error('call-failed', { tool, error: describe(error) }),
  };
  const onError = (error: unknown): void => log.warn('transport', { error: describe(error) });
  const attachments = new Attachments(bus);
  const reach = new ReachDesk({
    bus,
    store,
    clock,
    attachments,
    settings,
    onError: (error) => log.error('reach', { error: describe(error) }),
  });

  let activity = (): void => undefined;
  let baseUrl = '';
  const isPaused = (): boolean => reach.paused;
  const doors = new DoorDesk({ bus, store, clock, log, isPaused, onActivity: () => activity() });
  const remotes = new RemoteDesk({ bus, store, clock, log, home, settings, isPaused, baseUrl: () => baseUrl });
  bus.remotes = remotes;
  for (const { courier } of [doors, remotes]) if (courier) bus.couriers.add(courier);
  const parts = { bus, store, clock, credentials, attachments, reach, doors, remotes, home, version };
  const admin = new Admin({ ...parts, stop: (reason) => void stop(reason) });
  const rpc = await openRpcDoor(
    {
      ...toolHost,
      version,
      admin,
      reach,
      ownerProof: (text) => credentials.ownerProof(text),
      isOwnerProof: (text, proof) => credentials.isOwnerProof(text, proof),
      authenticate: (token) => credentials.authenticate(token, 'rpc'),
    },
    store,
    {
      port: Number(store.meta('rpc_port') ?? 0),
      socket: socketOf(home),
      onActivity: () => activity(),
      onError: (error) => log.warn('no-socket', { error: describe(error) }),
    },
  );
  const info = { name: 'agent-bus', version };
  const tools = listTools();
  const speakers = new WeakMap<ModelAnswer, Caller>();
  const mcp = mcpHttp({
    serverFor: (caller) =>
      createBusServer({
        info,
        instructions,
        tools,
        call: async (name, args, { signal, meta, progress }) => {
          activity();
          const speaker = await reach.speaker(caller, meta, name);
          const answer = await callForModel(toolHost, speaker, name, args, { signal, progress });
          speakers.set(answer, speaker);
          return answer;
        },
        delivered: (answer) => bus.noteShown(speakers.get(answer) ?? caller, answer.shown, answer.route),
      }),
    onError,
  });
  const a2a = a2aRoute({ bus, store, version, baseUrl: () => baseUrl, onError, onActivity: () => activity() });
  const http = await openHttpDoor({
    port: settings.port || Number(store.meta('http_port') ?? 0),
    guard: loopbackGuard(bearer((token) => credentials.authenticate(token, 'mcp'))),
    routes: new Map<string, Route>([
      ['/mcp', mcp],
      ['/a2a/', a2a],
    ]),
    onError,
  });
  baseUrl = `http://127.0.0.1:${http.port}`;

  // Other programs have the address in their configuration: the next start asks for the same ports.
  await Promise.all([store.remember('rpc_port', String(rpc.port)), store.remember('http_port', String(http.port))]);

  const record: HubRecord = {
    pid: process.pid,
    version,
    protocol: protocolVersion,
    mcpUrl: `${baseUrl}/mcp`,
    rpcPort: rpc.port,
    token: credentials.ownerToken,
    startedAt: new Date().toISOString(),
    nonce: randomBytes(12).toString('hex'),
  };
  const upkeep = new Upkeep({
    bus,
    store,
    clock,
    log,
    lock,
    settings,
    databasePath: home.database,
    integrityWorker: join(import.meta.dirname, 'integrityWorker.js'),
    clients: () =>
      [doors, remotes, a2a].filter((one) => one.isNeeded).length +
      rpc.connections() +
      mcp.listeners() +
      bus.waiting.size,
    stop: (reason) => void stop(reason),
  });
  activity = () => upkeep.noteActivity();
  admin.describe(
    record,
    () => ({ rpc: rpc.connections(), mcpSessions: mcp.sessions(), waitingCalls: bus.waiting.size }),
    upkeep,
  );
  await doors.start();
  remotes.start();
  writeRecord(home.record, record);
  log.info('started', { version, mcpUrl: record.mcpUrl, rpcPort: record.rpcPort, unclean });
  upkeep.checkIntegrity(unclean);

  let ending: Promise<void> | undefined;
  let resolveStopped: (reason: string) => void;
  const stopped = new Promise<string>((resolve) => (resolveStopped = resolve));
  // Each step is tried even if one before it failed; the lock goes last, when nothing of this hub is left.
  const stop = (reason: string): Promise<void> =>
    (ending ??= (async () => {
      log.info('stopping', { reason });
      const steps: (() => unknown)[] = [
        () => rpc.drain(),
        () => removeRecord(home.record, record.nonce),
        () => upkeep.close(),
        () => reach.close(),
        () => remotes.close(),
        () => bus.waiting.stop(),
        () => doors.close(),
        () =>
          Promise.all([http.close(1_000), new Promise((resolve) => setTimeout(resolve, 50)).then(() => rpc.close())]),
        () => store.close(),
        () => log.info('stopped', { reason }),
        () => lock.release(),
      ];
      for (const step of steps) {
        try {
          await step();
        } catch (error) {
          log.error('stop-step-failed', { error: describe(error) });
        }
      }
      resolveStopped(reason);
    })());
  return { record, stop, stopped };
}

/** The name of a socket has its place in a structure of 104 bytes on macOS, with the zero behind it; Windows has none. */
function socketOf({ socket }: BusHome): string | undefined {
  return process.platform !== 'win32' && Buffer.byteLength(socket) < 104 ? socket : undefined;
}

/** Unreadable is not the same as not there: only a home that never had a database gets a new one. */
function refuseLostDatabase(home: BusHome): void {
  if (interrupted(home.database) !== undefined) {
    throw new BusError('database-damaged', 'A repair of the database was interrupted.', {
      next: 'Run `agent-bus repair` again: it goes on from the files it has kept.',
    });
  }
  if (existsSync(home.databaseMark) && (statSync(home.database, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    throw new BusError('database-damaged', `The database ${home.database} is gone or empty.`, {
      next: 'Put a backup made by `agent-bus export` in its place, or run `agent-bus repair --start-empty` to begin anew.',
    });
  }
}

/** The log of the database must hold every acknowledged commit; if one is provably gone, starting would hide it. */
function refuseLostCommits(database: string): void {
  const { damage } = scanWal(`${database}-wal`);
  if (!damage || !existsSync(database)) return;
  throw new BusError(
    'database-damaged',
    `The write-ahead log of the database is damaged: about ${damage.lostCommits} stored changes can’t be read.`,
    {
      next: 'Nothing was deleted. Run `agent-bus repair`: it keeps the damaged files and goes on with all that can be read.',
    },
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
