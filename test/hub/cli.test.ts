import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { commands } from '../../src/cli/commandTable.ts';
import { Cli } from '../support/cliProcess.ts';

describe('agent-bus', () => {
  let cli: Cli;
  const endings: (() => unknown)[] = [];

  before(async () => {
    cli = new Cli({ after: (end) => endings.push(end as () => unknown) });
    await cli.json('register', 'alice', '--about', 'keeps the API');
    await cli.json('register', 'bob');
  });
  after(async () => {
    for (const end of endings) await end();
  });

  test('alone it says what it can do', async () => {
    const text = await cli.ok();
    for (const { name } of commands) assert.match(text, new RegExp(`^  ${name} `, 'm'));
    assert.equal(await cli.ok('help'), text);
    assert.equal(await cli.ok('--help'), text);
    assert.match(text, /Exit codes:\n {2}0 {2}done/);
  });

  test('every command explains itself, with examples', async () => {
    for (const { name } of commands) {
      const text = await cli.ok('help', name);
      assert.equal(await cli.ok(name, '--help'), text);
      assert.match(text, new RegExp(`Usage: agent-bus ${name} `));
      assert.match(text, /Examples:\n {2}\S/);
      const { commands: told } = await cli.json('help', name);
      assert.equal(told[0].name, name);
    }
  });

  test('it knows its version', async () => {
    const version = (await cli.ok('--version')).trim();
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.deepEqual(await cli.json('--version'), { version });
    assert.equal((await cli.ok('send', '--version')).trim(), version);
  });

  test('a slip of the finger is answered with what was meant', async () => {
    assert.match((await cli.fails('sned')).next, /Did you mean `agent-bus send`/);
    assert.match((await cli.fails('statsu')).next, /agent-bus status/);
    assert.match((await cli.fails('help', 'regster')).next, /agent-bus help register/);
    assert.match((await cli.fails('send', 'bob', 'x', '--wat', '3')).next, /--wait/);
    assert.match((await cli.fails('channel', 'jion', 'x')).next, /join/);
    assert.match((await cli.fails('xyzzy')).next, /The commands are: hub, start/);
  });

  const wrong: [args: string[], message: RegExp][] = [
    [['send'], /send needs TO/],
    [['send', 'bob'], /no text/],
    [['send', 'bob', 'two', 'words'], /too much: "words"/],
    [['send', 'bob', 'x', '--kind', 'shout'], /--kind is one of/],
    [['send', 'bob', 'x', '--request', '--kind', 'inform'], /do not go together/],
    [['send', 'bob', 'x', '--wait', 'long'], /--wait takes a number/],
    [['send', 'bob', 'x', '--expires', '0'], /--expires takes a whole number/],
    [['send', 'bob', 'x', '--data', '{'], /--data is not JSON/],
    [['send', 'bob', 'x', '--attach', '/no/such/file'], /no file/],
    [['send', 'bob', '--file', '/no/such/file'], /can't be read/],
    [['send', 'bob', 'x', '--file', '/etc/hostname'], /two texts/],
    [['send', 'bob', ''], /do not fit/],
    [['send', 'person', 'to myself'], /no recipient other than yourself/],
    [['send', 'bob', 'x', '--as'], /argument/],
    [['inbox', '--filter', 'old'], /--filter is one of/],
    [['inbox', '--limit', '101'], /--limit takes a whole number from 1 to 100/],
    [['inbox', 'extra'], /too much/],
    [['ack'], /ack needs ID/],
    [['ack', 'm1', '--blocked', '--rejected'], /either/],
    [['channel', 'join'], /needs NAME/],
    [['register', 'Not A Name'], /not a name/],
    [['logs', '-n', '-1'], /argument|number/],
    [['--as', 'bob'], /without a command/],
    [['--frobnicate'], /without a command/],
  ];
  for (const [args, message] of wrong) {
    test(`a wrong call is exit code 2: ${args.join(' ')}`, async () => {
      const failure = await cli.fails(...args);
      assert.match(failure.message, message);
      assert.equal(failure.exit, 2);
      assert.ok(failure.next.length > 5);
    });
  }

  test('what is not there is exit code 5, with the nearest name', async () => {
    const unknown = await cli.fails('send', 'bbo', 'hi');
    assert.deepEqual([unknown.exit, unknown.code], [5, 'unknown-agent']);
    assert.match(unknown.next, /agent-bus agents.*"bob"/);
    assert.deepEqual(await codes('show', 'm999'), [5, 'unknown-message']);
    assert.deepEqual(await codes('show', 'c1'), [5, 'unknown-message']);
    assert.deepEqual(await codes('ack', 'm999'), [5, 'unknown-message']);
    assert.deepEqual(await codes('conversation', 'c999'), [5, 'unknown-conversation']);
    assert.deepEqual(await codes('conversation', 'nobody-here'), [5, 'unknown-agent']);
    assert.deepEqual(await codes('conversation', '#nowhere'), [5, 'unknown-channel']);
    assert.deepEqual(await codes('send', '#nowhere', 'x'), [5, 'unknown-channel']);
    assert.deepEqual(await codes('inbox', '--as', 'nobody'), [5, 'unknown-agent']);
    assert.deepEqual(await codes('ping', 'nobody'), [5, 'unknown-agent']);
    assert.deepEqual(await codes('revoke', 'nobody'), [5, 'unknown-agent']);
    assert.deepEqual(await codes('wait', '--from', 'nobody', '--timeout', '1'), [5, 'unknown-agent']);
  });

  test('what is refused is exit code 6', async () => {
    await cli.ok('channel', 'create', 'closed', '--as', 'bob');
    assert.deepEqual(await codes('send', '#closed', 'x', '--as', 'alice'), [6, 'not-a-member']);
    assert.match((await cli.fails('send', '#closed', 'x', '--as', 'alice')).next, /agent-bus channel join closed/);
    assert.deepEqual(await codes('channel', 'create', 'closed'), [6, 'channel-taken']);
    assert.deepEqual(await codes('register', 'person'), [6, 'forbidden']);
    assert.deepEqual(await codes('register', 'everyone'), [6, 'name-reserved']);
    await cli.ok('send', 'bob', 'one', '--key', 'k1');
    assert.deepEqual(await codes('send', 'bob', 'two', '--key', 'k1'), [6, 'key-conflict']);
    assert.equal((await cli.json('send', 'bob', 'one', '--key', 'k1')).duplicate, true);
  });

  const codes = async (...args: string[]): Promise<[number | null, string]> => {
    const { exit, code } = await cli.fails(...args);
    return [exit, code];
  };

  test('errors for people are sentences on stderr', async () => {
    const { code, text, error } = await cli.run(['send', 'bbo', 'hi']);
    assert.deepEqual([code, text], [5, '']);
    assert.match(error, /^agent-bus: No agent is called "bbo"\.\nRun `agent-bus agents`.*\(unknown-agent\)\n$/);
  });

  test('register, revoke and remove', async () => {
    const carol = await cli.json('register', 'carol', '--about', 'new here');
    assert.deepEqual(Object.keys(carol).sort(), ['created', 'name', 'token']);
    assert.match(carol.token, /^abt_/);
    assert.equal(carol.created, true);
    const text = await cli.ok('register', 'carol');
    assert.match(text, /one more token/);
    assert.match(
      text,
      /claude mcp add --transport http agent-bus http:\/\/127\.0\.0\.1:\d+\/mcp --header "Authorization: Bearer abt_/,
    );
    assert.deepEqual(await cli.json('revoke', 'carol'), { name: 'carol', revoked: 2 });
    assert.match(await cli.ok('revoke', 'carol'), /^0 tokens of carol/);
    assert.deepEqual(await cli.json('register', 'carol', '--remove'), { name: 'carol', removed: true });
    assert.deepEqual(await codes('send', 'carol', 'hi'), [5, 'agent-removed']);
    await cli.ok('register', 'carol');
    assert.match(await cli.ok('register', 'carol', '--remove'), /carol has left the bus/);
  });

  test('agents and ping', async () => {
    const everybody = await cli.json('agents');
    assert.equal(everybody.you.name, 'person');
    assert.deepEqual(
      everybody.agents.map((agent: { name: string }) => agent.name),
      ['alice', 'bob'],
    );
    assert.deepEqual((await cli.json('agents', 'keeps')).agents.length, 1);
    assert.equal((await cli.json('agents', '--limit', '1')).next, 'alice');
    assert.equal((await cli.json('agents', '--cursor', 'alice')).agents[0].name, 'bob');
    assert.match(await cli.ok('agents'), /^You are person.*\n {2}alice {2}.*keeps the API/);
    assert.match(await cli.ok('agents', '--as', 'alice'), /^You are alice/);
    assert.equal((await cli.json('ping', 'alice')).name, 'alice');
    assert.match(await cli.ok('ping', 'alice'), /^alice /);
  });

  test('a message, all the way', async () => {
    const file = join(cli.home.folder, 'note.txt');
    writeFileSync(file, 'from a file\n');
    const sent = await cli.json(
      ...['send', 'alice,bob', '--file', file, '--request', '--urgent', '--as', 'person', '--data', '{"a":[1,"ü"]}'],
      ...['--option', 'yes', '--option', 'no', '--attach', file, '--expires', '600'],
    );
    assert.equal(sent.kind, 'request');
    assert.equal(sent.request, 'pending');
    const got = (await cli.json('inbox', '--as', 'alice', '--peek')).messages[0];
    assert.deepEqual(
      [got.id, got.text, got.data, got.options, got.files, got.priority],
      [sent.id, 'from a file\n', { a: [1, 'ü'] }, ['yes', 'no'], [file], 'urgent'],
    );
    assert.equal((await cli.json('inbox', '--as', 'alice')).messages.length, 1, 'a peek leaves it unread');
    assert.equal((await cli.json('inbox', '--as', 'alice')).messages.length, 0, 'printed means shown');
    const open = await cli.json('inbox', '--as', 'alice', '--filter', 'open', '--from', 'person', '--kind', 'request');
    assert.equal(open.messages.length, 1);
    const blocked = await cli.json('ack', sent.id, '--blocked', '--note', 'later', '--as', 'alice');
    assert.deepEqual(blocked.results, [{ id: sent.id, state: 'blocked' }]);
    assert.match(await cli.ok('ack', sent.id, '--rejected', '--as', 'bob'), /rejected/);
    const answer = await cli.json('reply', sent.id, 'yes', '--as', 'alice');
    const told = await cli.json('show', sent.id);
    assert.equal(told.text, 'from a file\n');
    assert.equal(told.request.state, 'answered');
    assert.equal(told.answer.id, answer.id);
    assert.deepEqual(
      told.recipients[0].steps.map((step: { step: string }) => step.step),
      ['offered', 'shown', 'acked', 'replied'],
    );
    const text = await cli.ok('show', sent.id);
    assert.match(text, /person → alice, bob {2}request, urgent/);
    assert.match(text, /· data: \{"a":\[1,"ü"\]\}/);
    assert.match(text, /request m\w+ is answered/);
    assert.match(await cli.ok('inbox'), /alice → .*reply to/);
    assert.match(await cli.ok('show', sent.id, '--as', 'alice'), /<message id="m/);
  });

  test('a request can be cancelled by its sender', async () => {
    const { id } = await cli.json('send', 'alice', 'never mind', '--request');
    assert.equal((await cli.json('cancel', id)).request.state, 'cancelled');
    assert.deepEqual(await codes('cancel', id), [6, 'already-ended']);
    const second = await cli.json('send', 'alice', 'never mind', '--request');
    assert.match(await cli.ok('cancel', second.id), /is cancelled/);
  });

  test('conversations, conversation and search', async () => {
    for (const n of [1, 2, 3]) await cli.ok('send', 'bob', `pelican ${n}`, '--as', 'alice');
    const { conversations } = await cli.json('conversations', '--as', 'bob');
    const direct = conversations.find((entry: { title: string }) => entry.title === 'alice');
    const page = await cli.json('conversation', 'bob', '--as', 'alice', '--limit', '2');
    assert.deepEqual(
      page.messages.map((message: { text: string }) => message.text),
      ['pelican 2', 'pelican 3'],
    );
    assert.equal(page.conversation.id, direct.id);
    const older = await cli.json('conversation', direct.id, '--before', page.before);
    assert.equal(older.messages.at(-1).text, 'pelican 1');
    const newer = await cli.json('conversation', direct.id, '--after', older.messages.at(-1).id);
    assert.equal(newer.messages.length, 2);
    assert.equal(
      (await cli.json('conversation', page.messages[0].id)).conversation.id,
      direct.id,
      'the one of a message',
    );
    assert.equal((await cli.json('search', 'pelican', '2')).hits.length, 1);
    assert.equal((await cli.json('search', 'pelican', '--in', direct.id, '--limit', '2')).hits.length, 2);
    assert.equal((await cli.json('search', 'nosuchword')).hits.length, 0);
    assert.match(await cli.ok('search', 'pelican'), /alice .*\n {4}pelican 3/);
    assert.match(await cli.ok('search', 'nosuchword'), /Nothing was found/);
    assert.match(await cli.ok('conversations'), /direct: /);
    assert.match(await cli.ok('conversation', direct.id), /pelican 1/);
    assert.match(await cli.ok('conversation', 'alice', '--as', 'bob'), /<message id=.*from="alice"/);
  });

  test('a name that could be an id is a name', async () => {
    for (const name of ['claude', 'mary', 'c1x']) {
      await cli.ok('register', name);
      await cli.ok('send', name, `to ${name}`);
      assert.equal((await cli.json('conversation', name)).messages[0].text, `to ${name}`);
    }
  });

  test('channels', async () => {
    assert.equal(
      (await cli.json('channel', 'create', 'release', '--about', 'what ships')).channels[0].name,
      '#release',
    );
    await cli.ok('channel', 'join', '#release', '--as', 'alice');
    assert.match(await cli.ok('channel'), /#release {2}2 members, you are in it/);
    assert.match(await cli.ok('channel', 'list', '--as', 'bob'), /you are not in it/);
    assert.deepEqual((await cli.json('send', '#release', 'frozen')).to, ['#release']);
    assert.equal((await cli.json('conversation', '#release', '--as', 'alice')).messages[0].text, 'frozen');
    assert.equal((await cli.json('channel', 'leave', 'release', '--as', 'alice')).channels[0].joined, false);
  });

  test('logs and export', async () => {
    assert.equal((await cli.json('logs')).lines[0].event, 'started');
    assert.equal((await cli.json('logs', '-n', '1')).lines.length, 1);
    assert.match(await cli.ok('logs'), /info started version=/);
    const { code } = await cli.run(['export', 'copy.db'], { cwd: cli.home.folder });
    assert.equal(code, 0);
    const copy = join(cli.home.folder, 'copy.db');
    assert.ok(statSync(copy).size > 10_000);
    assert.deepEqual(await codes('export', copy), [2, 'invalid-input']);
    const second = await cli.json('export', join(cli.home.folder, 'copy2.db'));
    assert.ok(existsSync(second.path) && second.bytes > 10_000);
  });

  test('logs --follow goes on', async () => {
    const follow = cli.start(['logs', '--follow', '-n', '1']);
    await follow.says(/\n/);
    const other = cli.start(['logs', '--follow', '--json', '-n', '0']);
    await new Promise((resolve) => setTimeout(resolve, 400));
    await cli.ok('stop');
    await cli.ok('start');
    await follow.says(/info stopped.*\n.*info started/);
    assert.equal(JSON.parse((await other.says(/.*\n/))[0]).event, 'stopping');
  });

  test('a reader that leaves early is no drama', async () => {
    const inbox = cli.start(['conversations', '--limit', '100']);
    inbox.child.stdout?.destroy();
    const { error } = await inbox.result;
    assert.equal(error, '');
  });
});

test('AGENT_BUS_HOME has to be a full path', async (t) => {
  const cli = new Cli(t);
  const { code, error } = await cli.run(['status'], { env: { AGENT_BUS_HOME: 'relative' } });
  assert.equal(code, 1);
  assert.match(error, /not an absolute path/);
});
