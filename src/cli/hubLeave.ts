import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readRecord } from '../hub/discovery.ts';
import type { BusHome } from '../hub/home.ts';
import { BusError } from '../core/errors.ts';

const patienceMs = 20_000;

/** Waits until a hub that was asked to stop has left: its record is gone, and so is its process. */
export async function hubLeave(home: BusHome, pid: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (readRecord(home.record).record?.pid === pid || isAlive(pid)) {
    if (performance.now() > deadline) {
      throw new BusError(
        'hub-stopping',
        `The hub (pid ${pid}) was asked to stop and has not left after ${patienceMs / 1000} s.`,
        {
          next: 'Look at `agent-bus logs`; as a last resort end that process, nothing that was stored is lost.',
        },
      );
    }
    await pause(15);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** In a container nobody may be there to bury it, but an ended process it is. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
