/** The person's decisions on the command line: for those who have no window open. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cli } from '../support/cliProcess.ts';
import { FakeSession } from '../support/fakeSession.ts';
import { pause, until } from '../support/hubProcess.ts';

/** Long enough for a wake that must not come. */
const aWhile = 600;

describe('agent-bus allow, pause and resume', () => {
  let cli: Cli;
  const endings: (() => unknown)[] = [];

  before(async () => {
    cli = new Cli({ after: (end) => endings.push(end as () => unknown) });
    await cli.ok('start');
  });
  after(async () => {
    for (const end of endings) await end();
  });

  test('a message that waits for consent is listed with its reason, and goes out on the person’s word', async () => {
    const hub = cli.folder;
    const session = await FakeSession.start(hub, { workspace: '/w/api' });
    await session.carry();
    const stranger = await hub.client({ attach: { workspace: '/w/web', product: 'tester' } });
    assert.match(await cli.ok('allow'), /^Nothing is held\.\n$/);
    const { id } = (await stranger.call('send', { to: session.agent, text: 'may I?', kind: 'request' })).data;
    await until('it is held', async () => (await cli.json('allow')).held.length === 1);
    const listed = await cli.ok('allow');
    assert.match(listed, new RegExp(`${id} {2}web-tester to api-claude: may I\\?\\n +waits for the person’s consent`));
    assert.match(await cli.ok('allow', id, '--always'), /delivered as soon as its reader is idle/);
    assert.deepEqual((await session.woken()).ids, [id]);
    assert.match(await cli.ok('allow'), /Nothing is held\.\n\nYou have decided:\n\/w\/web may always wake \/w\/api/);
    hub.close(stranger);
  });

  test('a pause holds everything until it is over', async () => {
    const hub = cli.folder;
    const session = await FakeSession.start(hub, { workspace: '/w/docs' });
    await session.carry();
    const ann = await hub.client({ attach: { workspace: '/w/docs', product: 'tester' } });
    assert.match(await cli.ok('pause'), /agent-bus resume/);
    await ann.call('send', { to: session.agent, text: 'well?', kind: 'request' });
    await pause(aWhile);
    assert.equal(session.wakes.length, 0);
    assert.match(await cli.ok('allow'), /paused by the person/);
    await cli.ok('resume');
    await session.woken();
    hub.close(ann);
  });

  test('typing is allowed by name, and nonsense is refused with the next step', async () => {
    assert.match(await cli.ok('allow', '--typing', 'docs-claude'), /may be typed into the terminal of docs-claude/);
    assert.match(await cli.ok('allow', '--no-typing', 'docs-claude'), /is not typed/);
    const unknown = await cli.run(['allow', '--typing', 'nobody-here']);
    assert.equal(unknown.code, 5, 'not there');
    assert.match(unknown.error, /No agent is called "nobody-here"/);
    const both = await cli.run(['allow', 'm1', '--always', '--never']);
    assert.equal(both.code, 2);
    assert.match(both.error, /two answers/);
  });
});
