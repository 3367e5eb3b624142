// `npm run test:desktop`: the suite in test/vscode/host inside an installed desktop VS Code. It is found by
// AGENT_BUS_VSCODE (the program itself), or by `code` on the PATH; nothing is downloaded.
import { runTests } from '@vscode/test-electron';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const program = findDesktop();
if (!program) {
  console.error(
    '[agent-bus] There is no desktop VS Code here. Install it, or name its program in AGENT_BUS_VSCODE. ' +
      '`npm test` tests the same in VS Code for the browser.',
  );
  process.exit(1);
}

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bus-desktop-'));
try {
  const workspace = join(folder, 'shop-web');
  mkdirSync(workspace);
  await runTests({
    vscodeExecutablePath: program,
    extensionDevelopmentPath: root,
    extensionTestsPath: join(root, 'test', 'vscode', 'host', 'suite.cjs'),
    extensionTestsEnv: { AGENT_BUS_HOME: join(folder, 'bus') },
    launchArgs: [
      workspace,
      '--disable-extensions',
      '--disable-workspace-trust',
      `--user-data-dir=${join(folder, 'user')}`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  console.log('1 passed, 0 failed');
} catch (error) {
  console.error(`[agent-bus] ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The program itself: `code` on the PATH is a script beside it that hands over to a window that is already open. */
function findDesktop() {
  const named = process.env.AGENT_BUS_VSCODE;
  if (named) return existsSync(named) ? named : undefined;
  const scripts = (process.env.PATH ?? '').split(delimiter).flatMap((place) => {
    const script = ['code', 'code.cmd'].map((name) => join(place, name)).find((file) => existsSync(file));
    return script ? [realpathSync(script)] : [];
  });
  const installed = [
    '/Applications/Visual Studio Code.app/Contents/MacOS/Electron',
    '/Applications/Visual Studio Code.app/Contents/MacOS/Code',
    process.env.LOCALAPPDATA && join(process.env.LOCALAPPDATA, 'Programs', 'Microsoft VS Code', 'Code.exe'),
    process.env.PROGRAMFILES && join(process.env.PROGRAMFILES, 'Microsoft VS Code', 'Code.exe'),
  ];
  return [...scripts.flatMap(besideScript), ...installed].find((file) => file && existsSync(file));
}

/** …/bin/code belongs to …/code (Linux), …/Code.exe (Windows), …/Contents/MacOS/… (macOS). */
function besideScript(script) {
  const above = join(dirname(script), '..');
  if (basename(dirname(script)) !== 'bin') return [];
  return [
    join(above, 'code'),
    join(above, 'Code.exe'),
    join(above, '..', '..', 'MacOS', 'Electron'),
    join(above, '..', '..', 'MacOS', 'Code'),
  ];
}
