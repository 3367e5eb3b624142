/** An agent elsewhere takes its time; the hub is killed meanwhile; the answer wakes the chat that had asked for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeWindow } from '../support/fakeWindow.ts';
import { RemoteAgent } from '../support/a2a/remoteAgent.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;

before(async () => {
  hub = await HubProcess.start({ settings: { a2a: { pollSeconds: 0.05, pollAtMostSeconds: 0.2 } } });
});
after(() => hub.dispose());

for (const streaming of [false, true]) {
  test(`over ${streaming ? 'a stream' : 'polling'}`, async (t) => {
    const agent = await RemoteAgent.start({ streaming });
    t.after(() => agent.stop());
    const window = await FakeWindow.open(hub, { workspace: `/projects/shop-${streaming}` });
    await window.hook('c', 'prompt', { prompt: 'ask the analyst' });
    const sent = await window.client.call('send', {
      to: agent.url,
      text: 'work on the figures of the year',
      kind: 'request',
      wait_seconds: 1,
    });
    assert.equal(sent.data.request, 'pending');
    await window.hook('c', 'stop');
    await until('it works', () => agent.isAtWork('work on the figures of the year'));

    await hub.kill();
    agent.finish('work on the figures of the year', 'up by a third');
    await hub.start();
    const wake = await window.woken();
    assert.match(wake.prompt, /^Answer from [a-z0-9-]+ via Agent Bus\n/);
    assert.match(wake.prompt, /\nup by a third\n/);
    await window.ran();
    const { data } = await window.client.call('status', { id: sent.data.id });
    assert.equal(data.request?.state, 'answered');
    assert.equal(agent.heard.length, 1, 'it was asked once');
    assert.equal(window.wakes.length, 1);
    assert.equal(window.asks.length, 0, 'who has asked has agreed to be answered');
    window.close();
  });
}
