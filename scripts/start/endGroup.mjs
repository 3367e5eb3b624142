// Ends a program that we started in a process group of its own, with everything that it started in turn.
const patienceMs = 6_000;

/** @param {import('node:child_process').ChildProcess} child spawned with `detached`, except on Windows */
export async function endGroup(child) {
  if (child.pid === undefined) return;
  signal(child, 'SIGTERM');
  const deadline = Date.now() + patienceMs;
  while (isAlive(child)) {
    if (Date.now() > deadline) return signal(child, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** At once, for the last moment of this process. */
export function killGroup(child) {
  if (child.pid !== undefined && isAlive(child)) signal(child, 'SIGKILL');
}

const windows = process.platform === 'win32';

function signal(child, name) {
  try {
    if (windows) child.kill(name);
    else process.kill(-child.pid, name);
  } catch {
    // All of it has ended.
  }
}

function isAlive(child) {
  if (windows) return child.exitCode === null && child.signalCode === null;
  try {
    process.kill(-child.pid, 0);
    return true;
  } catch {
    return false;
  }
}
