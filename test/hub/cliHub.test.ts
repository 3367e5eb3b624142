import assert from 'node:assert/strict';
import { delimiter, dirname } from 'node:path';
import { describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { Cli } from '../support/cliProcess.ts';

describe('agent-bus start, status and stop', () => {
  test('from nothing to nothing', async (t) => {
    const cli = new Cli(t);
    const none = await cli.run(['status', '--json']);
    assert.equal(none.code, 4);
    assert.equal(JSON.parse(none.text).running, false);
    assert.match((await cli.run(['status'])).text, /No hub is running/);
    assert.deepEqual([(await cli.run(['stop'])).code, (await cli.run(['stop', '--json'])).code], [4, 4]);
    const started = await cli.json('start');
    assert.equal(started.started, true);
    const again = await cli.json('start');
    assert.deepEqual([again.started, again.pid], [false, started.pid]);
    assert.match(await cli.ok('start'), /was running already: http/);
    const status = await cli.json('status');
    assert.deepEqual(
      [status.running, status.pid, status.version, status.mcpUrl, status.rpcPort],
      [true, started.pid, manifest.version, started.mcpUrl, started.rpcPort],
    );
    assert.equal(status.agents, 1);
    assert.match(await cli.ok('status'), /health {7}(ok|checking)/);
    assert.deepEqual(await cli.json('stop'), { running: false, stopped: true, pid: started.pid });
    assert.equal((await cli.run(['status'])).code, 4);
    assert.match(await cli.ok('start'), /is running: http.*\n[^]*claude mcp add[^]*"mcpServers"/);
    assert.match(await cli.ok('stop'), /has stopped\.\n$/);
  });

  test('a hub that cannot start says why', async (t) => {
    const cli = new Cli(t, { port: 'soon' });
    for (const command of [['start'], ['hub'], ['send', 'alice', 'x']]) {
      const failure = await cli.fails(...command);
      assert.deepEqual([failure.exit, failure.code], [1, 'bad-settings']);
    }
  });

  test('repair wants the hub to be gone, and passes its exit code on', async (t) => {
    const cli = new Cli(t);
    await cli.ok('register', 'alice');
    assert.equal((await cli.run(['repair'])).code, 1);
    await cli.ok('stop');
    assert.match(await cli.ok('repair'), /agents/);
    assert.equal((await cli.json('agents')).agents[0].name, 'alice');
  });
});

describe('agent-bus hub', () => {
  test('prints what to paste, then the traffic, and stops in order', async (t) => {
    const cli = new Cli(t);
    const hub = cli.start(['hub']);
    await hub.says(/Ctrl-C ends it/);
    assert.match(hub.output, /^The hub is running: http:\/\/127\.0\.0\.1:\d+\/mcp \(version/);
    const lines = hub.output.split('\n').map((line) => line.trim());
    assert.ok(lines.some((line) => line.startsWith('claude mcp add --transport http agent-bus http://')));
    const config = JSON.parse(lines.find((line) => line.startsWith('{"mcpServers"')) ?? '').mcpServers['agent-bus'];
    assert.equal(config.args.at(-1), 'mcp');
    assert.equal(config.env.AGENT_BUS_HOME, cli.home.folder);
    assert.ok(
      lines.some((line) => line.includes(`AGENT_BUS_HOME=${cli.home.folder}`) && line.endsWith('register my-agent')),
    );

    await cli.ok('register', 'alice');
    await cli.ok('send', 'alice', 'first line\x1b[2J\nsecond line', '--request');
    await cli.ok('inbox', '--as', 'alice');
    await cli.ok('reply', 'm1', 'understood', '--as', 'alice');
    await hub.says(/^\d\d:\d\d:\d\d {2}person → alice {2}request m1: first line␛\[2J …$/m);
    await hub.says(/m1 shown: alice/);
    await hub.says(/alice → person {2}reply to m1 m2: understood/);
    await hub.says(/m1 is answered/);
    hub.child.kill('SIGINT');
    const { code, text } = await hub.result;
    assert.equal(code, 0);
    assert.match(text, /The hub has stopped\.\n$/);
    assert.equal((await cli.run(['status'])).code, 4);
    assert.equal((await cli.json('logs')).lines.at(-1).event, 'stopped');
  });

  test('every printed line works as it stands', async (t) => {
    const cli = new Cli(t);
    // As under `npm start`, which puts its own folders first.
    const PATH = [dirname(process.execPath), '/x/node_modules/.bin', '/usr/bin', '/bin'].join(delimiter);
    const hub = cli.start(['hub'], { env: { PATH } });
    await hub.says(/Ctrl-C ends it/);
    const { execFileSync } = await import('node:child_process');
    const lines = hub.output.split('\n').filter((line) => line.startsWith('  AGENT_BUS_HOME='));
    assert.equal(lines.length, 6);
    for (const line of lines) {
      // As in a terminal that knows nothing of npm or of this folder.
      execFileSync('/bin/sh', ['-c', line], { env: { PATH: '/usr/bin:/bin', HOME: '/' }, cwd: '/' });
    }
    hub.child.kill('SIGTERM');
    assert.equal((await hub.result).code, 0);
  });

  test('a second one watches the first', async (t) => {
    const cli = new Cli(t);
    const { pid } = await cli.json('start');
    const watching = cli.start(['hub']);
    await watching.says(/^A hub is running already: http/);
    await watching.says(/Ctrl-C ends it/);
    const asJson = cli.start(['hub', '--json']);
    assert.equal(JSON.parse((await asJson.says(/.*\n/))[0]).pid, pid);
    await cli.ok('register', 'alice');
    await cli.ok('send', 'alice', 'hello');
    await watching.says(/person → alice {2}inform m1: hello/);
    await asJson.says(/\{"type":"message","message":\{"id":"m1"/);
    watching.child.kill('SIGINT');
    const { code, text } = await watching.result;
    assert.equal(code, 0);
    assert.match(text, /the hub goes on/);
    assert.equal((await cli.json('status')).pid, pid);
    await cli.ok('stop');
    assert.equal((await asJson.result).code, 0);
  });

  test('a hub that is killed under it is noticed', async (t) => {
    const cli = new Cli(t);
    const hub = cli.start(['hub']);
    const watching = cli.start(['hub']);
    await Promise.all([hub.says(/Ctrl-C ends it/), watching.says(/Ctrl-C ends it/)]);
    await cli.killHub();
    const [own, other] = await Promise.all([hub.result, watching.result]);
    assert.deepEqual([own.code, other.code], [1, 1]);
    assert.match(own.error + other.error, /The hub ended unexpectedly: ended by SIGKILL/);
  });

  test('stopped from elsewhere it ends well', async (t) => {
    const cli = new Cli(t);
    const hub = cli.start(['hub']);
    await hub.says(/Ctrl-C ends it/);
    await cli.ok('stop');
    const { code, text } = await hub.result;
    assert.equal(code, 0);
    assert.match(text, /The hub was stopped\.\n$/);
  });
});
