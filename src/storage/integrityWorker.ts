import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { findDamage } from './integrity.ts';

/** A thread of its own, so that checking gigabytes holds nobody up. */
const { path } = workerData as { path: string };
const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
try {
  parentPort?.postMessage(findDamage(db));
} finally {
  db.close();
}
