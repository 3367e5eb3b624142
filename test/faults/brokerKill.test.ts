/** Hubs and clients of the broker's door that die: nothing that was acknowledged is lost, nothing is given twice without need. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { BrokerChild } from '../support/agentTool/brokerChild.ts';
import { BrokerClient, brokerPort } from '../support/agentTool/brokerClient.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

let hub: HubProcess;
let port: number;
let client: BrokerClient;
before(async () => {
  hub = await HubProcess.start();
});
beforeEach(async () => {
  port = await brokerPort(hub);
  client = new BrokerClient(() => port);
});
after(() => hub.dispose());

async function restart(): Promise<void> {
  await hub.start();
  port = await brokerPort(hub);
}

async function everything(mailbox: string): Promise<string[]> {
  const all: string[] = [];
  for (let some = await client.texts(mailbox); some.length > 0; some = await client.texts(mailbox)) all.push(...some);
  return all;
}

const waits = async (mailbox: string): Promise<boolean> => mailbox in (await client.status());

describe('a hub that is killed', () => {
  test('between post and fetch has it all, once', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `message ${i}`);
    for (const [i, text] of texts.entries()) {
      await client.tell('a', 'between', text);
      if (i % 8 !== 7) continue;
      await hub.kill();
      await restart();
    }
    assert.deepEqual(await client.status(), { between: 40 });
    assert.deepEqual(await everything('between'), texts);
  });

  test('right after an answer, under load, loses no post that it has answered and stores none twice', async () => {
    const random = seededRandom(testSeed());
    const acknowledged: string[] = [];
    let posted = 0;
    for (let round = 0; round < 8; round++) {
      const enough = acknowledged.length + 1 + Math.floor(random() * 60);
      const reached = Promise.withResolvers<void>();
      const poster = async (): Promise<void> => {
        while (hub.running) {
          const text = `post ${posted++}`;
          const reply = await client.post('a', 'load', text).catch(() => undefined);
          if (!reply?.ok) return;
          acknowledged.push(text);
          if (acknowledged.length >= enough) reached.resolve();
        }
      };
      const posters = Array.from({ length: 8 }, poster);
      await reached.promise;
      await hub.kill();
      await Promise.all(posters);
      await restart();
    }
    const stored = await everything('load');
    assert.equal(new Set(stored).size, stored.length);
    assert.deepEqual(
      acknowledged.filter((text) => !stored.includes(text)),
      [],
    );
  });

  test('while a fetch is under way has what was not taken', async () => {
    const texts = Array.from({ length: 6 }, (_, i) => `${i}`.repeat(600_000));
    await client.tell('a', 'cut', ...texts);
    const deaf = await client.open();
    deaf.pause().write('{"op":"fetch","mailbox":"cut"}');
    await until('it is on its way', async () => !(await waits('cut')));
    await hub.kill();
    deaf.destroy();
    await restart();
    assert.deepEqual(await everything('cut'), texts);
  });
});

describe('a client that is killed', () => {
  test('while it waits is gone at once, and its message comes with the next wait', async () => {
    const child = await BrokerChild.asking(port, { op: 'wait', mailbox: 'killed', timeout: 300 });
    await until('it waits', () => waits('killed'));
    await child.kill();
    await until('nobody waits', async () => !(await waits('killed')));
    await client.tell('a', 'killed', 'not lost');
    assert.equal((await client.wait('killed', 30)).message?.msg, 'not lost');
  });

  test('while it waits with its side shut is gone as well', async () => {
    const child = await BrokerChild.asking(port, { op: 'wait', mailbox: 'shut', timeout: 300 }, 'half-close');
    await until('it waits', () => waits('shut'));
    await child.kill();
    await client.tell('a', 'shut', 'not lost');
    assert.equal((await client.wait('shut', 30)).message?.msg, 'not lost');
    await until('nobody waits', async () => !(await waits('shut')));
  });

  test('right when its message comes loses nothing, twenty times', async () => {
    const random = seededRandom(testSeed());
    for (let round = 0; round < 20; round++) {
      const child = await BrokerChild.asking(port, { op: 'wait', mailbox: 'race', timeout: 300 });
      await until('it waits', () => waits('race'));
      await Promise.all([client.tell('a', 'race', `round ${round}`), pause(random() * 10).then(() => child.kill())]);
      assert.equal((await client.wait('race', 30)).message?.msg, `round ${round}`);
    }
    assert.deepEqual(await everything('race'), []);
  });

  test('with its message unread in its hands gives it back, and the sender knows no more than that', async () => {
    const [ann] = await hub.strangers(1);
    const child = await BrokerChild.asking(port, { op: 'wait', mailbox: 'frozen', timeout: 300 });
    await until('it waits', () => waits('frozen'));
    child.freeze();
    const { data: sent } = await ann.call('send', { to: 'frozen', text: 'for a frozen one' });
    const steps = async (): Promise<unknown[]> => {
      const { data } = await ann.call('status', { id: sent.id });
      return data.recipients[0]?.steps.map(({ step, route }) => `${step} by ${route}`) ?? [];
    };
    await until('it is in its hands', async () => (await steps()).length > 0);
    await child.kill();
    await until('it is back', async () => (await client.status())['frozen'] === 1);
    assert.deepEqual(await steps(), ['offered by broker']);
    assert.deepEqual(await client.texts('frozen'), ['for a frozen one']);
    await until('the reader has hung up', async () => (await steps()).length > 1);
    assert.deepEqual(await steps(), ['offered by broker', 'shown by broker']);
  });

  test('in the middle of a large fetch loses nothing; another waiter gets the first of it', async () => {
    const texts = Array.from({ length: 6 }, (_, i) => `${i}`.repeat(600_000));
    await client.tell('a', 'large', ...texts);
    const child = await BrokerChild.asking(port, { op: 'fetch', mailbox: 'large' });
    await until('it is on its way', async () => !(await waits('large')));
    const waiter = client.wait('large', 60);
    await until('another waits', () => waits('large'));
    await child.kill();
    assert.equal((await waiter).message?.msg, texts[0]);
    assert.deepEqual(await everything('large'), texts.slice(1));
  });
});

test('a client that resets after any number of bytes of a large fetch loses nothing', async () => {
  const random = seededRandom(testSeed());
  const texts = Array.from({ length: 7 }, (_, i) => `${i}`.repeat(500_000));
  await client.tell('a', 'reset', ...texts);
  for (let round = 0; round < 10; round++) {
    const socket = await client.open();
    let wanted = Math.floor(random() * 3_400_000);
    const reset = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (chunk: Buffer) => {
      wanted -= chunk.length;
      if (wanted <= 0) socket.resetAndDestroy();
    });
    socket.write('{"op":"fetch","mailbox":"reset"}\n');
    await reset;
    await until('it is all back', async () => (await client.status())['reset'] === 7);
  }
  assert.deepEqual(await everything('reset'), texts);
});
