/** Where the bus keeps its data: one folder per user, and every file in it by name. */
import { posix, win32 } from 'node:path';
import { BusError } from '../core/errors.ts';

export interface BusHome {
  folder: string;
  database: string;
  /** Says that there is a database, so that a missing or emptied one is noticed and not taken for a first start. */
  databaseMark: string;
  /** Held for as long as the hub lives. */
  lock: string;
  /** Where the running hub can be found. */
  record: string;
  /** Where hooks find it: whoever can open a socket in this folder owns it, and so does whoever listens there. */
  socket: string;
  log: string;
  settings: string;
  /** Why the last start in the background came to nothing, for the client that is waiting for it. */
  startFailure: string;
}

type Environment = Record<string, string | undefined>;

export function busHome(env: Environment = process.env, platform: NodeJS.Platform = process.platform): BusHome {
  const path = platform === 'win32' ? win32 : posix;
  const folder = path.normalize(chosenFolder(env, platform) ?? defaultFolder(env, platform));
  const named = (name: string) => path.join(folder, name);
  return {
    folder,
    database: named('bus.db'),
    databaseMark: named('bus.id'),
    lock: named('hub.lock'),
    record: named('hub.json'),
    socket: named('hub.sock'),
    log: named('hub.log'),
    settings: named('settings.json'),
    startFailure: named('start-failure.json'),
  };
}

/** A relative folder would be another one in every working directory, and so another hub in each. */
function chosenFolder(env: Environment, platform: NodeJS.Platform): string | undefined {
  const chosen = env['AGENT_BUS_HOME'];
  if (!chosen) return undefined;
  if (isFullPath(chosen, platform)) return chosen;
  throw new BusError('bad-settings', `AGENT_BUS_HOME is not an absolute path: "${chosen.slice(0, 200)}".`, {
    next: 'Set AGENT_BUS_HOME to a full path, or unset it to use the default folder.',
  });
}

function defaultFolder(env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'];
    if (local && isFullPath(local, platform)) return win32.join(local, 'agent-bus');
    return win32.join(userFolder(env['USERPROFILE'], platform), 'AppData', 'Local', 'agent-bus');
  }
  const home = userFolder(env['HOME'], platform);
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'agent-bus');
  // The XDG rules say that a relative value is to be ignored.
  const data = env['XDG_DATA_HOME'];
  if (data && isFullPath(data, platform)) return posix.join(data, 'agent-bus');
  return posix.join(home, '.local', 'share', 'agent-bus');
}

function userFolder(fromEnvironment: string | undefined, platform: NodeJS.Platform): string {
  if (fromEnvironment && isFullPath(fromEnvironment, platform)) return fromEnvironment;
  // Hooks have no time to load what is hardly ever asked.
  const known = process.getBuiltinModule('node:os').homedir();
  if (isFullPath(known, platform)) return known;
  throw new BusError('bad-settings', 'This user has no home folder to keep the data of the bus in.', {
    next: 'Set AGENT_BUS_HOME to the full path of a folder of your own.',
  });
}

/** On Windows `\data` is absolute for Node, but still depends on the current drive. */
function isFullPath(path: string, platform: NodeJS.Platform): boolean {
  if (path.includes('\0')) return false;
  return platform === 'win32' ? win32.isAbsolute(path) && win32.parse(path).root.length > 1 : posix.isAbsolute(path);
}
