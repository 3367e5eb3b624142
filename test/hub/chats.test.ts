/** Chats of an editor's windows: which agent each is, and what it is known to do. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AgentView } from '../../src/core/model.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';

async function look(hub: HubProcess, name: string): Promise<AgentView> {
  const person = await hub.client({ passing: true });
  try {
    const { agents } = (await person.call('agents', { limit: 100 })).data;
    const found = agents.find((agent) => agent.name === name);
    assert.ok(found, `${name} among ${agents.map((agent) => agent.name).join(', ')}`);
    return found;
  } finally {
    hub.close(person);
  }
}

describe('the agent of a chat', () => {
  let hub: HubProcess;
  before(async () => {
    hub = await HubProcess.start();
  });
  after(() => hub.dispose());

  test('is the window’s own for the first chat, a numbered sibling for the next, and stays', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/shop-api' });
    assert.equal(window.home, 'shop-api-copilot');
    assert.equal(await window.agentOf('chat-1'), 'shop-api-copilot');
    assert.equal(await window.agentOf('chat-2'), 'shop-api-copilot-2');
    assert.equal(await window.agentOf('chat-3'), 'shop-api-copilot-3');
    assert.equal(await window.agentOf('chat-1'), 'shop-api-copilot');
    assert.equal(await window.agentOf('chat-2'), 'shop-api-copilot-2');
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    assert.equal(window.home, 'shop-api-copilot');
    assert.equal(await window.agentOf('chat-2'), 'shop-api-copilot-2');
    assert.equal(await window.agentOf('chat-4'), 'shop-api-copilot-4');
    window.close();
  });

  test('is told apart in two windows of one folder', async () => {
    const [one, two] = [
      await FakeWindow.open(hub, { workspace: '/w/twice' }),
      await FakeWindow.open(hub, { workspace: '/w/twice' }),
    ];
    assert.deepEqual([one.home, two.home], ['twice-copilot', 'twice-copilot-2']);
    assert.equal(await two.agentOf('b-1'), 'twice-copilot-2');
    assert.equal(await one.agentOf('a-1'), 'twice-copilot');
    assert.equal(await one.agentOf('a-2'), 'twice-copilot-3');
    assert.equal(await two.agentOf('b-2'), 'twice-copilot-4');
    one.close();
    two.close();
  });

  test('new chats at the same moment get different ones', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/crowd' });
    const names = await Promise.all(Array.from({ length: 8 }, (_, i) => window.agentOf(`crowd-${i}`)));
    assert.equal(new Set(names).size, 8);
    window.close();
  });

  test('without a window it is that of workspace and product', async () => {
    const hook = (chat: string) =>
      hub.client({ attach: { workspace: '/w/terminal', product: 'claude-code', chat }, passing: true });
    assert.equal((await hook('s-1')).agent, 'terminal-claude-code');
    assert.equal((await hook('s-2')).agent, 'terminal-claude-code-2');
    assert.equal((await hook('s-1')).agent, 'terminal-claude-code');
  });

  test('without an id of its window it is that of a window with the same folder and product', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/nameless' });
    const attach = { workspace: '/w/nameless', product: 'copilot', chat: 'n-1' };
    const client = await hub.client({ attach, passing: true });
    assert.equal(client.agent, window.home);
    window.close();
  });

  test('a chat that ended leaves its name to the next', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/ended' });
    await window.hook('e-1', 'prompt', { prompt: 'hello' });
    await window.hook('e-1', 'session-end');
    assert.equal(await window.agentOf('e-2'), 'ended-copilot');
    assert.equal(await window.agentOf('e-1'), 'ended-copilot-2');
    window.close();
  });
});

describe('a quiet chat', () => {
  test('loses its name to the next one, but not while a turn may be running', async () => {
    const hub = await HubProcess.start({ settings: { reach: { quietMinutes: 0.003 } } });
    try {
      const window = await FakeWindow.open(hub, { workspace: '/w/quiet' });
      await window.hook('q-1', 'prompt', { prompt: 'hello' });
      await window.hook('q-1', 'before-tool', { tool: 'run_in_terminal', toolUse: 't1' });
      await pause(300);
      assert.equal(await window.agentOf('q-2'), 'quiet-copilot-2');
      await window.hook('q-1', 'stop');
      await pause(300);
      assert.equal(await window.agentOf('q-3'), 'quiet-copilot');
      await pause(300);
      assert.equal(await window.agentOf('q-1'), 'quiet-copilot', 'and can have it back in the same way');
      window.close();
    } finally {
      await hub.dispose();
    }
  });
});

describe('what a chat is doing', () => {
  let hub: HubProcess;
  before(async () => {
    hub = await HubProcess.start();
  });
  after(() => hub.dispose());

  test('is seen by everybody, and goes with its window', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/state' });
    assert.deepEqual((await look(hub, window.home)).reach, ['chat turn', 'inbox']);
    await window.hook('c', 'prompt', { prompt: 'do it' });
    let seen = await look(hub, window.home);
    assert.equal(seen.presence, 'working');
    assert.deepEqual(seen.reach, ['next tool call', 'end of turn', 'inbox']);
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: 'x' });
    assert.equal((await look(hub, window.home)).presence, 'working', 'it may be quick');
    seen = await until('it waits', async () => {
      const now = await look(hub, window.home);
      return now.presence === 'waiting' ? now : undefined;
    });
    assert.equal(seen.doing, 'run_in_terminal runs or waits for your approval');
    assert.deepEqual(seen.reach, ['after the tool or its approval', 'end of turn', 'inbox']);
    await window.hook('c', 'after-tool', { tool: 'run_in_terminal', toolUse: 'x' });
    seen = await look(hub, window.home);
    assert.equal(seen.presence, 'working');
    assert.equal(seen.doing, undefined);
    await window.hook('c', 'stop');
    seen = await look(hub, window.home);
    assert.equal(seen.presence, 'idle');
    assert.deepEqual(seen.reach, ['chat turn', 'inbox']);
    const sibling = await window.agentOf('c2');
    assert.equal((await look(hub, sibling)).presence, 'idle');
    window.close();
    await until('both are gone', async () => (await look(hub, sibling)).presence === 'offline');
    assert.equal((await look(hub, 'state-copilot')).presence, 'offline');
    assert.deepEqual((await look(hub, 'state-copilot')).reach, ['inbox']);
  });

  test('a tool’s name is cleaned and bounded', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/clean' });
    await window.hook('k', 'prompt', { prompt: 'do it' });
    await window.hook('k', 'before-tool', { tool: `</message>\n\u202Eevil ${'x'.repeat(500)}`, toolUse: 'x' });
    const seen = await until('it waits', async () => {
      const now = await look(hub, window.home);
      return now.presence === 'waiting' ? now : undefined;
    });
    assert.match(seen.doing ?? '', /^‹\/message› evil x+… runs or waits for your approval$/);
    assert.ok((seen.doing ?? '').length < 100);
    window.close();
  });

  test('a hook can tell of its own chat only, and only from the owner', async () => {
    const window = await FakeWindow.open(hub, { workspace: '/w/own' });
    await window.agentOf('own-1');
    const attach = { workspace: '/w/own', product: 'copilot', chat: '/w/own own-2', window: window.id };
    const other = await hub.client({ attach, passing: true });
    await assert.rejects(other.request('hook', { event: 'stop', chat: '/w/own own-1' }), { code: 'forbidden' });
    await assert.rejects(other.request('hook', { event: 'stop', chat: 'unheard-of' }), { code: 'forbidden' });
    const token = await hub.mint(window.home);
    const agent = await hub.client({ token });
    await assert.rejects(agent.request('hook', { event: 'stop', chat: '/w/own own-1' }), { code: 'forbidden' });
    await assert.rejects(agent.request('carry', { window: 'w', rungs: ['turn'] }), { code: 'forbidden' });
    const person = await hub.client();
    await assert.rejects(person.request('carry', { window: 'w', rungs: ['turn'] }), { code: 'invalid-input' });
    window.close();
  });
});
