import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { HubProcess, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';

let hub: HubProcess;
before(async () => {
  hub = await HubProcess.start();
});
after(() => hub.dispose());

const waitingCalls = async (): Promise<number> => (await hub.status()).connections.waitingCalls;

describe('a call that waits', () => {
  test('is woken by what it waits for, and only by that', async () => {
    const [ann, bob, cy] = await hub.strangers(3);
    const forAnn = bob.call('inbox', { wait_seconds: 40, from: ann.agent });
    const forRequest = bob.call('inbox', { wait_seconds: 40, kind: 'request' });
    await until('both wait', async () => (await waitingCalls()) === 2);
    await cy.call('send', { to: bob.agent, text: 'not what they wait for' });
    await ann.call('send', { to: bob.agent, text: 'from ann' });
    assert.deepEqual(
      (await forAnn).data.messages.map(({ text }) => text),
      ['from ann'],
    );
    assert.equal(await waitingCalls(), 1);
    await cy.call('send', { to: bob.agent, text: 'a request', kind: 'request' });
    assert.deepEqual(
      (await forRequest).data.messages.map(({ text }) => text),
      ['a request'],
    );
    assert.equal(await waitingCalls(), 0);
  });

  test('returns empty-handed after its time, and says so', async () => {
    const [ann] = await hub.strangers(1);
    const { data } = await ann.call('inbox', { wait_seconds: 0.2 });
    assert.deepEqual(data, { messages: [], unread_left: 0, waited: true });
  });

  test('is freed when it is cancelled, and its connection goes on', async () => {
    const [ann] = await hub.strangers(1);
    const cancel = new AbortController();
    const call = ann.call('inbox', { wait_seconds: 40 }, cancel.signal);
    await until('it waits', async () => (await waitingCalls()) === 1);
    cancel.abort();
    await assert.rejects(call, { code: 'cancelled' });
    await until('nobody waits', async () => (await waitingCalls()) === 0);
    await ann.call('agents', {});
  });

  test('is one of a hundred at most for one agent', async () => {
    const [ann, bob] = await hub.strangers(2);
    const calls = Array.from({ length: 100 }, () => ann.call('inbox', { wait_seconds: 40 }));
    await until('all wait', async () => (await waitingCalls()) === 100);
    await assert.rejects(ann.call('inbox', { wait_seconds: 40 }), { code: 'too-many-waits' });
    await bob.call('send', { to: ann.agent, text: 'all of you' });
    for (const call of calls) assert.equal((await call).data.messages.length, 1);
    assert.equal(await waitingCalls(), 0);
  });

  test('ends with the hub, in order', async () => {
    const [ann, bob] = await hub.strangers(2);
    const mcp = new McpCaller(() => hub.record.mcpUrl, await hub.mint(bob.agent));
    const waiting = ann.call('inbox', { wait_seconds: 40 });
    const asking = ann.call('send', { to: bob.agent, text: 'well?', wait_seconds: 40 });
    const overHttp = mcp.call('inbox', { wait_seconds: 40, kind: 'reply' });
    await until('all wait', async () => (await waitingCalls()) === 3);
    await hub.stop();
    assert.deepEqual((await waiting).data, { messages: [], unread_left: 0, waited: true });
    const { request, note } = (await asking).data;
    assert.equal(request, 'pending');
    assert.match(note ?? '', /restart/);
    assert.equal((await overHttp).structured['waited'], true);
    await hub.start();
  });

  // Half over TCP, half over HTTP, by turns in its two eras; whoever vanishes says nothing.
  test('leaves nothing behind when its caller vanishes, 2,000 times', async () => {
    const [ann] = await hub.strangers(1);
    const token = await hub.mint(ann.agent);
    const callers = (['modern', 'legacy'] as const).map((era) => new McpCaller(() => hub.record.mcpUrl, token, era));
    const descriptors = (): number => readdirSync(`/proc/${hub.record.pid}/fd`).length;
    const vanishOverTcp = async (): Promise<void> => {
      const client = await hub.client({ as: ann.agent });
      const call = client.call('inbox', { wait_seconds: 40 });
      await client.call('agents', { limit: 1 });
      hub.close(client);
      await assert.rejects(call, { code: 'hub-unavailable' });
    };
    const vanishOverHttp = async (caller: McpCaller | undefined, id: number): Promise<void> => {
      const hangUp = new AbortController();
      const call = caller?.call('inbox', { wait_seconds: 40 }, hangUp.signal, id);
      setTimeout(() => hangUp.abort(), 2 + (id % 20));
      await assert.rejects(call ?? Promise.resolve());
    };
    const vanish = (i: number): Promise<void> =>
      i % 2 === 0 ? vanishOverTcp() : vanishOverHttp(callers[(i >> 1) % 2], i);
    await Promise.all(Array.from({ length: 20 }, (_, i) => vanish(i)));
    await until('nobody waits', async () => (await waitingCalls()) === 0);
    const before = descriptors();
    for (let round = 1; round < 100; round++)
      await Promise.all(Array.from({ length: 20 }, (_, i) => vanish(20 * round + i)));
    await until('nobody waits', async () => (await waitingCalls()) === 0);
    await until('every descriptor is given back', () => descriptors() <= before + 5);
    assert.equal((await hub.status()).connections.rpc, 2, 'ann and whoever asks');
    const id = (await (await hub.client()).call('send', { to: ann.agent, text: 'still for you' })).data.id;
    assert.deepEqual(
      (await ann.call('inbox', {})).data.messages.map((message) => message.id),
      [id],
    );
  });
});

describe('100 clients with the same JSON-RPC ids', () => {
  test('each get their own answers, over TCP and over HTTP', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `same-${i}`);
    const clients = await hub.agents(names);
    const tokens: string[] = [];
    for (const name of names) tokens.push(await hub.mint(name));
    const person = await hub.client();
    // Every connection counts its requests from one, and every HTTP call here says 7.
    const overHttp = names.map((name, i) =>
      new McpCaller(() => hub.record.mcpUrl, tokens[i] ?? '', i % 2 === 0 ? 'modern' : 'legacy').call(
        'inbox',
        { wait_seconds: 40, kind: 'request' },
        undefined,
        7,
      ),
    );
    const overTcp = clients.map((client) => client.call('inbox', { wait_seconds: 40, kind: 'inform' }));
    await until('all wait', async () => (await waitingCalls()) === 200);
    await Promise.all(
      names.flatMap((name) => [
        person.call('send', { to: name, text: `inform for ${name}` }),
        person.call('send', { to: name, text: `request for ${name}`, kind: 'request' }),
      ]),
    );
    for (const [i, name] of names.entries()) {
      assert.deepEqual(
        (await overTcp[i])?.data.messages.map(({ text }) => text),
        [`inform for ${name}`],
      );
      const structured: Record<string, unknown> = (await overHttp[i])?.structured ?? {};
      const [message] = structured['messages'] as { text: string }[];
      assert.match(message?.text ?? '', new RegExp(`\nrequest for ${name}\n`));
    }
  });
});
