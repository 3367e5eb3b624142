import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const help = `npm start -- [options]

Builds, runs the hub in this terminal with its traffic, and opens VS Code with the extension on two sample projects.
Ctrl-C ends all of it and removes what was made for it.

  --demo         scripted agents talk over the bus, and one of them needs a decision from you
  --no-editor    only the hub
  --home real    on your own bus. Otherwise this is a try-out with data, profile and projects of its own, in a folder
                 that is removed at the end; only --no-editor without --demo runs your own bus by itself
  --home FOLDER  on the bus in that folder; so does the environment variable AGENT_BUS_HOME
  --port N       the port of VS Code in the browser; any free one otherwise
  --json         the hub's lines as JSON
  --help         this text

VS Code is \`code\` if it is on PATH and there is a screen; otherwise code-server, which is installed once and opened in
your browser. Copilot is not signed in there: views, demo, terminals and agents over MCP work, its chat needs a sign-in.`;

/** @returns {{ help: boolean, demo: boolean, editor: boolean, home: 'own' | 'real' | string, port: number, json: boolean }} */
export function readOptions(args, env = process.env) {
  const { values } = parseArgs({
    args,
    options: {
      demo: { type: 'boolean', default: false },
      'no-editor': { type: 'boolean', default: false },
      home: { type: 'string' },
      port: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { demo, json } = values;
  const editor = !values['no-editor'];
  return {
    help: values.help,
    demo,
    editor,
    json,
    home: homeOf(values.home, env, demo || editor),
    port: portOf(values.port),
  };
}

/** Nobody's real bus gets a demo or a sample window by accident. */
function homeOf(wanted, env, tryout) {
  if (wanted === 'real') return 'real';
  if (wanted === '') throw new Error('--home needs "real" or a folder.');
  if (wanted !== undefined) return isAbsolute(wanted) ? wanted : resolve(wanted);
  if (env.AGENT_BUS_HOME) return env.AGENT_BUS_HOME;
  return tryout ? 'own' : 'real';
}

function portOf(text) {
  if (text === undefined) return 0;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new Error(`--port is a number from 1 to 65535, not "${text}".`);
  return port;
}
