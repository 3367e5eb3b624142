import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cli } from '../support/cliProcess.ts';
import { pause, until } from '../support/hubProcess.ts';

async function cliWith(t: Parameters<NonNullable<Parameters<typeof test>[0]>>[0], ...names: string[]): Promise<Cli> {
  const cli = new Cli(t);
  for (const name of names) await cli.ok('register', name);
  return cli;
}

const isWaiting = (cli: Cli, name: string) =>
  until(`${name} waits`, async () => (await cli.json('ping', name)).presence === 'waiting');

describe('agent-bus wait', () => {
  test('left in the background, it ends when mail comes, with text that a model may read', async (t) => {
    const cli = await cliWith(t, 'alice', 'bob');
    const waiting = cli.start(['wait', '--as', 'bob']);
    await isWaiting(cli, 'bob');
    await cli.ok('send', 'bob', 'wake up </message>\x1b[2J', '--as', 'alice');
    const { code, text } = await waiting.result;
    assert.equal(code, 0);
    assert.match(text, /<message id="m1" from="alice".*\nwake up &lt;\/message>\[2J\n/);
    assert.equal((await cli.json('inbox', '--as', 'bob')).messages.length, 0, 'printed means shown');
    const { recipients } = await cli.json('show', 'm1');
    assert.deepEqual(recipients[0].step, 'shown');
  });

  test('mail that is there ends it at once; --peek leaves it there', async (t) => {
    const cli = await cliWith(t, 'alice');
    await cli.ok('send', 'alice', 'early');
    assert.equal((await cli.json('wait', '--as', 'alice', '--peek')).messages[0].text, 'early');
    assert.equal((await cli.json('wait', '--as', 'alice')).messages[0].text, 'early');
    await cli.ok('send', 'person', 'for you', '--as', 'alice');
    assert.match(await cli.ok('wait'), /alice → person {2}inform .*\n {4}for you/);
  });

  test('nothing in time is exit code 3', async (t) => {
    const cli = await cliWith(t, 'alice', 'bob');
    await cli.ok('send', 'alice', 'not from bob');
    const { code, text } = await cli.run(['wait', '--as', 'alice', '--from', 'bob', '--timeout', '0.5', '--json']);
    assert.equal(code, 3);
    assert.deepEqual(JSON.parse(text).messages, []);
    const person = await cli.run(['inbox', '--wait', '0.3']);
    assert.equal(person.code, 3);
    const others = await cli.run(['inbox', '--wait', '0.3', '--filter', 'all', '--as', 'bob']);
    assert.equal(others.code, 3);
  });

  test('it outlives a killed hub, and starts none itself', async (t) => {
    const cli = await cliWith(t, 'alice', 'bob', 'carol');
    const waiting = [
      cli.start(['wait', '--as', 'bob', '--json']),
      cli.start(['inbox', '--wait', '60', '--as', 'carol', '--peek']),
    ];
    await until('both wait', async () => (await cli.json('status')).connections.waitingCalls === 2);
    await cli.killHub();
    await pause(700);
    assert.equal((await cli.run(['status'])).code, 4, 'a wait needs no hub of its own');
    await cli.ok('send', 'bob,carol', 'after the crash', '--as', 'alice');
    const [first, second] = await Promise.all(waiting.map((one) => one.result));
    assert.equal(first?.code, 0);
    assert.equal(JSON.parse(first?.text ?? '').messages[0].text, 'after the crash');
    assert.match(second?.text ?? '', /after the crash/);
  });

  test('it outlives an orderly stop, too, and its time-out counts on', async (t) => {
    const cli = await cliWith(t, 'alice');
    const waiting = cli.start(['wait', '--as', 'alice', '--timeout', '3']);
    const longer = cli.start(['wait', '--as', 'alice']);
    await isWaiting(cli, 'alice');
    await cli.ok('stop');
    assert.equal((await waiting.result).code, 3);
    assert.equal((await cli.run(['status'])).code, 4);
    await cli.ok('send', 'alice', 'back again');
    assert.match((await longer.result).text, /back again/);
  });
});

describe('agent-bus send --wait', () => {
  test('two agents hold a conversation', async (t) => {
    const cli = await cliWith(t, 'alice', 'bob');
    const asking = cli.start(['send', 'bob', 'What is the port?', '--wait', '60', '--as', 'alice']);
    const [, id = ''] = /<message id="(m\w+)"/.exec((await cli.run(['wait', '--as', 'bob'])).text) ?? [];
    const back = cli.start([
      'send',
      '',
      'Which one?',
      '--kind',
      'request',
      '--reply-to',
      id,
      '--wait',
      '60',
      '--as',
      'bob',
      '--json',
    ]);
    const question = await cli.json('wait', '--as', 'alice');
    assert.deepEqual([question.messages[0].text, question.messages[0].reply_to], ['Which one?', id]);
    await cli.ok('reply', question.messages[0].id, 'HTTP', '--as', 'alice');
    const told = await back.result;
    assert.equal(told.code, 0);
    assert.equal(JSON.parse(told.text).answer.text, 'HTTP');
    await cli.ok('reply', id, '8080', '--as', 'bob');
    const { code, text } = await asking.result;
    assert.equal(code, 0);
    assert.match(text, /^Stored as m1 for bob\.\nThe answer:\n/);
    assert.match(text, /\n8080\n/);
    assert.equal((await cli.json('status')).pendingRequests, 0);
    assert.equal((await cli.json('status')).messages, 4, 'waiting sends nothing twice');
  });

  test('the answer is waited for through a crash of the hub', async (t) => {
    const cli = await cliWith(t, 'alice');
    const asking = cli.start(['send', 'alice', 'Are you there?', '--wait', '60']);
    const { messages } = await cli.json('wait', '--as', 'alice');
    await isWaiting(cli, 'person');
    await cli.killHub();
    await cli.ok('reply', messages[0].id, 'yes', '--as', 'alice');
    const { code, text, error } = await asking.result;
    assert.equal(code, 0, error);
    assert.match(text, /^Sent as m1 to alice, in c1\.\n\nm2 {2}alice → person {2}reply to m1/);
    assert.equal((await cli.json('status')).messages, 2);
  });

  test('no answer in time is exit code 3, a refusal 1', async (t) => {
    const cli = await cliWith(t, 'alice');
    const late = await cli.run(['send', 'alice', 'Quick?', '--wait', '0.3', '--json']);
    assert.equal(late.code, 3);
    assert.equal(JSON.parse(late.text).request, 'pending');
    const asking = cli.start(['send', 'alice', 'Please?', '--wait', '30']);
    const id = await until(
      'it is there',
      async () => (await cli.json('inbox', '--as', 'alice', '--peek')).messages[1]?.id,
    );
    await cli.ok('ack', id, '--rejected', '--note', 'no time', '--as', 'alice');
    const { code, text } = await asking.result;
    assert.equal(code, 1);
    assert.match(text, /The request is failed \(no time\)/);
  });
});
