/** What `agent-bus doctor` looks at. It only looks: it starts no hub and writes nothing. */
import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { failureRecord } from '../client/hubProcess.ts';
import { withAdvice, type Connections } from '../connect/reachAdvice.ts';
import { BusError } from '../core/errors.ts';
import { readRecord } from '../hub/discovery.ts';
import type { BusHome } from '../hub/home.ts';
import { version } from '../hub/version.ts';
import type { HubStatus } from '../protocol/messages.ts';
import type { AgentReach } from '../protocol/reachMessages.ts';
import type { ProductLine } from '../connect/survey.ts';
import type { Invocation } from './command.ts';
import { runningHub } from './runningHub.ts';
import type { Session } from './session.ts';

/** A sentence about what is wrong, and the next step. */
export interface Trouble {
  what: string;
  todo: string;
}

export interface Checkup {
  /** Of this program. */
  version: string;
  home: { folder: string; chosen: boolean };
  hub: HubStatus | undefined;
  /** Why there is no hub, or why it does not answer. */
  away: Trouble | undefined;
  databaseBytes: number | undefined;
  products: ProductLine[];
  productTrouble: Trouble | undefined;
  agents: AgentReach[] | undefined;
  agentTrouble: Trouble | undefined;
  /** How many agents others may ask over A2A. */
  open: number;
}

export async function checkup(invocation: Invocation, agent: string | undefined): Promise<Checkup> {
  const { home } = invocation;
  const { session, away } = await findHub(invocation);
  const hub = await session?.client.request('status', {});
  const { products, productTrouble } = await lookAtProducts(home);
  const { agents, agentTrouble } = session ? await askForAgents(session, agent) : {};
  return {
    version,
    home: { folder: home.folder, chosen: Boolean(process.env['AGENT_BUS_HOME']) },
    hub,
    away,
    databaseBytes: hub?.databaseBytes ?? statSync(home.database, { throwIfNoEntry: false })?.size,
    products,
    productTrouble,
    agents: agents?.map((reach) => withAdvice(reach, connectionsOf(reach, products, hub))),
    agentTrouble,
    open: session ? await countOpen(session) : 0,
  };
}

async function findHub(invocation: Invocation): Promise<{ session?: Session | undefined; away?: Trouble | undefined }> {
  try {
    const session = await runningHub(invocation);
    return session ? { session } : { away: awayBecause(invocation.home) };
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    return { away: { what: error.message, todo: error.next } };
  }
}

/** A hub that was killed leaves its record behind; so does one that hangs. */
function awayBecause(home: BusHome): Trouble {
  const start = 'agent-bus start starts one; so does opening a window of VS Code with the extension';
  const failed = lastStartFailed(home) ? failureRecord(home) : undefined;
  if (failed) return { what: `not running. ${failed.message}`, todo: failed.next };
  const { record, ...reading } = readRecord(home.record);
  if (!record) {
    if ('reason' in reading && reading.reason === 'unreadable')
      return { what: `not running; what the last one left in ${home.record} can’t be read`, todo: start };
    const first = existsSync(home.database) ? 'not running' : 'not running, and none has run here yet';
    return { what: first, todo: start };
  }
  if (isAlive(record.pid)) {
    const todo = 'if it stays so: agent-bus logs, then end that process and run agent-bus start';
    return { what: `process ${record.pid} is there, but it does not answer as the hub`, todo };
  }
  const what = `not running: the last one (process ${record.pid}, version ${record.version}) ended without a word`;
  return { what, todo: `nothing that was stored is lost; ${start}` };
}

/** Every hub that got to run has written to the database after that. */
function lastStartFailed(home: BusHome): boolean {
  const at = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return at(home.startFailure) > Math.max(at(home.database), at(`${home.database}-wal`), at(home.record));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function lookAtProducts(home: BusHome): Promise<Pick<Checkup, 'products' | 'productTrouble'>> {
  try {
    const { surveyFor } = await import('./connectRun.ts');
    return { products: surveyFor(home), productTrouble: undefined };
  } catch (error) {
    const what = `can’t be looked at: ${error instanceof Error ? error.message : String(error)}`;
    return { products: [], productTrouble: { what, todo: 'agent-bus connect tells more' } };
  }
}

async function askForAgents(
  session: Session,
  agent: string | undefined,
): Promise<Partial<Pick<Checkup, 'agents' | 'agentTrouble'>>> {
  try {
    return { agents: await session.client.request('reach', { ...(agent !== undefined && { agent }) }) };
  } catch (error) {
    if (!(error instanceof BusError) || error.code !== 'unknown-tool') throw error;
    const what = 'this hub is of an earlier version and can’t tell how agents are reached';
    return { agentTrouble: { what, todo: 'agent-bus start puts the newer one in its place' } };
  }
}

async function countOpen({ client }: Session): Promise<number> {
  let open = 0;
  let cursor: string | undefined;
  do {
    const { data } = await client.call('agents', { limit: 100, cursor });
    open += data.agents.filter((agent) => agent.open).length;
    cursor = data.next;
  } while (cursor !== undefined);
  return open;
}

function connectionsOf(
  { product = '', workspace }: AgentReach,
  lines: readonly ProductLine[],
  hub: HubStatus | undefined,
): Connections | undefined {
  const line = lines.find((candidate) => candidate.product.agent === product);
  const isHere = workspace === basename(process.cwd());
  const heard = hub?.hooksHeard?.[product] !== undefined;
  return line && { ...line, heard, project: isHere ? line.project : undefined };
}
