// `npm start`: the hub in this terminal, VS Code on two sample projects, and with --demo agents that talk. See --help.
import { build, root } from '../esbuild.mjs';
import { busHome } from '../src/hub/home.ts';
import { runDemo } from './demo/runDemo.ts';
import { hubAnswers, startHub, stopLeftHub } from './start/hub.mjs';
import { help, readOptions } from './start/options.mjs';
import { makeTryout } from './start/tryout.mjs';

const say = (text) => console.error(`[agent-bus] ${text}`);
const options = optionsOrExit();
if (options.help) {
  console.log(help);
  process.exit(0);
}

/** What this run has started so far; all of it ends with it. */
const started = { tryout: undefined, editor: undefined, hub: undefined };
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Before there is a hub to be ended in order, the end is at once.
    if (!started.hub) process.exit(130);
    ending.abort();
    started.hub.pass(signal);
  });
}
process.on('exit', () => {
  started.editor?.closeNow();
  started.tryout?.remove();
});

await build().catch(() => {
  say('The build failed; the lines above say why.');
  process.exit(1);
});
const own = options.home === 'own';
if (own || options.editor) started.tryout = makeTryout(root);
const env = environment();
if (options.editor) {
  const { prepareEditor } = await import('./start/editor.mjs');
  started.editor = await prepareEditor({ root, tryout: started.tryout, env, port: options.port, say });
}
started.hub = startHub(root, env, options.json ? ['--json'] : []);
const code = started.hub.ended.finally(() => ending.abort());
const demo = arrive();
process.exitCode = await code;
await (await demo)?.stop();
await started.editor?.close();
if (own) await stopLeftHub(env);
process.exit();

/** Those who need a hub that answers; whatever goes wrong with them, the hub goes on. */
async function arrive() {
  const { editor, tryout } = started;
  if (!editor && !options.demo) return undefined;
  await hubAnswers(env, ending.signal);
  const running = options.demo ? await demoOrNone(tryout?.folder) : undefined;
  await editor?.open().catch((error) => {
    if (!ending.signal.aborted)
      say(`${editor.name} could not be opened: ${error.message}. The hub goes on without it.`);
  });
  return running;
}

async function demoOrNone(folder) {
  const tell = (text) => ending.signal.aborted || say(text);
  try {
    const demo = await runDemo({ home: busHome(env), folder });
    tell('The demo is on: five agents talk, and release-bot has a question for you.');
    if (started.editor) tell('The windows themselves are shop-api-copilot-2 and shop-web-copilot-2 meanwhile.');
    demo.ended.then(
      () => tell('The demo has played all its scenes; its agents stay, and answer you.'),
      (error) => tell(`The demo has stopped: ${error.message}`),
    );
    return demo;
  } catch (error) {
    tell(`The demo did not start: ${error.message} The hub goes on without it.`);
    return undefined;
  }
}

function environment() {
  const { AGENT_BUS_HOME: _, ...others } = process.env;
  if (options.home === 'real') return others;
  return { ...others, AGENT_BUS_HOME: own ? started.tryout.home : options.home };
}

function optionsOrExit() {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error.message}\n\n${help}`);
    process.exit(2);
  }
}
