// `npm start`: builds, then runs the hub in the foreground until Ctrl-C. Extra arguments go to `agent-bus hub`.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { build, root } from '../esbuild.mjs';

await build();
const hub = spawn(process.execPath, [join(root, 'dist', 'cli.js'), 'hub', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// A terminal sends Ctrl-C to the hub as well; we only have to outlive it. Other signals are passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT' || (!process.stdin.isTTY && process.platform !== 'win32')) hub.kill(signal);
  });
}
hub.on('error', (error) => {
  console.error(`The hub could not be started: ${error.message}`);
  process.exit(1);
});
hub.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
