import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { BrokerClient } from '../support/agentTool/brokerClient.ts';
import { FramePeer, OneShotReceiver, quietPort } from '../support/agentTool/framePeer.ts';
import { Cli } from '../support/cliProcess.ts';
import { until } from '../support/hubProcess.ts';

describe('agent-bus door', () => {
  let cli: Cli;
  const endings: (() => unknown)[] = [];

  before(async () => {
    cli = new Cli({ after: (end) => endings.push(end as () => unknown) });
    await cli.json('register', 'alice');
  });
  after(async () => {
    for (const end of endings) await end();
  });

  const openDoor = async (...args: string[]): Promise<number> => {
    const view = await cli.json('door', ...args);
    assert.equal(view.open, true);
    return view.port as number;
  };

  test('both are off until somebody opens one, and it says what that means', async () => {
    const { doors } = await cli.json('door');
    assert.deepEqual(
      doors.map((view: { door: string; on: boolean; open: boolean }) => [view.door, view.on, view.open]),
      [
        ['frames', false, false],
        ['broker', false, false],
      ],
    );
    assert.match(
      await cli.ok('door'),
      /^frames {2}off\n.*\n.*goes to person\nbroker {2}off\n.*\n\n.*agent-bus help door/,
    );
    const help = await cli.ok('help', 'door');
    assert.match(help, /Neither asks for a password/);
    assert.match(help, /every program of every user of this machine/);
    assert.doesNotMatch(await cli.ok('status'), /door/);
  });

  test('an agent-tool session finds its broker, also after a restart of the hub, until it is closed', async () => {
    const opened = await cli.ok('door', 'broker', 'on', '--port', '0');
    assert.match(opened, /^broker {2}open at 127\.0\.0\.1:\d+\n/);
    assert.match(opened, /there is no authentication\. Every program of every user/);
    const port = await openDoor('broker', 'on', '--port', String(await quietPort()));
    const session = new BrokerClient(port);
    await session.tell('Planner', 'Worker', 'build it');
    assert.deepEqual(
      (await cli.json('agents', 'mailbox')).agents.map(({ name }: { name: string }) => name),
      ['planner', 'worker'],
    );
    assert.match(await cli.ok('send', 'worker', 'from the person'), /hears by: agent-tool’s broker, when it fetches/);
    await cli.ok('stop');
    assert.match(await cli.ok('start'), /is running/);
    assert.match(await cli.ok('status'), new RegExp(`broker door +open at 127\\.0\\.0\\.1:${port}\n`));
    assert.deepEqual(await session.texts('Worker'), ['build it', 'from the person']);
    assert.deepEqual(await session.texts('Worker'), []);
    assert.match(await cli.ok('show', 'm2'), /worker: shown \(.*shown by broker/);
    const view = await cli.json('door', 'broker', 'off');
    assert.deepEqual([view.on, view.open], [false, false]);
    await assert.rejects(session.fetch('Worker'));
  });

  test('what comes in by frames goes to whom --to names', async () => {
    const port = await openDoor('frames', 'on', '--port', '0', '--to', 'alice');
    const peer = await FramePeer.connect(port);
    await peer.ping();
    await peer.send('deploy is done');
    const mail = await until('alice has it', async () => {
      const { messages } = await cli.json('inbox', '--as', 'alice', '--peek');
      return messages[0];
    });
    assert.equal(mail.text, 'deploy is done');
    assert.match(await cli.ok('door'), /frames {2}open at 127\.0\.0\.1:\d+, 1 connected\n.*\n.*goes to alice\n/);
    peer.close();
    const hub = cli.start(['hub']);
    await hub.says(new RegExp(`frames door: open at 127\\.0\\.0\\.1:${port}`));
    assert.match((await cli.fails('ping', `tcp://127.0.0.1:${await quietPort()}`)).message, /Nobody listens/);
    assert.match(await cli.ok('ping', `tcp://127.0.0.1:${port}`), /^tcp:\/\/127\.0\.0\.1:\d+ answered in [\d.]+ ms/);
    const own = await cli.fails('send', `tcp://127.0.0.1:${port}`, 'to myself');
    assert.deepEqual([own.exit, own.code], [6, 'refused-address']);
    assert.equal((await cli.json('door', 'frames', 'off', '--to', 'person')).to, 'person');
  });

  test('a port that is taken is exit code 6, and the door stays as it was', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    endings.push(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failure = await cli.fails('door', 'broker', 'on', '--port', String(port));
    assert.deepEqual([failure.exit, failure.code], [6, 'door-taken']);
    assert.match(failure.next, /agent-bus door broker on --port N/);
    assert.equal((await cli.json('door')).doors[1].on, false);
  });

  const wrong: [args: string[], message: RegExp, next: RegExp][] = [
    [['frmaes', 'on'], /no door "frmaes"/, /Did you mean frames/],
    [['frames'], /needs on or off/, /agent-bus door frames on/],
    [['frames', 'open'], /on or off, not "open"/, /agent-bus door/],
    [['--port', '1'], /--port needs a door/, /door frames on/],
    [['broker', 'on', '--to', 'alice'], /broker has no --to/, /--port/],
    [['frames', 'on', '--port', '70000'], /--port takes a whole number from 0 to 65535/, /--port/],
    [['frames', 'on', '--peer', '1.2.3.4', '--no-peers'], /do not go together/, /one/],
    [['frames', 'on', '--bind', '0.0.0.0'], /lets in other machines/, /--peer ADDRESS/],
    [['frames', 'on', '--bind', 'here'], /not an address/, /IP address/],
    [['frames', 'on', '--peer', 'everybody'], /"everybody" is not an address/, /192\.168/],
  ];
  for (const [args, message, next] of wrong) {
    test(`a wrong call is exit code 2: door ${args.join(' ')}`, async () => {
      const failure = await cli.fails('door', ...args);
      assert.match(failure.message, message);
      assert.match(failure.next, next);
      assert.equal(failure.exit, 2);
    });
  }

  test('a recipient that is not there is exit code 5', async () => {
    const failure = await cli.fails('door', 'frames', 'on', '--port', '0', '--to', 'alcie');
    assert.deepEqual([failure.exit, failure.code], [5, 'unknown-agent']);
    assert.match(failure.next, /"alice"/);
  });

  test('a session that waits at an address is sent to, and the output claims no more than happened', async () => {
    const receiver = await OneShotReceiver.listen();
    endings.push(() => receiver.close());
    const sending = cli.ok('send', receiver.address, 'over the wire');
    assert.equal(await receiver.receive(), 'over the wire');
    assert.match(await sending, /the bytes were taken; this wire tells no more/);
    const place = `tcp://127.0.0.1:${await quietPort()}`;
    const text = await cli.ok('send', place, 'is anybody there?', '--request');
    assert.match(text, /not delivered yet, to be tried again \(Nobody listens/);
    assert.match(text, /agent-tool brings none back/);
    const { id, recipients } = await cli.json('send', place, 'second');
    assert.equal(recipients[0].step, 'held');
    assert.match(await cli.ok('status', id), /: held \(.*Nobody listens/);
    assert.match(await cli.ok('agents', '--online'), new RegExp(`, at ${receiver.address}: `));
    assert.match(await cli.ok('help', 'ping'), /`receive` takes a single connection/);
  });

  test('another machine has to be a peer first', async () => {
    const refused = await cli.fails('send', 'tcp://192.0.2.7:19900', 'x');
    assert.deepEqual([refused.exit, refused.code], [6, 'refused-address']);
    assert.match(refused.next, /agent-bus door frames on --peer 192\.0\.2\.7/);
    const view = await cli.json('door', 'frames', 'off', '--peer', '192.0.2.7', '--peer', '198.51.100.0/24');
    assert.deepEqual([view.on, view.peers], [false, ['192.0.2.7', '198.51.100.0/24']]);
    assert.match(await cli.ok('door'), /may connect and be sent to: 192\.0\.2\.7, 198\.51\.100\.0\/24/);
    assert.deepEqual((await cli.json('door', 'frames', 'off', '--no-peers')).peers, []);
  });
});
