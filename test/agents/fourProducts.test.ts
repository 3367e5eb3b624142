/**
 * One conversation over four real products on one bus: Claude Code asks Codex, Codex asks Gemini CLI, and Copilot in VS
 * Code gets the result. All of them are idle; nothing but the bus puts anything in front of them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { AgentSession } from '../support/agents/agentSession.ts';
import { claude } from '../support/agents/products/claude.ts';
import { codex } from '../support/agents/products/codex.ts';
import { gemini } from '../support/agents/products/gemini.ts';
import { recordConversation, recordReach } from '../support/agents/reachTable.ts';
import { role } from '../support/agents/role.ts';
import { EditorServer } from '../support/editor/editorServer.ts';
import { editorPatienceMs, skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { PersonOnBus } from '../support/editor/personOnBus.ts';
import { until } from '../support/hubProcess.ts';

const names = {
  claude: 'shop-api-claude',
  codex: 'shop-api-codex',
  gemini: 'shop-data-gemini',
  copilot: 'shop-web-copilot',
};
const texts = {
  task: 'Find out what GET /orders returns and tell the page.',
  claudeAsks: 'What does GET /orders return',
  codexAsks: 'Which columns has the table of orders',
  geminiSays: 'id and total',
  codexSays: 'A list of id and total',
  claudeTells: 'GET /orders returns a list of id and total. Can the page show that',
  copilotSays: 'Yes, it shows both',
  claudeSays: 'The page knows it now',
};

test('one conversation over four products', { skip: skipWithoutEditor, timeout: 600_000 }, async (t) => {
  const api = await AgentRoom.open(t);
  const beside = await api.beside();
  const data = await api.beside('shop-data');
  const editor = await EditorServer.start({ busHome: api.hub.home.folder, env: { HOME: api.home } });
  t.after(() => editor.dispose());
  const person = await PersonOnBus.join(api.hub.home.folder);
  t.after(() => person.close());

  // What each model does, when it hears what.
  const ask = (to: string, text: string) => ({ call: 'send', with: { to: [to], text, kind: 'request' } });
  const reply = (id: string, text: string) => ({ call: 'send', with: { reply_to: id, text } });
  let task = '';
  api.model.follow(
    role({
      cues: [
        {
          hears: texts.task,
          does: (id) => {
            task = id;
            return [ask(names.codex, texts.claudeAsks)];
          },
        },
        { hears: texts.codexSays, does: () => [ask(names.copilot, texts.claudeTells)] },
        { hears: texts.copilotSays, does: () => [reply(task, texts.claudeSays)] },
      ],
    }),
  );
  let question = '';
  beside.model.follow(
    role({
      cues: [
        {
          hears: texts.claudeAsks,
          does: (id) => {
            question = id;
            return [ask(names.gemini, texts.codexAsks)];
          },
        },
        { hears: texts.geminiSays, does: () => [reply(question, texts.codexSays)] },
      ],
    }),
  );
  data.model.follow(
    role({
      cues: [{ hears: texts.codexAsks, does: (id) => [reply(id, texts.geminiSays)] }],
      background: (command) => ({
        call: 'run_shell_command',
        with: { command, description: 'wait for mail', is_background: true },
      }),
    }),
  );

  // Four sessions that have had a turn and wait for their person.
  const web = await editor.open('shop-web');
  await web.chat.enable();
  editor.model.script(web.folder, ({ prompt, results }) => {
    const id = /<message id="(m[0-9a-z]+)"/.exec(prompt)?.[1];
    if (id === undefined || results.length > 0) return { say: 'Fine.' };
    return { call: 'send', with: { reply_to: id, text: texts.copilotSays } };
  });
  for (const [product, room, options] of [
    [claude, api, []],
    [codex, beside, []],
    [gemini, data, ['--experimental']],
  ] as const) {
    const session = await AgentSession.open(product, room, {}, options);
    await session.ask('Good morning.');
  }
  const routes: Record<string, string> = {};
  for (const name of Object.values(names)) {
    const agent = await person.whenAgent(name, 'is idle and can be woken', ({ presence, reach }) => {
      return presence === 'idle' && reach.length > 1 && !['next tool call', 'its next turn'].includes(reach[0] ?? '');
    });
    routes[name] = agent.reach[0] ?? '';
  }

  // The person says one thing to one of them, and allows what goes over the border of a workspace.
  await person.send(names.claude, texts.task, { kind: 'request' });
  for (const [text, to] of [
    [texts.codexAsks, names.gemini],
    [texts.claudeTells, names.copilot],
  ] as const) {
    const asked = await person.whenMessage(`"${text}" is sent`, (message) => message.text === text);
    await until('it waits for the person', async () => (await person.steps(asked.id, to)).includes('held'));
    if (to === names.gemini) await api.agentBusRun('allow', asked.id).done();
    else await web.answerToast(`wants to wake ${names.copilot}`, 'Always allow');
  }
  await person.whenMessage('the person has the answer', ({ text }) => text === texts.claudeSays);
  for (const room of [api, beside, data]) assert.deepEqual(room.model.faults, []);
  assert.deepEqual(editor.model.faults, []);

  // Who said what to whom, and how each has come to hear it, as the bus tells it.
  const story = await person.everything();
  const told = story.map(({ from, to, text }) => `${from} → ${to.join(', ')}: ${text}`);
  assert.deepEqual(told, [
    `person → ${names.claude}: ${texts.task}`,
    `${names.claude} → ${names.codex}: ${texts.claudeAsks}`,
    `${names.codex} → ${names.gemini}: ${texts.codexAsks}`,
    `${names.gemini} → ${names.codex}: ${texts.geminiSays}`,
    `${names.codex} → ${names.claude}: ${texts.codexSays}`,
    `${names.claude} → ${names.copilot}: ${texts.claudeTells}`,
    `${names.copilot} → ${names.claude}: ${texts.copilotSays}`,
    `${names.claude} → person: ${texts.claudeSays}`,
  ]);
  for (const { id, to, from, text } of story) {
    const [reader = ''] = to;
    if (reader === 'person') continue;
    const steps = await person.steps(id, reader);
    assert.ok(steps.includes('offered by turn'), `"${text}" started a turn of ${reader}: ${steps.join(', ')}`);
    const shown = steps.find((step) => step.startsWith('shown'));
    assert.ok(shown, `${reader} was shown "${text}": ${steps.join(', ')}`);
    recordConversation({ from, to: reader, text, route: routes[reader] ?? '', steps });
  }
  await web.sidebar();
  await web.screenshot('four-products');
  await livesThroughATurn(editor, web, person);
  await isWoken(editor, web, person);
});

/** As the other products do in hooks.test.ts; what VS Code does in detail has tests of its own. */
async function livesThroughATurn(editor: EditorServer, web: EditorWindow, person: PersonOnBus): Promise<void> {
  const sent = { news: NaN, question: NaN };
  let step = 0;
  editor.model.script(web.folder, async ({ text, results }) => {
    step++;
    if (step === 1) {
      sent.news = performance.now();
      await person.send(names.copilot, 'The build is red.');
      return { call: 'agents' };
    }
    if (step === 2) {
      assert.match(results.join('\n'), /The build is red/, 'with the result of the tool');
      seen('busy', 'tool result', sent.news, 'the text was in the next request of the model, with the tool’s result');
      sent.question = performance.now();
      await person.send(names.copilot, 'Which branch is yours', { kind: 'request' });
      return { say: 'I am through.' };
    }
    if (step === 3) {
      assert.match(text, /Which branch is yours/);
      seen(
        'at the end of a turn',
        'hook',
        sent.question,
        'the text was in a request of the model before the turn ended',
      );
    }
    return { say: 'I do not answer.' };
  });
  assert.ok((await web.chat.submit('Work for a while.')).metadata);
  assert.equal(step, 3, 'it was held up once');
  assert.deepEqual(editor.model.faults, []);
}

async function isWoken(editor: EditorServer, web: EditorWindow, person: PersonOnBus): Promise<void> {
  for (const round of [1, 2, 3]) {
    await person.whenAgent(names.copilot, 'is idle', ({ presence }) => presence === 'idle');
    const heard = Promise.withResolvers<number>();
    const text = `Question ${round}: are you awake`;
    editor.model.script(web.folder, ({ prompt, results }) => {
      if (!prompt.includes(text)) return { say: 'Fine.' };
      heard.resolve(performance.now());
      const id = /<message id="(m[0-9a-z]+)"/.exec(prompt)?.[1];
      return results.length > 0 ? { say: 'Answered.' } : { call: 'send', with: { reply_to: id, text: 'Yes' } };
    });
    const began = performance.now();
    const id = await person.send(names.copilot, text, { kind: 'request' });
    await heard.promise;
    await until(
      'it is answered',
      async () => (await person.status(id)).request?.state === 'answered',
      editorPatienceMs,
    );
    const proof = `offered by a chat turn; ${(await person.steps(id, names.copilot))[1]} before its answer came back`;
    recordReach({
      product: 'vscode',
      state: 'idle',
      route: 'chat turn',
      latencyMs: (await heard.promise) - began,
      proof,
    });
  }
}

function seen(state: 'busy' | 'at the end of a turn', route: string, sentAt: number, proof: string): void {
  recordReach({ product: 'vscode', state, route, latencyMs: performance.now() - sentAt, proof });
}
