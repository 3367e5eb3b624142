/** What hooks take along to a chat's model: news, and at the end of a turn what it owes an answer. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { tokensAtMost } from '../support/tokens.ts';
import { ask } from '../support/requests.ts';

let hub: HubProcess;
let folders = 0;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

/** A chat in the middle of a turn, and somebody of its own workspace. */
async function working(): Promise<{ window: FakeWindow; ann: BusClient }> {
  const workspace = `/w/hooks-${++folders}`;
  const window = await FakeWindow.open(hub, { workspace });
  const ann = await hub.client({ attach: { workspace, product: 'x' }, reconnect: true });
  await window.hook('c', 'prompt', { prompt: 'work' });
  return { window, ann };
}

async function steps(from: BusClient, id: string): Promise<string[]> {
  const { recipients } = (await from.call('status', { id })).data;
  return recipients.flatMap((recipient) => recipient.steps.map(({ step, route }) => `${step} ${route ?? ''}`.trim()));
}

describe('a hook', () => {
  test('at the start tells who you are, and how much is unread', async () => {
    const { window, ann } = await working();
    const { context } = await window.hook('c', 'session-start');
    assert.match(context ?? '', new RegExp(`^You are "${window.home}" on Agent Bus`));
    assert.match(context ?? '', /Answer what is asked of you with its tool send \(reply_to and text\)/);
    assert.ok(tokensAtMost(context ?? '') < 150);
    assert.doesNotMatch(context ?? '', /unread/);
    await ann.call('send', { to: window.home, text: 'psst' });
    const second = await window.hook('c', 'session-start');
    assert.match(second.context ?? '', /1 unread: call its tool inbox\.$/);
    assert.equal(second.context?.split('\n').length, 1);
    window.close();
  });

  test('carries what is new once, whole, fenced, and it is shown when the tool that took it along has ended', async () => {
    const { window, ann } = await working();
    const id = (await ann.call('send', { to: window.home, text: 'main is </message> frozen' })).data.id;
    const { context, shown } = await window.hook('c', 'before-tool', { tool: 'run', toolUse: '1' });
    assert.match(context ?? '', /^New for you:\n[^]*<message id="[^]*\nmain is &lt;\/message> frozen\n<\/message>$/);
    assert.deepEqual(shown, []);
    assert.deepEqual(await steps(ann, id), ['offered hook']);
    assert.equal((await window.hook('c', 'before-tool', { tool: 'run', toolUse: '2' })).context, undefined);
    await window.hook('c', 'after-tool', { tool: 'run', toolUse: '2' });
    assert.deepEqual(await steps(ann, id), ['offered hook'], 'that was another tool');
    assert.equal((await window.hook('c', 'after-tool', { tool: 'run', toolUse: '1' })).context, undefined);
    assert.deepEqual(await steps(ann, id), ['offered hook', 'shown hook']);
    const long = (await ann.call('send', { to: window.home, text: 'x'.repeat(3_000) })).data.id;
    const excerpt = await window.hook('c', 'prompt', { prompt: 'on' });
    assert.match(excerpt.context ?? '', /more characters: conversation/);
    assert.deepEqual(excerpt.shown, []);
    assert.deepEqual(await steps(ann, long), ['offered hook']);
    window.close();
  });

  test('what a tool took along that did not end is news again, also after a restart of the hub', async () => {
    const { window, ann } = await working();
    const id = (await ann.call('send', { to: window.home, text: 'main is frozen' })).data.id;
    assert.ok((await window.hook('c', 'before-tool', { tool: 'run', toolUse: '1' })).context);
    assert.match((await window.hook('c', 'prompt', { prompt: 'never mind' })).context ?? '', /main is frozen/);
    await until('it is shown', async () => (await steps(ann, id)).includes('shown hook'));
    await ann.call('send', { to: window.home, text: 'and thawed' });
    assert.ok((await window.hook('c', 'before-tool', { tool: 'run', toolUse: '2' })).context);
    await pause(150);
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    assert.match((await window.hook('c', 'prompt', { prompt: 'again' })).context ?? '', /and thawed/);
    assert.equal((await window.hook('c', 'prompt', { prompt: 'again' })).context, undefined);
    window.close();
  });

  test('leaves it to our own tools to carry news', async () => {
    const { window, ann } = await working();
    await ann.call('send', { to: window.home, text: 'psst' });
    for (const tool of ['mcp_agent_bus_inbox', 'mcp__agent-bus__send', 'mcp_agent_bus2_agents'])
      assert.equal((await window.hook('c', 'before-tool', { tool, toolUse: tool })).context, undefined, tool);
    assert.ok((await window.hook('c', 'before-tool', { tool: 'mcp_agent_bus_other', toolUse: 'x' })).context);
    window.close();
  });

  test('carries five at most and tells of the rest', async () => {
    const { window, ann } = await working();
    for (let i = 0; i < 7; i++) await ann.call('send', { to: window.home, text: `note ${i}` });
    const { context, shown } = await window.hook('c', 'prompt', { prompt: 'on' });
    assert.equal(shown.length, 5);
    assert.match(context ?? '', /note 4\n<\/message>\n2 more unread: call inbox\.$/);
    window.close();
  });
});

describe('urgent messages', () => {
  const noted = (text: string | undefined): string[] =>
    [...(text ?? '').matchAll(/^(?:note|alarm) \d+$/gm)].map(([line]) => line);

  test('come first at the next tool, past all that waits before them, and nothing is lost or told twice', async () => {
    const { window, ann } = await working();
    const say = (text: string, priority: 'normal' | 'urgent') =>
      ann.call('send', { to: window.home, text, priority, kind: 'inform' });
    for (let i = 0; i < 7; i++) await say(`note ${i}`, 'normal');
    await say('alarm 1', 'urgent');
    await say('note 7', 'normal');
    await say('alarm 2', 'urgent');
    let tools = 0;
    const atTool = async (): Promise<string[]> => {
      const toolUse = String(++tools);
      const { context } = await window.hook('c', 'before-tool', { tool: 'run', toolUse });
      await window.hook('c', 'after-tool', { tool: 'run', toolUse });
      return noted(context);
    };
    assert.deepEqual(await atTool(), ['alarm 1', 'alarm 2', 'note 0', 'note 1', 'note 2']);
    await say('alarm 3', 'urgent');
    assert.deepEqual(await atTool(), ['alarm 3', 'note 3', 'note 4', 'note 5', 'note 6']);
    assert.deepEqual(await atTool(), ['note 7']);
    assert.deepEqual(await atTool(), []);
    window.close();
  });

  test('that were on a tool which did not end come again, first', async () => {
    const { window, ann } = await working();
    for (let i = 0; i < 6; i++) await ann.call('send', { to: window.home, text: `note ${i}` });
    await ann.call('send', { to: window.home, text: 'alarm 1', priority: 'urgent' });
    const lost = await window.hook('c', 'before-tool', { tool: 'run', toolUse: '1' });
    assert.deepEqual(noted(lost.context), ['alarm 1', 'note 0', 'note 1', 'note 2', 'note 3']);
    const again = await window.hook('c', 'prompt', { prompt: 'never mind' });
    assert.deepEqual(noted(again.context), ['alarm 1', 'note 0', 'note 1', 'note 2', 'note 3']);
    const rest = await window.hook('c', 'prompt', { prompt: 'on' });
    assert.deepEqual(noted(rest.context), ['note 4', 'note 5']);
    window.close();
  });
});

describe('the end of a turn', () => {
  test('is held up once, whatever the product says, also by the next hub and for what came meanwhile', async () => {
    const { window, ann } = await working();
    await ask(ann, window.home, 'first question');
    assert.match((await window.hook('c', 'stop')).block ?? '', /first question/);
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    await ask(ann, window.home, 'second question');
    assert.equal((await window.hook('c', 'stop')).block, undefined);
    await window.woken();
    await window.ran();
    assert.match((await window.hook('c', 'stop')).block ?? '', /second question/, 'the next turn is another one');
    assert.equal((await window.hook('c', 'stop')).block, undefined);
    window.close();
  });

  test('is held up once for a request, whether it was shown before or not', async () => {
    const { window, ann } = await working();
    const seen = await ask(ann, window.home, 'seen question');
    await window.hook('c', 'before-tool', { tool: 't', toolUse: '1' });
    await window.hook('c', 'after-tool', { tool: 't', toolUse: '1' });
    assert.deepEqual(await steps(ann, seen), ['offered hook', 'shown hook']);
    const unseen = await ask(ann, window.home, 'unseen question');
    await ann.call('send', { to: window.home, text: 'no question' });
    const { block, shown } = await window.hook('c', 'stop');
    assert.match(block ?? '', /seen question[^]*unseen question|unseen question[^]*seen question/);
    assert.doesNotMatch(block ?? '', /no question/);
    assert.match(block ?? '', /reply_to/);
    assert.deepEqual([...shown].sort(), [seen, unseen].sort());
    await until('it is shown', async () => (await steps(ann, unseen)).includes('shown hook'));
    const later = await ask(ann, window.home, 'late question');
    assert.equal(
      (await window.hook('c', 'stop')).block,
      undefined,
      'once per turn, even if the product forgets to say',
    );
    assert.deepEqual((await window.woken()).ids, [later]);
    await window.ran();
    assert.match((await window.hook('c', 'stop')).block ?? '', /late question/);
    await hub.kill();
    await hub.start();
    await until('it carries again', () => window.carried === 2);
    assert.equal((await window.hook('c', 'stop', { again: true })).block, undefined);
    await window.hook('c', 'prompt', { prompt: 'next' });
    assert.equal((await window.hook('c', 'stop')).block, undefined, 'once per request, even after a restart');
    window.close();
  });

  test('is not held up for what was answered, closed or called blocked', async () => {
    const { window, ann } = await working();
    const answered = await ask(ann, window.home, 'one');
    const done = await ask(ann, window.home, 'two');
    const blocked = await ask(ann, window.home, 'three');
    const cancelled = await ask(ann, window.home, 'four');
    await window.client.call('send', { reply_to: answered, text: 'yes' });
    await window.client.call('ack', { ids: [done], outcome: 'done' });
    await window.client.call('ack', { ids: [blocked], outcome: 'blocked' });
    await ann.call('status', { id: cancelled, cancel: true });
    assert.equal((await window.hook('c', 'stop')).block, undefined);
    await pause(400);
    assert.equal(window.wakes.length, 0);
    window.close();
  });
});
