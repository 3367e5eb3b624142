/** A real Gemini CLI in a real terminal of a real VS Code, woken by a line that the window types; only the model is scripted. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import { asks, askingLaunch, askingStep } from '../support/agents/asking.ts';
import { gemini } from '../support/agents/products/gemini.ts';
import { recordReach } from '../support/agents/reachTable.ts';
import { EditorServer } from '../support/editor/editorServer.ts';
import { editorPatienceMs, skipWithoutEditor } from '../support/editor/editorTools.ts';
import { PersonOnBus } from '../support/editor/personOnBus.ts';
import { TerminalView } from '../support/editor/terminalView.ts';
import { until } from '../support/hubProcess.ts';

const limits = { timeout: 600_000 };
const agent = 'shop-api-gemini';
const draft = 'half a draft';
describe('an agent in a terminal of VS Code', { skip: skipWithoutEditor }, () => {
  test('is woken by a typed line, if it may be, and never beside a draft or a question', limits, async (t) => {
    const room = await AgentRoom.open(t);
    // In VS Code it offers its extension and a set-up of keys, once each: the person has said no.
    gemini.configure(room, { settings: { ide: { hasSeenNudge: true } } });
    room.write('.gemini/state.json', { terminalSetupPromptShown: true });
    await room.agentBusRun('connect', 'gemini').done();
    alwaysAllowTheBus(room);
    const editor = await EditorServer.start({
      busHome: room.hub.home.folder,
      settings: { 'terminal.integrated.gpuAcceleration': 'off', 'terminal.integrated.stickyScroll.enabled': false },
    });
    t.after(() => editor.dispose());
    const window = await editor.open('shop-web');
    const person = await PersonOnBus.join(room.hub.home.folder);
    t.after(() => person.close());
    const terminal = await TerminalView.open(window, askingLaunch(gemini, room));
    await terminal.shows(gemini.ready);
    await person.whenAgent(agent, 'is there', ({ presence }) => presence === 'idle');
    const reach = async () => (await person.client.request('reach', { agent })).at(0);
    await until('the bus knows its terminal', async () => (await reach())?.typing === false, editorPatienceMs);
    await person.client.request('typing', { agent, on: true });

    let first = '';
    const explain = async (error: unknown): Promise<never> => {
      const { recipients } = await person.status(first);
      throw new Error(`${(error as Error).message}\n${JSON.stringify(recipients)}\n${await terminal.text()}`);
    };

    // Idle and empty: typed, and answered over the bus.
    const { model } = room;
    model.followSteps(() => ({ call: 'send', with: { reply_to: first, text: 'Forty-two.' } }), {
      say: 'The first one is answered.',
    });
    const began = performance.now();
    first = await person.send(agent, 'What is the answer?', { kind: 'request' });
    const heard = await model.hears('What is the answer?', 0, editorPatienceMs).catch(explain);
    assert.match(heard.fresh, /\[Agent Bus\] 1 message waits for you.*wake-/, 'by the typed line');
    await person.whenMessage('the answer', ({ text }) => text === 'Forty-two.').catch(explain);
    const steps = await person.steps(first, agent);
    assert.ok(steps.includes('offered by typing'), steps.join(', '));
    assert.ok(
      steps.some((step) => step.startsWith('shown')),
      steps.join(', '),
    );
    recordReach({
      product: 'gemini',
      state: 'idle',
      route: 'typed line',
      latencyMs: heard.at - began,
      proof: 'the line was typed into its terminal in VS Code, the text was in that turn, and its answer came back',
    });
    await terminal.shows('The first one is answered.');

    // Beside a draft: nothing, and the draft stays. It is the person's next prompt that takes the message along.
    await terminal.type(draft);
    await terminal.shows(draft);
    model.followSteps({ say: 'The second one is read.' });
    const second = await person.send(agent, 'Is there a draft?', { kind: 'request' });
    await until(
      'the receipt says why nothing was typed',
      async () => JSON.stringify(await person.status(second)).includes('something is typed in its prompt'),
      editorPatienceMs,
    );
    await terminal.shows(draft);
    assert.ok(!(await terminal.text()).includes('Is there a draft?'));
    await terminal.press('Enter');
    const taken = await model.hears('Is there a draft?', heard, editorPatienceMs);
    assert.ok(taken.fresh.includes(draft), 'the draft was sent as the person wrote it');
    assert.doesNotMatch(taken.fresh, /\[Agent Bus\] \d+ messages? waits?/);
    await terminal.shows('The second one is read.');
    // Its end is held up once, since the request is not answered: the model is asked again before it is over.
    await until('that turn is over', async () => (await reach())?.state === 'idle', editorPatienceMs);

    // While it asks its person something: nothing; the message comes after the answer.
    model.followSteps(askingStep(gemini), { say: 'It is touched.' }, { say: 'The third one is read.' });
    await terminal.type('Touch a file');
    await terminal.shows('Touch a file');
    await terminal.press('Enter');
    await terminal.shows(asks);
    await person.send(agent, 'Is a question open?', { kind: 'request' });
    await until('the bus sees it at work', async () => (await reach())?.state !== 'idle', editorPatienceMs);
    await terminal.shows(asks);
    assert.ok(!fs.existsSync(join(room.workspace, 'newfile.txt')), 'the person has not answered yet');
    await terminal.press('Enter');
    const last = await model.hears('Is a question open?', taken, editorPatienceMs);
    assert.ok(fs.existsSync(join(room.workspace, 'newfile.txt')), 'what the person was asked was done first');
    assert.doesNotMatch(last.fresh, /\[Agent Bus\] \d+ messages? waits?/);
    assert.deepEqual(model.faults, []);
  });
});

/** What the person chooses when Gemini CLI asks about the first call of a tool of the bus. */
function alwaysAllowTheBus(room: AgentRoom): void {
  const file = join(room.home, '.gemini', 'settings.json');
  const settings = JSON.parse(fs.readFileSync(file, 'utf8')) as { mcpServers: Record<string, object> };
  settings.mcpServers['agent-bus'] = { ...settings.mcpServers['agent-bus'], trust: true };
  fs.writeFileSync(file, JSON.stringify(settings));
}
