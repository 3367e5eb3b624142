import { BusError, errorShape } from '../core/errors.ts';
import { repairDatabase } from '../storage/repair.ts';
import { busHome } from './home.ts';
import { acquireHubLock } from './lock.ts';
import { ensurePrivateFolder } from './privateFolder.ts';

/** `agent-bus repair`, as a program of its own: it needs the database, which the command line never opens. */
function main(): number {
  const home = busHome();
  ensurePrivateFolder(home.folder);
  const lock = acquireHubLock(home.lock);
  const json = process.argv.includes('--json');
  try {
    if (!lock) throw new BusError('forbidden', 'The hub is running.', { next: 'Run `agent-bus stop` first.' });
    const stamp = new Date().toISOString().replace(/[:.]/g, '-');
    const report = repairDatabase(home.database, stamp, process.argv.includes('--start-empty'));
    if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else {
      const rows = Object.entries(report.rows)
        .map(([table, count]) => `${count} ${table}`)
        .join(', ');
      process.stdout.write(`The damaged files are kept in ${report.kept}.\nCopied: ${rows || 'nothing'}.\n`);
      if (report.incomplete.length > 0)
        process.stdout.write(`Not all could be read of: ${report.incomplete.join(', ')}.\n`);
    }
    return 0;
  } catch (error) {
    const shape = error instanceof BusError ? error.toShape() : { ...errorShape(error), message: String(error) };
    process.stderr.write(json ? `${JSON.stringify({ error: shape })}\n` : `${shape.message}\n${shape.next}\n`);
    return 1;
  } finally {
    lock?.release();
  }
}

process.exitCode = main();
