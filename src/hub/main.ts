import { BusError, errorShape } from '../core/errors.ts';
import { exitAlreadyRunning } from './discovery.ts';
import { busHome } from './home.ts';
import { startHub } from './hub.ts';
import { acquireHubLock } from './lock.ts';
import { openLog } from './log.ts';
import { ensurePrivateFolder, removeStaleTemporaries, writePrivateFileAtomic } from './privateFolder.ts';
import { loadSettings } from './settings.ts';

/** The hub as a process: from the lock to the last byte of the log. Returns the exit code. */
export async function runHub(version: string): Promise<number> {
  const home = busHome();
  const folder = ensurePrivateFolder(home.folder);
  const lock = acquireHubLock(home.lock);
  if (!lock) return exitAlreadyRunning;
  const log = openLog(home.log);
  try {
    const settings = loadSettings(home.settings);
    if (folder.note) log.warn('folder', { note: folder.note });
    removeStaleTemporaries(home.folder);
    const hub = await startHub({ home, lock, log, settings, version });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void hub.stop(signal));
    process.on('uncaughtException', (error) => {
      // The state in memory can't be trusted any more; the database can. The next client starts a new hub.
      log.error('crashed', { error: error.stack ?? String(error) });
      process.exit(1);
    });
    await hub.stopped;
    return 0;
  } catch (error) {
    const shape = errorShape(error);
    log.error('start-failed', {
      ...shape,
      error: error instanceof BusError ? undefined : String((error as Error).stack ?? error),
    });
    const message = error instanceof BusError ? shape.message : `The hub failed to start: ${(error as Error).message}`;
    writePrivateFileAtomic(home.startFailure, JSON.stringify({ ...shape, message, pid: process.pid }));
    lock.release();
    return 1;
  } finally {
    log.close();
  }
}
