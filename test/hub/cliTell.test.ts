import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cli } from '../support/cliProcess.ts';

test('agent-bus tell: a wish is listed, taken back, and comes as a notice that wait waits for', async (t) => {
  const cli = new Cli(t);
  for (const name of ['alice', 'bob', 'carol']) await cli.ok('register', name);
  assert.match(await cli.ok('tell'), /Nothing to be told\./);
  assert.match(
    await cli.ok('tell', '--idle', 'alice'),
    /alice is offline\. A notice comes to your inbox once it is idle\./,
  );
  assert.match(await cli.ok('tell'), /to be told when alice is idle, until /);
  assert.match(await cli.ok('tell', '--idle', 'alice', '--off'), /You will not be told when it is idle\./);
  const { id } = await cli.json('send', 'bob', 'ready?', '--request', '--as', 'alice');
  assert.match(await cli.ok('tell', '--ended', id), /a notice comes to your inbox once it has ended/);
  await cli.ok('reply', id, 'yes', '--as', 'bob');
  const told = await cli.ok('wait');
  assert.match(told, new RegExp(`agent-bus → person {2}notice to ${id} .*\n.*request ${id} to bob is answered by bob`));
  assert.match(await cli.ok('tell', '--ended', id), /It has ended already/);
  assert.equal((await cli.run(['tell', '--ended', id, '--as', 'carol'])).code, 5);
  assert.equal((await cli.run(['tell', '--off'])).code, 2);
});
