import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { storedMessages } from '../support/checker.ts';
import { HubProcess, hubsOf, pause, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

/** So short that the hub leaves the first time it looks. */
const atOnce = 0.000_01;

describe('the hub leaves when nobody needs it', { concurrency: 4 }, () => {
  test('in order: exit code 0, no record, nothing in the log of the database', async () => {
    const hub = new HubProcess({ settings: { idleMinutes: atOnce } });
    try {
      const child = hub.spawn();
      const [code] = (await once(child, 'exit')) as [number];
      assert.equal(code, 0, hub.output);
      assert.equal(existsSync(hub.home.record), false);
      assert.equal(existsSync(`${hub.home.database}-wal`), false);
    } finally {
      await hub.dispose();
    }
  });

  test('but not while a client is connected', async () => {
    const hub = await HubProcess.start({ settings: { idleMinutes: atOnce } });
    try {
      const client = await hub.client();
      await pause(11_000);
      assert.ok(hub.running);
      await client.call('agents', {});
      const exited = once(hub.child!, 'exit');
      hub.close(client);
      assert.equal(((await exited) as [number])[0], 0);
    } finally {
      await hub.dispose();
    }
  });

  test('and not while a call waits over HTTP', async () => {
    const hub = await HubProcess.start({ settings: { idleMinutes: atOnce } });
    try {
      const mcp = new McpCaller(() => hub.record.mcpUrl, await hub.mint('waiter'));
      const { structured, isError } = await mcp.call('inbox', { wait_seconds: 11 });
      assert.equal(isError, false);
      assert.equal(structured['waited'], true);
      assert.ok(hub.running);
    } finally {
      await hub.dispose();
    }
  });

  test('and never if it is told so', async () => {
    const hub = await HubProcess.start({ settings: { idleMinutes: 0 } });
    try {
      await pause(11_000);
      assert.ok(hub.running);
    } finally {
      await hub.dispose();
    }
  });
});

// The hub looks every five seconds, so many are watched at once, each with a client that comes at about that moment.
describe('a client that comes just when the hub leaves', () => {
  for (const reconnect of [true, false]) {
    test(`is served, ${reconnect ? 'one that stays' : 'one that calls once'}, 3 times 8 races`, async () => {
      const random = seededRandom(testSeed());
      for (let wave = 0; wave < 3; wave++) {
        await Promise.all(
          Array.from({ length: 8 }, async (_, i) => {
            const hub = new HubProcess({ settings: { idleMinutes: atOnce } });
            try {
              const record = await hub.start();
              await pause(Date.parse(record.startedAt) + 4_980 + random() * 120 - Date.now());
              const client = await hub.client({ start: true, reconnect });
              const sent = await client
                .call('channel', { action: 'create', name: `race-${i}` })
                .catch(rethrow('the first call'));
              assert.equal(sent.data.channels[0]?.name, `#race-${i}`);
              await client.request('mint', { name: 'other' }).catch(rethrow('mint'));
              const { data } = await client.call('send', { to: 'other', text: `race ${i}` }).catch(rethrow('send'));
              await client.request('stop', { reason: 'stop' });
              hub.close(client);
              await until('the hub has left', () => hubsOf(hub.home.folder).length === 0);
              assert.deepEqual(
                storedMessages(hub.home.database).map(({ id, text }) => [id, text]),
                [[data.id, `race ${i}`]],
              );
            } finally {
              await hub.dispose();
            }
          }),
        );
      }
    });
  }
});

function rethrow(what: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${what} failed: ${String((error as { code?: string }).code)} ${String(error)}`, { cause: error });
  };
}
