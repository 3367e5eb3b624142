import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { BusError, type ErrorCode } from '../core/errors.ts';
import type { BusHome } from '../hub/home.ts';
import { readPrivateFile } from '../hub/privateFile.ts';
import { ensurePrivateFolder } from '../hub/privateFolder.ts';

/** Beside the bundle that this code is part of. */
export const bundledHub = join(import.meta.dirname, 'hub.js');

export interface StartedHub {
  /** Set once the process has ended. */
  exit: { code: number | null } | undefined;
  pid: number;
}

/** Starts a hub in the background that outlives this process. Several at once do no harm: one gets the lock, the others leave. */
export function spawnHub(home: BusHome, script: string): StartedHub {
  requireNode();
  ensurePrivateFolder(home.folder);
  const output = openSync(join(home.folder, 'hub.out'), 'w', 0o600);
  try {
    const child = spawn(process.execPath, [script], {
      cwd: home.folder,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output, output],
      env: hubEnvironment(home),
    });
    const started: StartedHub = { exit: undefined, pid: child.pid ?? 0 };
    child.once('exit', (code) => (started.exit = { code }));
    child.once('error', () => (started.exit = { code: null }));
    child.unref();
    return started;
  } finally {
    closeSync(output);
  }
}

/** Why that start came to nothing, in the hub's own words. */
export function startFailure(home: BusHome, started: StartedHub): BusError {
  const said = failureRecord(home);
  if (said && said.pid === started.pid) return new BusError(said.code as ErrorCode, said.message, { next: said.next });
  return new BusError(
    'hub-unavailable',
    `The hub ended right after its start (exit code ${started.exit?.code ?? 'unknown'}).`,
    {
      next: `Look at \`agent-bus logs\` and at ${join(home.folder, 'hub.out')}.`,
    },
  );
}

export function failureRecord(home: BusHome): { code: string; message: string; next: string; pid: number } | undefined {
  try {
    return JSON.parse(readPrivateFile(home.startFailure, 16_384) ?? '') as {
      code: string;
      message: string;
      next: string;
      pid: number;
    };
  } catch {
    return undefined;
  }
}

/** The hub serves everybody, so nothing of the window or the product that happened to start it may stick to it. */
function hubEnvironment(home: BusHome): NodeJS.ProcessEnv {
  const kept = [
    'PATH',
    'HOME',
    'LANG',
    'TZ',
    'USER',
    'LOGNAME',
    'TMPDIR',
    'XDG_DATA_HOME',
    'SYSTEMROOT',
    'SystemRoot',
    'LOCALAPPDATA',
    'USERPROFILE',
    'USERNAME',
    'TEMP',
    'TMP',
    'WINDIR',
    'PATHEXT',
  ];
  const env: NodeJS.ProcessEnv = {
    AGENT_BUS_HOME: home.folder,
    ELECTRON_RUN_AS_NODE: '1',
    // Compiling the bundle is the larger part of a start; the second one takes it from here.
    NODE_COMPILE_CACHE: join(home.folder, 'compile-cache'),
  };
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name];
  return env;
}

function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return;
  throw new BusError('hub-version', `The hub needs Node 22.13 or newer; this is ${process.versions.node}.`, {
    next: 'Run agent-bus with a newer node, or start the hub from VS Code, which brings its own.',
  });
}
