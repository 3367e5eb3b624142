import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { loop, type Probe } from '../rounds.ts';
import { temporaryFolder } from '../support/processes.ts';

const payload = Buffer.alloc(400, 0x61);

/** The least that any durable write of one message can take: append it, sync it. */
export function diskSync(owned: AsyncDisposableStack, name = 'floor_fdatasync'): Probe {
  const file = openSync(join(temporaryFolder('sync'), 'log'), 'a');
  owned.defer(() => closeSync(file));
  return loop(name, 1, () => {
    writeSync(file, payload);
    fdatasyncSync(file);
  });
}
