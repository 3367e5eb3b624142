import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { HubProcess, until } from '../support/hubProcess.ts';
import { Injection, withoutStrace } from '../support/strace.ts';

// A request ends and comes back in one commit: whichever write of it the hub dies at, the sender hears once.
test('a kill at every step of an end neither loses nor repeats its notice', { skip: withoutStrace() }, async () => {
  const hub = await HubProcess.start();
  const ids: string[] = [];
  try {
    for (const name of ['ann', 'bob']) await hub.mint(name);
    for (let step = 1; step <= 12; step++) {
      const ann = await hub.client({ as: 'ann' });
      const bob = await hub.client({ as: 'bob' });
      const { id } = (await ann.call('send', { to: 'bob', text: `step ${step}`, kind: 'request' })).data;
      ids.push(id);
      const exited = once(hub.child!, 'exit');
      const injection = await Injection.into(
        hub.record.pid,
        'pwrite64,fdatasync,ftruncate',
        `signal=SIGKILL:when=${step}`,
      );
      const isEnded = (): Promise<boolean> =>
        bob.call('ack', { ids: [id], outcome: 'rejected' }).then(
          () => true,
          () => false,
        );
      // With a late step it takes more than this one commit to get there.
      for (let alive = await isEnded(); alive;) {
        alive = await ann.call('send', { to: 'bob', text: 'and on' }).then(
          () => true,
          () => false,
        );
      }
      await exited;
      await injection.stop();
      for (const client of [ann, bob]) hub.close(client);
      await hub.start();
      const again = await hub.client({ as: 'bob' });
      await again.call('ack', { ids: [id], outcome: 'rejected' });
      hub.close(again);
    }
    const ann = await hub.client({ as: 'ann' });
    const told = await until('all are told', async () => {
      const { data } = await ann.call('inbox', { filter: 'all', from: 'agent-bus', limit: 100 });
      return data.messages.length >= ids.length ? data.messages : undefined;
    });
    assert.deepEqual(
      told.map(({ reply_to }) => reply_to),
      ids,
    );
  } finally {
    await hub.dispose();
  }
});
