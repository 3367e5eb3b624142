/** The texts of `bin/agent-bus` and `bin/agent-bus.cmd`: what other programs' configuration points to, for good. */

export interface LauncherParts {
  version: string;
  /** The editor's own runtime; where it has moved away, `node` from the PATH stands in. */
  runtime: string;
  /** The folder with the bundles. */
  app: string;
  /** The folder of the bus, if it is not the usual one of this user. */
  home: string | undefined;
  /** The launcher itself, as programs that print how to call them have to name it. */
  path: string;
  /** Where compiled bundles are kept: half of a start is compiling. */
  cache: string;
}

/** What a launcher says about itself in its second line, so that an older installation leaves a newer one alone. */
const mark = /(?:#|rem) agent-bus (\S+) (.*)$/m;

export function readMark(launcher: string): { version: string; app: string } | undefined {
  const [, version, app] = mark.exec(launcher) ?? [];
  return version !== undefined && app !== undefined ? { version, app } : undefined;
}

const newEnough = `const [a,b]=process.versions.node.split('.');process.exit(a>22||(a==22&&b>=13)?0:1)`;

export function posixLauncher({ version, runtime, app, home, path, cache }: LauncherParts): string {
  return [
    '#!/bin/sh',
    `# agent-bus ${version} ${app}`,
    '# Written by the Agent Bus extension at each start of VS Code; changes are lost.',
    `runtime=${quoted(runtime)}`,
    'if [ ! -x "$runtime" ]; then',
    '  runtime=$(command -v node) || runtime=',
    `  if [ -z "$runtime" ] || ! "$runtime" -e ${quoted(newEnough)}; then`,
    '    echo "agent-bus: VS Code has moved, and there is no node 22.13 or newer. Start VS Code once." >&2',
    '    exit 1',
    '  fi',
    'fi',
    ...(home === undefined ? [] : [`export AGENT_BUS_HOME="\${AGENT_BUS_HOME:-${inDoubleQuotes(home)}}"`]),
    'unset NODE_OPTIONS VSCODE_INSPECTOR_OPTIONS',
    `export ELECTRON_RUN_AS_NODE=1 AGENT_BUS_LAUNCHER=${quoted(path)} NODE_COMPILE_CACHE=${quoted(cache)}`,
    'case "$1" in',
    `  hook) exec "$runtime" ${quoted(`${app}/hook.js`)} "$@" ;;`,
    `  *) exec "$runtime" ${quoted(`${app}/cli.js`)} "$@" ;;`,
    'esac',
    '',
  ].join('\n');
}

/** cmd.exe reads its files in the console's code page, so a user's name is written as the variable that holds it. */
export function windowsLauncher(parts: LauncherParts, env: Record<string, string | undefined> = process.env): string {
  const { version, runtime, app, home, cache } = parts;
  const spelled = (text: string): string => byVariable(text, env);
  return [
    '@echo off',
    `rem agent-bus ${version} ${app}`,
    'rem Written by the Agent Bus extension at each start of VS Code; changes are lost.',
    'setlocal',
    ...(home === undefined ? [] : [`if not defined AGENT_BUS_HOME set "AGENT_BUS_HOME=${spelled(home)}"`]),
    'set "NODE_OPTIONS="',
    'set "VSCODE_INSPECTOR_OPTIONS="',
    'set "ELECTRON_RUN_AS_NODE=1"',
    `set "AGENT_BUS_LAUNCHER=${spelled(parts.path)}"`,
    `set "NODE_COMPILE_CACHE=${spelled(cache)}"`,
    `set "runtime=${spelled(runtime)}"`,
    'if exist "%runtime%" goto run',
    'set "runtime=node"',
    `node -e "${newEnough}" 2>nul && goto run`,
    'echo agent-bus: VS Code has moved, and there is no node 22.13 or newer. Start VS Code once. 1>&2',
    'exit /b 1',
    ':run',
    'set "program=cli.js"',
    'if "%~1"=="hook" set "program=hook.js"',
    `"%runtime%" "${spelled(app)}\\%program%" %*`,
    '',
  ].join('\r\n');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function inDoubleQuotes(text: string): string {
  return text.replace(/[\\"$`]/g, '\\$&');
}

function byVariable(path: string, env: Record<string, string | undefined>): string {
  const escaped = path.replaceAll('%', '%%');
  for (const name of ['LOCALAPPDATA', 'USERPROFILE', 'ProgramFiles']) {
    const value = env[name];
    if (value && path.toLowerCase().startsWith(`${value.toLowerCase()}\\`)) {
      return `%${name}%${path.slice(value.length).replaceAll('%', '%%')}`;
    }
  }
  return escaped;
}
