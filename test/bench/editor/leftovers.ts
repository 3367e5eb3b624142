import { readdirSync, readFileSync, rmSync } from 'node:fs';

/** However the bench ends: an editor is several groups of processes, and all of them have its data folder in their environment. */
export function endWithBench(busHome: string, folder: string): void {
  process.on('exit', () => {
    for (const pid of processesOf(busHome)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
}

function processesOf(busHome: string): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((name) => environmentOf(name).includes(`AGENT_BUS_HOME=${busHome}`))
      .map(Number);
  } catch {
    return [];
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}
