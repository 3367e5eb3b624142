import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

export interface CommandLine {
  /** The program and the arguments before its own, as another program has to start it. */
  command: string;
  args: string[];
  /** The same for a shell, with the data folder where another one than usual is in use. */
  shell: string;
  env: Record<string, string>;
}

/** How this very program is called from another terminal, where npm's additions to PATH are not in force. */
export function commandLine(env: NodeJS.ProcessEnv = process.env): CommandLine {
  const script = process.argv[1] ?? '';
  const home = env['AGENT_BUS_HOME'];
  const chosen: Record<string, string> = home ? { AGENT_BUS_HOME: home } : {};
  // Set by the launcher that the extension installs: it outlives the bundle and the runtime that it started.
  const launcher = env['AGENT_BUS_LAUNCHER'];
  if (launcher && !isSame(onPath('agent-bus', env), launcher))
    return { command: launcher, args: [], shell: shellLine([launcher], home), env: chosen };
  if (launcher || isSame(onPath('agent-bus', env), script))
    return { command: 'agent-bus', args: [], shell: shellLine(['agent-bus'], home), env: chosen };
  const node = isSame(onPath('node', env), process.execPath) ? 'node' : process.execPath;
  return { command: process.execPath, args: [script], shell: shellLine([node, script], home), env: chosen };
}

function shellLine(words: string[], home: string | undefined): string {
  if (process.platform === 'win32') {
    const line = `${/[\s'"]/.test(words[0] ?? '') ? '& ' : ''}${words.map(quoted).join(' ')}`;
    return home ? `$env:AGENT_BUS_HOME=${quoted(home)}; ${line}` : line;
  }
  return `${home ? `AGENT_BUS_HOME=${quoted(home)} ` : ''}${words.map(quoted).join(' ')}`;
}

/** One word for a POSIX shell, or for PowerShell on Windows. */
export function quoted(word: string): string {
  if (/^[A-Za-z0-9_./:=@%+,\\-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `'${word.replaceAll("'", "''")}'` : `'${word.replaceAll("'", `'\\''`)}'`;
}

function onPath(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (!folder || folder.split(sep).includes('node_modules')) continue;
    for (const ending of endings) {
      const path = join(folder, program + ending);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}

function isSame(a: string | undefined, b: string): boolean {
  try {
    return a !== undefined && realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
