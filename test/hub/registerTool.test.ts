/** An agent opens itself to others over A2A by the tool, and closes itself again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HubProcess } from '../support/hubProcess.ts';
import { McpAgent } from '../support/mcpAgent.ts';

let hub: HubProcess;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

test('register with open gives the address, where the card says what the agent says of itself', async (t) => {
  const [ann, bob] = [await McpAgent.connect(hub, 'ann'), await McpAgent.connect(hub, 'bob')];
  t.after(() => Promise.all([ann.close(), bob.close()]));
  const opened = await ann.ok('register', { open: true, about: 'keeps shop', skills: ['REST APIs'] });
  assert.deepEqual([opened.you.open, opened.you.skills], [true, ['REST APIs']]);
  assert.match((await ann.call('register', {})).text, /over A2A at http:\/\/127\.0\.0\.1:\d+\/a2a\/ann\//);
  const card = (): Promise<Response> =>
    fetch(new URL('.well-known/agent-card.json', opened.card_url as string), {
      headers: { authorization: `Bearer ${bob.token}` },
    });
  const told = (await (await card()).json()) as { description: string; skills: { name: string }[] };
  assert.match(told.description, /keeps shop/);
  assert.deepEqual(
    told.skills.map(({ name }) => name),
    ['REST APIs'],
  );
  assert.match((await bob.call('agents', { query: 'ann' })).text, /skills: "REST APIs"; open to A2A/);

  const closed = await ann.ok('register', { open: false });
  assert.deepEqual([closed.you.open, closed.card_url], [undefined, undefined]);
  assert.equal((await card()).status, 404);
  assert.doesNotMatch((await bob.call('agents', { query: 'ann' })).text, /open to A2A/);
});
