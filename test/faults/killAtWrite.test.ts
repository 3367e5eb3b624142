import assert from 'node:assert/strict';
import { test } from 'node:test';
import { once } from 'node:events';
import { BusError } from '../../src/core/errors.ts';
import { AgentLog, check, storedMessages } from '../support/checker.ts';
import { HubProcess } from '../support/hubProcess.ts';
import { Injection, withoutStrace } from '../support/strace.ts';

// Where a kill at a random moment seldom hits: right at each write and each sync of a commit, one after the other.
test('a kill at every step of a write loses nothing', { skip: withoutStrace() }, async () => {
  const hub = await HubProcess.start();
  const log = new AgentLog('ann');
  try {
    for (const name of ['ann', 'bob']) await hub.mint(name);
    for (let step = 1; step <= 30; step++) {
      const ann = await hub.client({ as: 'ann' });
      const exited = once(hub.child!, 'exit');
      const injection = await Injection.into(
        hub.record.pid,
        'pwrite64,fdatasync,ftruncate',
        `signal=SIGKILL:when=${step}`,
      );
      for (let alive = true; alive;) {
        const entry = log.invoke(['bob'], `step-${step}-${log.sends.length}`);
        try {
          log.end(entry, 'ok', (await ann.call('send', { to: 'bob', text: entry.text, key: entry.key ?? '' })).data.id);
        } catch (error) {
          assert.ok(error instanceof BusError && error.code === 'hub-unavailable', String(error));
          log.end(entry, 'unknown');
          alive = false;
        }
      }
      await exited;
      await injection.stop();
      hub.close(ann);
      await hub.start();
      // The answer that never came is asked for again: the same message, whether it had been stored or not.
      const again = await hub.client({ as: 'ann' });
      const last = log.sends.at(-1)!;
      log.end(last, 'ok', (await again.call('send', { to: 'bob', text: last.text, key: last.key ?? '' })).data.id);
      hub.close(again);
    }
    await hub.stop();
    assert.deepEqual(check([log], storedMessages(hub.home.database)), []);
    assert.ok(log.sends.length >= 30);
  } finally {
    await hub.dispose();
  }
});
