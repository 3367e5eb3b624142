// What a lock file holds, and whether its holder still runs. Built-in modules only: bootstrap.mjs runs before anything is installed.
import { readFileSync } from 'node:fs';

export function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
