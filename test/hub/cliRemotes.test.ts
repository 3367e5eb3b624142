import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Cli, type Parsed } from '../support/cliProcess.ts';
import { until } from '../support/hubProcess.ts';

/** Two buses: an agent that is open on one of them is an agent elsewhere for the other. */
describe('agent-bus and agents elsewhere', () => {
  let here: Cli;
  let there: Cli;
  let url: string;
  let token: string;
  const endings: (() => unknown)[] = [];

  before(async () => {
    const end = { after: (one: unknown) => endings.push(one as () => unknown) };
    [here, there] = [new Cli(end, { a2a: { pollSeconds: 0.05 } }), new Cli(end)];
    await there.json(
      'register',
      'cook',
      '--about',
      'Cooks \u001b[31mhot.',
      '--skill',
      'soup',
      '--skill',
      'fresh bread',
    );
    url = (await there.json('register', 'cook', '--open')).url;
    token = (await there.json('register', 'guest')).token;
  });
  after(async () => {
    for (const end of endings) await end();
  });

  /** The next open request that cook has. */
  const asked = (text: string): Promise<Parsed> =>
    until(`cook is asked "${text}"`, async () => {
      const { messages } = await there.json('inbox', '--as', 'cook', '--filter', 'open');
      return messages.find((message: Parsed) => message.text === text);
    });

  test('an agent is opened to others: its address, how to get in, and what its card says', async () => {
    const text = await there.ok('register', 'cook', '--open', '--about', 'Cooks.');
    assert.match(text, /cook can be asked over A2A now, from this machine/);
    assert.ok(text.includes(`\n  ${url}\n`));
    assert.match(text, /register CALLER\n.*Authorization: Bearer <token>/);
    const card = (await (await fetch(`${url}.well-known/agent-card.json`)).json()) as Parsed;
    assert.deepEqual(
      [card.name, card.description, card.skills.map((skill: Parsed) => skill.name)],
      ['cook', 'Cooks.', ['soup', 'fresh bread']],
    );
    assert.match(
      await there.ok('agents', '--skill', 'BREAD'),
      /cook .*, open to A2A: Cooks\.; skills: soup, fresh bread/,
    );
    assert.match(await there.ok('agents', '--skill', 'wine'), /Nobody else fits/);
    await there.ok('register', 'cook', '--open', '--about', 'Cooks \u001b[31mhot.');
  });

  test('the line that the README gives for curl works as it stands', async () => {
    const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
    const [, body = ''] = /curl "\$URL" .* -d '(\{[^']*\})'/s.exec(readme) ?? [];
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' };
    const answer = fetch(url, { method: 'POST', headers, body });
    const question = await asked('What does GET /orders return?');
    assert.equal(question.from, 'guest');
    await there.ok('reply', question.id, 'A list.', '--as', 'cook');
    const { result } = (await (await answer).json()) as Parsed;
    assert.equal(result.task.status.state, 'TASK_STATE_COMPLETED');
    assert.equal(result.task.artifacts[0].parts[0].text, 'A list.');
  });

  test('one elsewhere is added by its address and shown with its card, which commands no terminal', async () => {
    const text = await here.ok('register', url);
    assert.match(
      text,
      /^cook is on the bus\.\n {2}about +Cooks .*hot\.\n {2}skills +soup, fresh bread\n {2}address +http:/,
    );
    assert.ok(!text.includes('\u001b'));
    const again = await here.ok('register', url.replace(/\/$/, ''), '--name', 'chef');
    assert.match(again, /^cook was on the bus already; its card was read again\. It keeps its name here\./);
    assert.match(await here.ok('agents', '--skill', 'soup'), /cook .*, at http:\/\/127.*hears by A2A/);
    assert.match(await here.ok('ping', 'cook'), /it answered in [\d.]+ ms/);
    assert.match(await here.ok('ping', url), /answered in [\d.]+ ms/);
  });

  test('without the secret that it wants a request fails, and the reason is told', async () => {
    const { code, text } = await here.run(['send', 'cook', 'soup?', '--wait', '30']);
    assert.equal(code, 1);
    assert.match(text, /The request failed \(.*credentials.*\)\./);
    assert.match(await here.ok('requests', '--state', 'failed'), /m\w+ {2}failed .*credentials.* {2}person → cook/);
  });

  test('the secret comes from a file, the environment or stdin, and is shown nowhere', async () => {
    const file = join(here.home.folder, 'token.txt');
    writeFileSync(file, `${token}\n`);
    const told = [await here.ok('register', url, '--bearer-from', file)];
    assert.match(told[0] ?? '', /secret +goes along as Authorization, and is shown nowhere/);
    const byEnv = ['register', url, '--bearer-from', 'env:COOK_TOKEN', '--json'];
    const fromEnv = await here.run(byEnv, { env: { COOK_TOKEN: token } });
    const byStdin = ['register', url, '--header', 'Authorization', '--header-from', '-'];
    const fromStdin = await here.run(byStdin, { stdin: `Bearer ${token}\n` });
    assert.deepEqual([fromEnv.code, fromStdin.code], [0, 0], fromEnv.error + fromStdin.error);
    told.push(fromEnv.text, fromStdin.text, await here.ok('agents', '--json'), readFileSync(here.home.log, 'utf8'));
    for (const text of told) assert.ok(!text.includes(token));
  });

  test('it is asked, works, and answers; the hub may be killed meanwhile', async () => {
    const { id, request } = await here.json('send', 'cook', 'bread for ten?', '--request');
    assert.equal(request, 'pending');
    const question = await asked('bread for ten?');
    await until('it is seen to work', async () => /the agent there says: working/.test(await here.ok('status', id)));
    assert.match(await here.ok('requests'), new RegExp(`^${id} {2}pending {2}person → cook .*\n.*\n.*says: working`));
    await here.killHub();
    await there.ok('reply', question.id, 'Ten loaves.', '--as', 'cook');
    await here.ok('start');
    const told = await until('the answer is in the inbox', async () => {
      const { messages } = await here.json('inbox', '--peek');
      return messages.find((message: Parsed) => message.reply_to === id);
    });
    assert.deepEqual([told.from, told.text], ['cook', 'Ten loaves.']);
    assert.match(await here.ok('status', id), /is answered\n[^]*answered by cook: agent-bus show/);
    assert.match(await here.ok('requests', '--state', 'answered'), new RegExp(`^${id} {2}answered `));
    const [other] = (await there.json('requests', '--received', '--oldest', '--limit', '1', '--as', 'cook')).requests;
    assert.equal(other.from, 'guest');
  });

  test('what it is at work on is cancelled over there as well', async () => {
    const { id } = await here.json('send', 'cook', 'a cake?', '--request');
    const { id: asThere } = await asked('a cake?');
    assert.match(await here.ok('cancel', id), /is cancelled/);
    await until('it is cancelled there', async () => {
      const { request } = await there.json('status', asThere);
      return request.state === 'cancelled';
    });
  });

  const wrong: [args: string[], exit: number, message: RegExp, next: RegExp][] = [
    [['URL', '--remove'], 2, /--remove takes a name/, /agent-bus agents/],
    [['URL', '--open'], 2, /for agents of this bus/, /card/],
    [['URL', '--header', 'X-Key'], 2, /belong together/, /--header-from key\.txt/],
    [['URL', '--header', 'X Key', '--header-from', '-'], 2, /not the name of a header/, /X-API-Key/],
    [['URL', '--bearer-from', '/no/such/file'], 2, /no such file/, /never the secret itself/],
    [['URL', '--bearer-from', 'env:NOT_THERE'], 2, /no variable NOT_THERE/, /Nothing was added/],
    [['URL', '--bearer-from', '-'], 2, /stdin is empty/, /Nothing was added/],
    [['URL', '--bearer-from', '-', '--header', 'X-Key'], 2, /do not go together/, /one/],
    [['alice', '--bearer-from', '-'], 2, /for the URL of an A2A agent/, /https:\/\//],
    [['alice', '--open', '--close'], 2, /do not go together/, /one/],
    [['nobody-here', '--open'], 5, /No agent is called/, /agent-bus register nobody-here/],
    [['person', '--open'], 6, /can’t be opened/, /client of this bus/],
    [['cook', '--open'], 6, /can’t be opened/, /client of this bus/],
    [['ftp://127.0.0.1/x'], 6, /no way to an A2A agent/, /https:\/\//],
    [['http://169.254.169.254/'], 6, /metadata/, /allowLinkLocal/],
  ];
  for (const [args, exit, message, next] of wrong) {
    test(`is refused with what to do: register ${args.join(' ')}`, async () => {
      const failure = await here.fails('register', ...args.map((word) => (word === 'URL' ? url : word)));
      assert.match(failure.message, message);
      assert.match(failure.next, next);
      assert.equal(failure.exit, exit);
    });
  }

  test('a mistaken secret on the command line is not repeated', async () => {
    const { code, error } = await here.run(['register', url, '--bearer-from', token]);
    assert.equal(code, 2);
    assert.ok(!error.includes(token));
  });

  test('it is removed and comes back by its address with its conversations; a closed one looks like none', async () => {
    assert.deepEqual(await here.json('register', 'cook', '--remove'), { name: 'cook', removed: true });
    assert.equal((await here.fails('send', 'cook', 'still there?')).code, 'agent-removed');
    assert.match(await here.ok('search', 'loaves'), /Ten loaves/);
    assert.deepEqual((await here.json('send', url, 'back again')).to, ['cook']);
    assert.match(await there.ok('register', 'cook', '--close'), /can't be asked over A2A any more/);
    assert.equal((await fetch(`${url}.well-known/agent-card.json`)).status, 404);
    assert.equal((await here.fails('ping', url)).exit, 1);
  });
});
