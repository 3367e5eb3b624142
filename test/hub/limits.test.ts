import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BusError } from '../../src/core/errors.ts';
import { HubProcess, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';

const mib = 1_048_576;

describe('the size of a message', () => {
  let hub: HubProcess;
  before(async () => {
    hub = await HubProcess.start();
  });
  after(() => hub.dispose());

  const texts: Record<string, [fits: string, tooLarge: string]> = {
    ASCII: ['a'.repeat(mib), 'a'.repeat(mib + 1)],
    'two bytes a letter': ['é'.repeat(mib / 2), `${'é'.repeat(mib / 2)}a`],
    'three bytes a letter': [`${'猫'.repeat(349_525)}a`, `${'猫'.repeat(349_525)}é`],
    'four bytes a letter': ['🐱'.repeat(mib / 4), `${'🐱'.repeat(mib / 4)}a`],
    'control characters, six bytes each in JSON': ['\u0001'.repeat(mib), '\u0001'.repeat(mib + 1)],
  };

  for (const [what, [fits, tooLarge]] of Object.entries(texts)) {
    test(`is 1 MiB of UTF-8 and not a byte more: ${what}`, async () => {
      const [ann, bob] = await hub.strangers(2);
      await ann.call('send', { to: bob.agent, text: fits });
      await assert.rejects(ann.call('send', { to: bob.agent, text: tooLarge }), { code: 'too-large' });
      const mcp = new McpCaller(() => hub.record.mcpUrl, await hub.mint(ann.agent));
      assert.equal((await mcp.call('send', { to: bob.agent, text: fits })).isError, false);
      const refused = await mcp.call('send', { to: bob.agent, text: tooLarge });
      assert.equal((refused.structured['error'] as { code: string }).code, 'too-large');
      const { messages } = (await bob.call('inbox', { filter: 'all' })).data;
      assert.deepEqual(
        messages.map(({ text }) => text === fits),
        [true, true],
      );
    });
  }

  test('holds for its data, too, and its data comes back as it was', async () => {
    const [ann, bob] = await hub.strangers(2);
    const data = { list: [1, null, 'x'], text: 'y'.repeat(mib - 100), ['__proto__']: 1 };
    await ann.call('send', { to: bob.agent, text: 'with data', data });
    await assert.rejects(ann.call('send', { to: bob.agent, text: 'x', data: 'z'.repeat(mib) }), { code: 'too-large' });
    assert.deepEqual(
      (await bob.call('inbox', {})).data.messages.map((message) => message.data),
      [data],
    );
  });

  test('text of every kind arrives byte for byte', async () => {
    const [ann, bob] = await hub.strangers(2);
    const every = Array.from({ length: 0xd800 }, (_, i) => String.fromCharCode(i)).join('');
    const texts = [
      every,
      'ß 猫 🐱 👩‍👩‍👧 \u202e\u200b\ufeff \u0000\u001b[31m',
      '\r\n\r\nContent-Length: 5\r\n\r\n{}',
      '"\\',
      ' ',
      '\0',
    ];
    for (const text of texts) await ann.call('send', { to: bob.agent, text });
    assert.deepEqual(
      (await bob.call('inbox', {})).data.messages.map(({ text }) => text),
      texts,
    );
    await assert.rejects(ann.call('send', { to: bob.agent, text: 'half \ud83d' }), { code: 'invalid-input' });
    await assert.rejects(ann.call('send', { to: bob.agent, text: '' }), { code: 'invalid-input' });
  });
});

describe('the brakes', () => {
  test('a chain of replies ends at the hop limit; the person starts a new one', async () => {
    const hub = await HubProcess.start({ settings: { limits: { hops: 3 } } });
    try {
      const [ann, bob] = await hub.strangers(2);
      let last = (await ann.call('send', { to: bob.agent, text: 'hop 0' })).data.id;
      for (let hop = 1; hop <= 3; hop++) {
        last = (await (hop % 2 ? bob : ann).call('send', { reply_to: last, text: `hop ${hop}` })).data.id;
      }
      await assert.rejects(ann.call('send', { reply_to: last, text: 'hop 4' }), { code: 'hop-limit' });
      assert.equal((await ann.call('conversation', { with: bob.agent })).data.messages.length, 4);
      const person = await hub.client();
      const goOn = (await person.call('send', { reply_to: last, to: ann.agent, text: 'go on' })).data.id;
      await ann.call('send', { reply_to: goOn, text: 'hop 1 again' });
    } finally {
      await hub.dispose();
    }
  });

  test('a sender that is too fast is stopped, and nobody else', async () => {
    const hub = await HubProcess.start({ settings: { limits: { rateBurst: 5, ratePerSecond: 0.01 } } });
    try {
      const [ann, bob] = await hub.strangers(2);
      for (let i = 0; i < 5; i++) await ann.call('send', { to: bob.agent, text: `${i}` });
      await assert.rejects(ann.call('send', { to: bob.agent, text: '5' }), {
        code: 'rate-limited',
        next: /Wait \d+ s/,
      });
      await bob.call('send', { to: ann.agent, text: 'slow down' });
      assert.equal((await bob.call('inbox', {})).data.messages.length, 5);
    } finally {
      await hub.dispose();
    }
  });

  test('a full mailbox takes nothing more until something is read', async () => {
    const hub = await HubProcess.start({ settings: { limits: { mailbox: 3 } } });
    try {
      const [ann, bob, cy] = await hub.strangers(3);
      for (let i = 0; i < 3; i++) await ann.call('send', { to: bob.agent, text: `${i}` });
      await assert.rejects(ann.call('send', { to: bob.agent, text: '3' }), { code: 'mailbox-full' });
      // All or nobody: the other recipient does not get it either.
      await assert.rejects(ann.call('send', { to: [cy.agent, bob.agent], text: 'both' }), { code: 'mailbox-full' });
      assert.equal((await cy.call('inbox', {})).data.messages.length, 0);
      const { shown } = await bob.call('inbox', { limit: 1 });
      bob.shown(shown);
      const isFull = (error: unknown): boolean => error instanceof BusError && error.code === 'mailbox-full';
      await until('there is room', async () => {
        try {
          return await ann.call('send', { to: bob.agent, text: '4' });
        } catch (error) {
          if (isFull(error)) return undefined;
          throw error;
        }
      });
      await assert.rejects(ann.call('send', { to: bob.agent, text: '5' }), { code: 'mailbox-full' });
    } finally {
      await hub.dispose();
    }
  });
});
