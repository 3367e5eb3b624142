import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Presence } from '../../src/core/model.ts';
import { Waker, type WakeSurface } from '../../src/extension/window/waker.ts';
import type { WakeParams } from '../../src/protocol/reachMessages.ts';

const params: WakeParams = { wake: 'w1', agent: 'api', chat: 'c1', prompt: 'hello', ids: ['m1'] };

/** An editor that writes down what was done to it. */
function editor(changes: { [Part in keyof WakeSurface]?: Partial<WakeSurface[Part]> } = {}) {
  const done: string[] = [];
  const note =
    (what: string) =>
    (detail = ''): Promise<void> => {
      done.push(detail ? `${what} ${detail}` : what);
      return Promise.resolve();
    };
  let deliver: (() => Promise<boolean>) | undefined;
  const surface: WakeSurface = {
    chat: {
      isOpen: () => Promise.resolve(true),
      bringToFront: note('front'),
      submit: note('submit'),
      fillInput: note('fill'),
      focusEditor: note('focus'),
      ...changes.chat,
    },
    person: { isInEditor: false, quiet: () => Promise.resolve(true), ...changes.person },
    presence: (changes.presence as WakeSurface['presence'] | undefined) ?? (() => Promise.resolve('idle')),
    isAsking: (changes.isAsking as WakeSurface['isAsking'] | undefined) ?? (() => false),
    notify: (_params, action) => {
      done.push('notify');
      deliver = action;
    },
    log: () => undefined,
  };
  return { surface, done, click: () => deliver?.() };
}

const inTurn = (...states: Presence[]) => {
  let asked = 0;
  return () => Promise.resolve(states[Math.min(asked++, states.length - 1)] as Presence);
};

describe('waking a chat of this window', () => {
  test('its own chat, to the front, a turn, and the focus back to the editor', async () => {
    const { surface, done } = editor({ person: { isInEditor: true } });
    assert.deepEqual(await new Waker(surface).wake(params), { rung: 'turn' });
    assert.deepEqual(done, ['front c1', 'submit hello', 'focus']);
  });

  test('without a known chat nothing is brought to the front, and focus elsewhere is left alone', async () => {
    const { surface, done } = editor();
    const { chat: _, ...open } = params;
    await new Waker(surface).wake(open);
    assert.deepEqual(done, ['submit hello']);
  });

  test('a chat that became busy meanwhile is not touched', async () => {
    const { surface, done } = editor({ presence: inTurn('idle', 'working') });
    const { rung, note } = await new Waker(surface).wake(params);
    assert.equal(rung, 'none');
    assert.match(note ?? '', /busy/);
    assert.deepEqual(done, []);
  });

  test('busy is asked again after the chat was opened', async () => {
    const { surface, done } = editor({ presence: inTurn('idle', 'idle', 'waiting') });
    assert.equal((await new Waker(surface).wake(params)).rung, 'none');
    assert.deepEqual(done, ['front c1']);
  });

  test('nothing is submitted while any chat of the window is seen to ask its person', async () => {
    const { surface, done } = editor({ isAsking: () => true });
    assert.equal((await new Waker(surface).wake(params)).rung, 'none');
    assert.deepEqual(done, []);
  });

  test('a turn that was cancelled looks like work and is none; a question to the person is one', async () => {
    const cancelled = editor({ presence: inTurn('working') });
    assert.equal((await new Waker(cancelled.surface).wake(params)).rung, 'turn');
    const asked = editor({ presence: inTurn('working', 'waiting') });
    assert.equal((await new Waker(asked.surface).wake(params)).rung, 'none');
  });

  test('a refused turn is put into an input; where that is refused, too, a notification is left', async () => {
    const submit = () => Promise.reject(new Error('no model'));
    const filled = editor({ chat: { submit } });
    assert.deepEqual(await new Waker(filled.surface).wake(params), { rung: 'input', note: 'turn: no model' });
    assert.deepEqual(filled.done, ['front c1', 'fill hello']);

    const refused = editor({ chat: { submit, fillInput: () => Promise.reject(new Error('no chat')) } });
    const note = 'turn: no model; input: no chat';
    assert.deepEqual(await new Waker(refused.surface).wake(params), { rung: 'notification', note });
    assert.deepEqual(refused.done, ['front c1', 'notify']);
    await assert.rejects(async () => refused.click());
  });

  test('somebody who types without a pause is not interrupted', async () => {
    const waits: number[] = [];
    const { surface, done } = editor({
      person: {
        quiet: (_quiet, patience) => {
          waits.push(patience);
          return Promise.resolve(false);
        },
      },
    });
    assert.equal((await new Waker(surface).wake(params)).rung, 'notification');
    assert.deepEqual(done, ['notify']);
    assert.ok(waits.reduce((sum, one) => sum + one) <= 30_000);
  });

  test('an editor without a chat only notifies, and says so beforehand', async () => {
    const { surface, done } = editor({ chat: { isOpen: () => Promise.resolve(false) } });
    const waker = new Waker(surface);
    assert.deepEqual(await waker.rungs(), ['notification']);
    assert.equal((await waker.wake(params)).rung, 'notification');
    assert.deepEqual(done, ['notify']);
  });

  test('one at a time', async () => {
    let inside = 0;
    let most = 0;
    const { surface } = editor({
      chat: {
        submit: async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 5));
          inside--;
        },
      },
    });
    const waker = new Waker(surface);
    await Promise.all([1, 2, 3].map((n) => waker.wake({ ...params, wake: `w${n}` })));
    assert.equal(most, 1);
  });

  test('a wake that was called off does nothing', async () => {
    const { surface, done } = editor();
    assert.equal((await new Waker(surface).wake(params, AbortSignal.abort())).rung, 'none');
    assert.deepEqual(done, []);
  });
});
