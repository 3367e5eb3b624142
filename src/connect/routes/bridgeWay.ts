import { homedir } from 'node:os';
import { join } from 'node:path';
import { onPath } from '../detect.ts';
import { ancestors } from './ancestors.ts';
import { CodexQueueRoute } from './codexQueueRoute.ts';
import { CodexSocketRoute } from './codexSocketRoute.ts';
import type { WakeRoute } from './route.ts';

/** What the bridge that a product has started can do for the session behind it. */
export interface BridgeWay {
  route?: WakeRoute;
  /** Codex's server, which tells of all its sessions. */
  watch?: CodexSocketRoute;
  /** The route's text is for others to see: it gets no text of messages. */
  says?: 'line';
  /** The session that has started the bridge, where it can be told. */
  chat?: string | undefined;
  /** The processes above, by which its terminal can be told. */
  pids: number[];
}

export async function bridgeWay(product: string, version: string): Promise<BridgeWay> {
  const above = await ancestors();
  const pids = above.map(({ pid }) => pid);
  if (product !== 'codex') return { pids };

  const codexHome = process.env['CODEX_HOME'] || join(homedir(), '.codex');
  const socket = new CodexSocketRoute(codexHome, version);
  const server = await socket.serverPid();
  // Whoever began the server has given it their terminal, which says nothing about the sessions in it.
  if (server !== undefined && pids.includes(server)) return { route: socket, watch: socket, pids: [] };
  socket.close();
  const queue = new CodexQueueRoute(codexHome, above, onPath('codex', process.env));
  const isServer = above.some(({ command }) => /\bapp-server\b/.test(command));
  if (!(await queue.detect())) return { pids: isServer ? [] : pids };
  return { route: queue, says: 'line', chat: queue.newest(), pids: isServer ? [] : pids };
}
