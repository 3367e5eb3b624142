/** Copilot in one window asks Copilot in another: real windows, real Copilot, real hub; only the model is scripted. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RemoteAgent } from '../support/a2a/remoteAgent.ts';
import { EditorServer } from '../support/editor/editorServer.ts';
import { skipWithoutEditor } from '../support/editor/editorTools.ts';
import type { EditorWindow } from '../support/editor/editorWindow.ts';
import { PersonOnBus } from '../support/editor/personOnBus.ts';
import type { Script } from '../support/editor/scriptedModel.ts';
import { hubsOf, until } from '../support/hubProcess.ts';

/** The id of the newest message that stands fenced in a text. */
const idIn = (text: string): string => [...text.matchAll(/<message id="(m[0-9a-z]+)"/g)].at(-1)?.[1] ?? 'none';

describe('Copilot wakes Copilot', { skip: skipWithoutEditor }, () => {
  let editor: EditorServer;
  let web: EditorWindow;
  let api: EditorWindow;
  let person: PersonOnBus;

  before(async () => {
    editor = await EditorServer.start();
    web = await editor.open('shop-web');
    api = await editor.open('shop-api');
    person = await PersonOnBus.join(editor.busHome);
    for (const window of [web, api]) await window.chat.enable();
    for (const name of ['shop-web-copilot', 'shop-api-copilot'])
      await person.whenAgent(name, 'can be woken', canBeWoken);
  });
  after(async () => {
    person?.close();
    await editor?.dispose();
  });

  const asks = (question: string, to = 'shop-api-copilot'): Script => {
    const call = { call: 'send', with: { to: [to], kind: 'request', text: question, wait_seconds: 45 } };
    return ({ results }) => (results.length > 0 ? { say: `I was told: ${results.at(-1)}` } : call);
  };
  const answers = (answer: string): Script => {
    return ({ prompt, results }) =>
      results.length > 0 ? { say: 'Answered.' } : { call: 'send', with: { reply_to: idIn(prompt), text: answer } };
  };

  test('asked for the first time, the person allows it; the idle agent wakes and answers in the same call', async () => {
    editor.model.script(web.folder, asks('What does GET /orders return?'));
    editor.model.script(api.folder, answers('A list: `[{ "id": 1, "total": 9.5 }]`'));
    const turn = web.chat.submit('Ask the API agent what GET /orders returns.');
    const request = await person.whenMessage('the question is stored', ({ text }) => text.includes('GET /orders'));
    assert.equal(request.from, 'shop-web-copilot');
    await until('it is held for the person', async () =>
      (await person.steps(request.id, 'shop-api-copilot')).includes('held'),
    );
    await api.answerToast('wants to wake', 'Always allow');

    assert.ok((await turn).metadata, 'the turn ended by itself');
    const results = editor.model.turnsOf(web.folder).at(-1)?.results ?? [];
    assert.match(results.join('\n'), /total.{1,4}: 9\.5/);
    const steps = await person.steps(request.id, 'shop-api-copilot');
    assert.deepEqual(steps, ['held', 'offered by turn', 'shown by turn', 'replied']);
    assert.equal((await person.status(request.id)).request?.state, 'answered');

    const woken = editor.model.turnsOf(api.folder);
    assert.match(woken[0]?.prompt ?? '', /^Message from shop-web-copilot \(shop-web\) via Agent Bus/);
    assert.equal(woken.filter(({ results: told }) => told.length === 0).length, 1, 'woken once');
    for (const window of [web, api]) {
      const sidebar = await window.sidebar();
      await sidebar.getByRole('option', { name: /shop-api-copilot/ }).click();
      await sidebar.getByText('What does GET /orders return?', { exact: true }).waitFor();
      await sidebar.locator('.md', { hasText: 'A list:' }).waitFor();
      await window.screenshot(`proof-1-${window.name}`);
      await sidebar.getByRole('button', { name: 'Back to the inbox' }).click();
    }
    assert.deepEqual(await api.notifications(), []);
  });

  test('allowed for good, nobody is asked again, a draft stays, and a burst is one turn', async () => {
    await api.chat.draft('a half-written thought');
    editor.model.script(api.folder, ({ prompt, results, text }) => {
      const ids = [...prompt.matchAll(/<message id="(m[0-9a-z]+)"/g)].map((found) => found[1] ?? '');
      const next = ids[results.length];
      return next === undefined
        ? { say: 'All answered.' }
        : { call: 'send', with: { reply_to: next, text: `ok ${text.length > 0}` } };
    });
    const before = editor.model.turnsOf(api.folder).length;
    const sent = await Promise.all(
      ['one?', 'two?', 'three?'].map((text) => person.send('shop-api-copilot', text, { kind: 'request' })),
    );
    for (const id of sent) {
      await until(`${id} is answered`, async () => (await person.status(id)).request?.state === 'answered', 120_000);
    }
    const prompts = new Set(
      editor.model
        .turnsOf(api.folder)
        .slice(before)
        .map(({ prompt }) => prompt),
    );
    assert.equal(prompts.size, 1, [...prompts].join('\n---\n'));
    assert.equal(await api.chat.draftText(), 'a half-written thought');
  });

  test('a busy agent hears by the tool it calls, and an open request keeps its turn going, once', async () => {
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let step = 0;
    let late = '';
    editor.model.script(web.folder, async ({ text, results }) => {
      step++;
      if (step === 1) {
        reached.resolve();
        await goOn.promise;
        return { call: 'agents' };
      }
      if (step === 2) {
        assert.match(results.join('\n'), /the build is green/, 'on the result of the very next call');
        late = await person.send('shop-web-copilot', 'Which port does the page use?', { kind: 'request' });
        return { say: 'I am done.' };
      }
      if (step === 3) {
        assert.match(text, /Before you end: this waits for you/);
        return { call: 'ack', with: { ids: [late], outcome: 'blocked', note: 'will look' } };
      }
      return { say: 'Now I am done.' };
    });
    const turn = web.chat.submit('Work for a while.');
    await reached.promise;
    await person.whenAgent('shop-web-copilot', 'is at work', ({ presence }) => presence === 'working');
    const sidebar = await api.sidebar();
    await sidebar.getByRole('button', { name: /working.*shop-web-copilot/i }).waitFor();
    const news = await person.send('shop-web-copilot', 'By the way: the build is green.');
    goOn.resolve();
    assert.ok((await turn).metadata);
    assert.equal(step, 4, 'kept going exactly once');
    assert.deepEqual(editor.model.faults, []);
    assert.deepEqual(await person.steps(news, 'shop-web-copilot'), ['offered by tool-result', 'shown by tool-result']);
    assert.ok((await person.steps(late, 'shop-web-copilot')).includes('shown by hook'));
    await person.whenAgent('shop-web-copilot', 'is idle again', ({ presence }) => presence === 'idle');
  });

  test('the late answer of an A2A agent wakes the chat that asked, over an end of the hub', async (t) => {
    const analyst = await RemoteAgent.start({ name: 'Analyst', streaming: true });
    t.after(() => analyst.stop());
    await person.client.request('remote', { url: analyst.url });
    const task = 'work on the figures of the year';
    let woken = '';
    editor.model.script(web.folder, ({ prompt, results }) => {
      if (prompt.includes('via Agent Bus')) {
        woken = prompt;
        return { say: 'Thanks, that was it.' };
      }
      const ask = { call: 'send', with: { to: 'analyst', kind: 'request', text: task } };
      return results.length > 0 ? { say: 'I have asked; I go on when the answer is there.' } : ask;
    });
    assert.ok((await web.chat.submit('Ask the analyst for the figures.')).metadata);
    await until('it works on it', () => analyst.isAtWork(task));
    const request = await person.whenMessage('the request is stored', ({ text }) => text === task);
    const [hub] = hubsOf(editor.busHome);
    assert.ok(hub);
    process.kill(hub, 'SIGKILL');
    analyst.finish(task, 'Up by a **third**.');
    await until('the chat goes on', () => woken !== '', 120_000);
    assert.match(woken, /^Answer from analyst via Agent Bus\n/);
    assert.match(woken, /Up by a \*\*third\*\*\./);
    await until('it is answered', async () => (await person.status(request.id)).request?.state === 'answered');
    assert.equal(analyst.heard.length, 1, 'it was asked once');
    const sidebar = await web.sidebar();
    await sidebar.getByRole('option', { name: /analyst/ }).click();
    await sidebar.locator('.md', { hasText: 'Up by a' }).waitFor();
    await web.screenshot('late-answer');
    await sidebar.getByRole('button', { name: 'Back to the inbox' }).click();
    await person.whenAgent('shop-web-copilot', 'is idle again', ({ presence }) => presence === 'idle');
  });

  test('before a message goes to an address, the person is asked', async (t) => {
    const stranger = await RemoteAgent.start({ name: 'Stranger' });
    t.after(() => stranger.stop());
    editor.model.script(web.folder, ({ results }) =>
      results.length > 0
        ? { say: 'Done.' }
        : { call: 'send', with: { to: stranger.url, text: 'do this', wait_seconds: 30 } },
    );
    const turn = await web.chat.submit('Send it there.');
    assert.equal(turn.type, 'confirmation', JSON.stringify(turn));
    assert.equal(stranger.requests.length, 0, 'not even its card was read');
    await web.chat.answer('Allow');
    await until('it is there', () => stranger.heard.length === 1);
    await person.whenAgent('shop-web-copilot', 'is idle again', ({ presence }) => presence === 'idle');
  });

  test('while a tool waits for approval nothing is submitted; afterwards the message arrives', async () => {
    let step = 0;
    editor.model.script(web.folder, ({ text }) => {
      step++;
      if (step === 1) return { call: 'create_file', with: { filePath: '/etc/agent-bus-test', content: 'x' } };
      if (/what time is it/i.test(text) && step < 4) {
        const id = idIn(text);
        return { call: 'send', with: { reply_to: id, text: 'late' } };
      }
      return { say: 'Finished.' };
    });
    const turn = await web.chat.submit('Write a file.');
    assert.equal(turn.type, 'confirmation', JSON.stringify(turn));
    await person.whenAgent('shop-web-copilot', 'waits for approval', ({ presence, doing }) => {
      return presence === 'waiting' && /approval/.test(doing ?? '');
    });
    const sidebar = await api.sidebar();
    await sidebar.getByRole('button', { name: /approval.*shop-web-copilot/i }).waitFor();
    await web.screenshot('proof-3-approval');
    const id = await person.send('shop-web-copilot', 'What time is it?', { kind: 'request' });
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    assert.ok(await web.chat.confirmation(), 'the question to the person is still open');
    assert.deepEqual(
      (await person.steps(id, 'shop-web-copilot')).filter((one) => one !== 'held'),
      [],
    );
    await web.chat.answer('Skip');
    await until('it is answered', async () => (await person.status(id)).request?.state === 'answered', 120_000);
    await person.whenAgent('shop-web-copilot', 'is idle again', ({ presence }) => presence === 'idle');
  });
});

const canBeWoken = ({ reach }: { reach: string[] }): boolean => reach.includes('chat turn');
