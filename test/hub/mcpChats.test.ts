/** Calls over MCP that name the chat they come from: they speak for that chat's agent, and for nobody else's. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { McpCaller, type McpEra } from '../support/mcpCaller.ts';

let hub: HubProcess;
let folders = 0;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

async function open(workspace = `/w/mcp-${++folders}`): Promise<{ window: FakeWindow; token: string }> {
  const window = await FakeWindow.open(hub, { workspace });
  return { window, token: await hub.mint(window.home) };
}

function inChat(token: string, chat: unknown, era: McpEra = 'modern'): McpCaller {
  const caller = new McpCaller(() => hub.record.mcpUrl, token, era);
  caller.meta = { 'vscode.conversationId': chat };
  return caller;
}

async function whoAmI(caller: McpCaller): Promise<string> {
  return ((await caller.call('agents', {})).structured['you'] as { name: string }).name;
}

for (const era of ['legacy', 'modern'] as const) {
  describe(`a call of the ${era} protocol that names its chat`, () => {
    test('speaks for that chat’s agent', async () => {
      const { window, token } = await open();
      assert.equal(await whoAmI(new McpCaller(() => hub.record.mcpUrl, token, era)), window.home);
      const chat = (name: string): McpCaller => inChat(token, window.prefix + name, era);
      assert.equal(await whoAmI(chat('one')), window.home);
      assert.equal(await whoAmI(chat('two')), `${window.home}-2`);
      assert.equal(await window.agentOf('two'), `${window.home}-2`, 'hooks and calls agree');
      const [ann] = await hub.strangers(1);
      await chat('two').call('send', { to: ann.agent, text: 'from two' });
      assert.equal((await ann.call('inbox', {})).data.messages[0]?.from, `${window.home}-2`);
      const { id } = (await ann.call('send', { to: `${window.home}-2`, text: 'for two' })).data;
      assert.doesNotMatch((await chat('one').call('agents', {})).text, /for two/);
      assert.match((await chat('two').call('agents', {})).text, /for two/, 'its news');
      const shown = async (): Promise<boolean> =>
        (await ann.call('status', { id })).data.recipients[0]?.step === 'shown';
      await until('it is shown', shown);
      window.close();
    });
  });
}

describe('a call that names a chat', () => {
  test('proves that its tool runs and waits for no approval', async () => {
    const { window, token } = await open();
    const chat = inChat(token, `${window.prefix}c`);
    await window.hook('c', 'prompt', { prompt: 'wait for mail' });
    await window.hook('c', 'before-tool', { tool: 'mcp_agent_bus_inbox', toolUse: '1' });
    const waiting = chat.call('inbox', { wait_seconds: 5 });
    const person = await hub.client();
    const look = async () => (await person.call('agents', { query: window.home })).data.agents[0];
    const seen = await until('it is told', async () => {
      const now = await look();
      return now?.doing ? now : undefined;
    });
    assert.equal(seen.doing, 'mcp_agent_bus_inbox runs');
    await person.call('send', { to: window.home, text: 'mail' });
    await waiting;
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: '2' });
    await until('it waits', async () => (await look())?.doing === 'run_in_terminal runs or waits for your approval');
    window.close();
  });

  test('is never taken for an agent of another workspace', async () => {
    const [one, two] = [await open(), await open()];
    await one.window.hook('secret', 'prompt', { prompt: 'hi' });
    const chat = `${one.window.prefix}secret`;
    assert.equal(await whoAmI(inChat(one.token, chat)), one.window.home);
    assert.equal(await whoAmI(inChat(two.token, chat)), two.window.home);
    const stranger = await hub.mint('stranger');
    assert.equal(await whoAmI(inChat(stranger, chat)), 'stranger');
    assert.equal(await whoAmI(inChat(stranger, 'a chat of its own')), 'stranger');
    const [ann] = await hub.strangers(1);
    const { id } = (await ann.call('send', { to: one.window.home, text: 'for one only', kind: 'request' })).data;
    const read = await inChat(two.token, chat).call('conversation', { id });
    assert.equal(read.isError, true);
    assert.match(read.text, /^unknown-message/);
    one.window.close();
    two.window.close();
  });

  test('is taken for its window’s, of two in one folder', async () => {
    const first = await open();
    const second = await open(first.window.workspace);
    assert.notEqual(first.window.home, second.window.home);
    assert.equal(await whoAmI(inChat(second.token, 'two-1')), second.window.home);
    assert.equal(await whoAmI(inChat(first.token, 'one-1')), first.window.home);
    assert.equal(await whoAmI(inChat(first.token, 'two-1')), second.window.home, 'a known chat stays who it is');
    first.window.close();
    second.window.close();
  });

  test('with anything but a short text for a name speaks for its token', async () => {
    const { window, token } = await open();
    for (const chat of ['', 'x'.repeat(201), 7, null, { id: 'x' }, ['x']])
      assert.equal(await whoAmI(inChat(token, chat)), window.home);
    assert.equal(await whoAmI(inChat(token, 'x'.repeat(200))), window.home);
    assert.equal(await whoAmI(inChat(token, 'y'.repeat(200))), `${window.home}-2`);
    window.close();
  });
});
