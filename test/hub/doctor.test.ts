/** `agent-bus doctor`: one screen that tells whether each agent can be reached now, and how. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import type { AgentReach } from '../../src/protocol/reachMessages.ts';
import type { CliResult } from '../support/cliProcess.ts';
import { ConnectRoom } from '../support/connectRoom.ts';
import { FakeSession } from '../support/fakeSession.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { until, type HubProcess } from '../support/hubProcess.ts';

const ok = 0;
const notRunning = 4;
const needsYou = 7;

interface Room extends ConnectRoom {
  hub: HubProcess;
}

async function withHub(t: TestContext): Promise<Room> {
  const room = new ConnectRoom(t);
  await room.cli.folder.start();
  return Object.assign(room, { hub: room.cli.folder });
}

async function doctor(room: ConnectRoom, ...args: string[]): Promise<CliResult> {
  const result = await room.run('doctor', ...args);
  for (const line of result.text.split('\n')) {
    // Only a word that can't be broken, such as a path, may be longer.
    assert.ok(line.length <= 80 || /\S{40}/.test(line), `wider than a terminal: ${line}`);
    assert.equal(line, line.trimEnd());
  }
  return result;
}

/** As the screen is, but for spaces. */
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

async function reachOf(room: Room, agent: string): Promise<AgentReach> {
  const person = await room.hub.client({ passing: true });
  try {
    const [reach] = await person.request('reach', { agent });
    assert.ok(reach);
    return reach;
  } finally {
    room.hub.close(person);
  }
}

describe('agent-bus doctor', { skip: process.platform === 'win32' }, () => {
  test('without a hub it says so and how to start one, and starts none', async (t) => {
    const room = new ConnectRoom(t);
    const { code, text } = await doctor(room);
    assert.equal(code, notRunning);
    assert.match(flat(text), /Hub not running, and none has run here yet → agent-bus start starts one/);
    assert.match(text, /\(chosen by AGENT_BUS_HOME\)/);
    assert.match(flat(text), /Agents known only while a hub is running One thing needs you\.$/m);
    assert.ok(!fs.existsSync(room.cli.home.record));
    const parsed = JSON.parse((await doctor(room, '--json')).text);
    assert.deepEqual([parsed.ok, parsed.hub.running, parsed.agents], [false, false, null]);
  });

  test('tells a hub that was killed from one that was stopped', async (t) => {
    const room = await withHub(t);
    const { pid } = room.hub.record;
    await room.hub.kill();
    assert.match(
      flat((await doctor(room)).text),
      new RegExp(
        `the last one \\(process ${pid}, version .*\\) ended without a word → nothing that was stored is lost`,
      ),
    );
    await room.hub.start();
    await room.hub.stop();
    const { code, text } = await doctor(room);
    assert.equal(code, notRunning);
    assert.match(flat(text), /Hub not running → agent-bus start/);
    assert.match(text, /^Database {3}\d+\.\d kB; its state is known while a hub runs$/m);
  });

  test('tells why the last start came to nothing', async (t) => {
    const room = await withHub(t);
    await room.hub.stop();
    fs.truncateSync(room.cli.home.database, 0);
    assert.equal((await room.run('start')).code, 1);
    const { code, text } = await doctor(room);
    assert.equal(code, notRunning);
    assert.match(flat(text), /Hub not running\. The database .* is gone or empty\. → Put a backup .*`agent-bus repair/);
  });

  test('with a hub and nothing else: all its parts, and nothing needs you', async (t) => {
    const room = await withHub(t);
    await until('it was checked', async () => (await room.hub.status()).databaseCheckedAt);
    const { code, text } = await doctor(room);
    assert.equal(code, ok, text);
    assert.match(text, /^Agent Bus \d+\.\d+\.\d+$/m);
    assert.match(flat(text), new RegExp(`Hub version .*, running since .*, process ${room.hub.record.pid}, .* MB`));
    assert.match(text, /^Database {3}.* kB, in order; last checked \d\d:\d\d; slowest write [\d.]+ ms$/m);
    assert.match(text, /^Doors {6}MCP {5}http:\/\/127\.0\.0\.1:\d+\/mcp, for the tools of agents$/m);
    assert.match(text, /^ {11}broker {2}off \(mailboxes for the agent-tool sessions of this machine\)$/m);
    assert.match(text, /^ {2}not on this machine: .*Codex/m);
    assert.match(flat(text), /Agents none yet; .* Nothing needs you\.$/m);
  });

  test('an idle chat in a window is reached by a turn; only hooks that were heard are named', async (t) => {
    const room = await withHub(t);
    const window = await FakeWindow.open(room.hub, { workspace: '/w/shop-web' });
    await window.hook('c', 'session-start');
    const first = await reachOf(room, window.home);
    assert.equal(first.state, 'idle');
    assert.deepEqual(first.now, { how: 'new chat turn' });
    assert.equal(first.end_of_turn.how, 'right after it');
    assert.match(first.busy.blocked ?? '', /its hook for tools was not heard yet/);
    await window.hook('c', 'prompt', { prompt: 'go' });
    await window.hook('c', 'before-tool', { tool: 'read_file', toolUse: 'a' });
    await window.hook('c', 'after-tool', { tool: 'read_file', toolUse: 'a' });
    const working = await reachOf(room, window.home);
    assert.deepEqual([working.state, working.now], ['working', { how: 'next tool call' }]);
    await window.hook('c', 'stop');
    const { code, text } = await doctor(room);
    assert.equal(code, ok, text);
    assert.match(text, /^✓ shop-web-copilot {4}idle {6}next tool call {2}before it ends {2}new chat turn$/m);
    assert.match(text, /^✓ a request sent now gets there$/m);

    // What was heard of a session outlives the hub; the session does, too.
    await room.hub.stop();
    await room.hub.start();
    await until('it carries again', () => window.carried === 2);
    const again = await reachOf(room, window.home);
    assert.deepEqual([again.busy, again.end_of_turn], [{ how: 'next tool call' }, { how: 'before it ends' }]);
    window.close();
  });

  test('a chat that asks for approval needs you, and so does a pause', async (t) => {
    const room = await withHub(t);
    const window = await FakeWindow.open(room.hub, { workspace: '/w/infra' });
    await window.hook('c', 'prompt', { prompt: 'go' });
    await window.hook('c', 'before-tool', { tool: 'run_in_terminal', toolUse: 'a' });
    await window.client.request('observe', { chat: '/w/infra c', state: 'approval', at: Date.now() + 60_000 });
    const { code, text } = await doctor(room);
    assert.equal(code, needsYou);
    assert.match(text, /^! infra-copilot {7}asks you {2}next tool call/m);
    assert.match(flat(text), /now: waits for your approval of run_in_terminal → answer it in its window of VS Code/);
    await window.hook('c', 'after-tool', { tool: 'run_in_terminal', toolUse: 'a' });
    await window.hook('c', 'stop');
    assert.equal((await doctor(room)).code, ok);

    const person = await room.hub.client();
    await person.request('pause', { on: true });
    const paused = await doctor(room);
    assert.equal(paused.code, needsYou);
    assert.match(flat(paused.text), /Deliveries paused you have paused them: .* → agent-bus resume/);
    assert.match(paused.text, /^! infra-copilot/m);
    window.close();
  });

  test('messages that wait for your consent are told with the agent that they are for', async (t) => {
    const room = await withHub(t);
    const window = await FakeWindow.open(room.hub, { workspace: '/w/api', verdict: 'dismissed' });
    const stranger = await room.hub.client({ attach: { workspace: '/w/web', product: 'tester' } });
    await stranger.call('send', { to: window.home, text: 'may I?', kind: 'request' });
    await until('it is held', async () => (await reachOf(room, window.home)).now.blocked);
    const { now, idle } = await reachOf(room, window.home);
    assert.match(now.blocked ?? '', /^a message is held: waits for the person’s consent$/);
    assert.match(now.todo ?? '', /agent-bus allow/);
    assert.deepEqual(idle, { how: 'new chat turn' }, 'that way is there all the same');
    assert.equal((await doctor(room)).code, needsYou);
    window.close();
  });

  test('a session in a terminal: by whoever carries it, by a typed line where you allow it, or not at all', async (t) => {
    const room = await withHub(t);
    const session = await FakeSession.start(room.hub, { workspace: '/w/api', product: 'claude' });
    const alone = await reachOf(room, session.agent);
    assert.deepEqual([alone.state, alone.idle], ['idle', { blocked: 'nothing is connected that could wake it' }]);
    assert.equal(alone.typing, undefined);

    const bridge = await session.carry({ rungs: [], wide: true, route: 'its bridge', pids: [4711] });
    const window = await FakeWindow.open(room.hub, { workspace: '/w/api' });
    const told = await until('the window can tell its person', async () => {
      const reach = await reachOf(room, session.agent);
      return reach.idle.how === 'asks you' ? reach : undefined;
    });
    assert.equal(told.idle.blocked, 'nothing can wake it without you');
    await window.client.request('terminals', { pids: [17, 4711] });
    const locked = await reachOf(room, session.agent);
    assert.equal(locked.typing, false);
    assert.match(locked.idle.todo ?? '', /the switch on its card/);
    const person = await room.hub.client();
    await person.request('typing', { agent: session.agent, on: true });
    const typed = await reachOf(room, session.agent);
    assert.deepEqual([typed.typing, typed.now], [true, { how: 'typed line' }]);

    await session.carry({ route: 'its background hook' });
    assert.deepEqual((await reachOf(room, session.agent)).now, { how: 'its background hook' });
    const { text } = await doctor(room, session.agent);
    assert.match(text, /^ {2}while idle {3}its background hook: its product begins a turn/m);
    assert.match(text, /^ {2}typing {7}allowed in its terminal$/m);
    room.hub.close(bridge);
    window.close();
    await session.hook('session-end');
    const ended = await reachOf(room, session.agent);
    assert.equal(ended.state, ended.presence === 'offline' ? 'gone' : 'unknown');
    assert.notEqual(ended.idle.how, 'its background hook');
  });

  test('a call that waits gets it at once; agents elsewhere have the ways of their mail', async (t) => {
    const room = await withHub(t);
    const [ann] = await room.hub.agents(['ann']);
    const waiting = ann.call('inbox', { wait_seconds: 45 });
    await until('it waits', async () => (await reachOf(room, 'ann')).now.how === 'waiting call');
    const { text } = await doctor(room);
    assert.match(text, /^✓ ann {17}waiting {3}next bus call/m);
    const person = await room.hub.client();
    await person.call('send', { to: 'ann', text: 'hello' });
    await waiting;
    assert.equal((await reachOf(room, 'ann')).now.how, 'next bus call');
  });

  test('Codex is connected and its hooks were not heard: approve them there', async (t) => {
    const room = await withHub(t);
    await room.ok('connect', 'codex');
    const bridge = await room.hub.client({ attach: { workspace: room.project, product: 'codex' }, via: 'stdio' });
    const { code, text } = await doctor(room);
    assert.equal(code, needsYou);
    assert.match(text, /^! Codex {8}connected\n {4}its hooks were not heard yet\n {4}→ Codex has not run a hook/m);
    assert.match(
      flat(text),
      /now, while busy, end of turn: no hook of its session was heard yet → Codex has not run a hook of the bus yet: open Codex and approve them with \/hooks/,
    );
    await room.ok('connect', 'codex', '--no-hooks');
    assert.match(
      flat((await doctor(room, bridge.agent)).text),
      /connected without hooks: agent-bus connect codex adds them/,
    );
    await room.ok('connect', 'codex');
    const session = await FakeSession.start(room.hub, { workspace: room.project, product: 'codex' });
    assert.match((await doctor(room)).text, /^ {2}Codex {8}connected$/m, 'a hook was heard');
    assert.equal((await reachOf(room, session.agent)).hooks, true);
  });

  test('a broken configuration: which file, which line, and what to do', async (t) => {
    const room = await withHub(t);
    room.write('.gemini/settings.json', '{\n  "ui": {\n  "mcpServers": 3\n');
    await room.ok('connect', 'claude');
    fs.rmSync(`${room.home}/.claude/settings.json`);
    room.write('.claude/settings.json', '{}\n');
    const { code, text } = await doctor(room);
    assert.equal(code, needsYou);
    assert.match(text, /^! Gemini CLI {3}settings can’t be read$/m);
    assert.match(
      flat(text),
      /~\/\.gemini\/settings\.json, line \d: .* → correct the file there, then run agent-bus connect gemini/,
    );
    assert.match(text, /^ {2}Claude Code {2}connected without hooks; agent-bus connect claude adds them$/m);
    const parsed = JSON.parse((await doctor(room, '--json')).text);
    assert.deepEqual(
      parsed.findings.map(({ about }: { about: string }) => about),
      ['Gemini CLI'],
    );
    assert.equal(parsed.products.find(({ name }: { name: string }) => name === 'gemini').user.state, 'unreadable');
  });

  test('an unknown agent is an error as everywhere', async (t) => {
    const room = await withHub(t);
    const { code, error } = await room.run('doctor', 'nobody');
    assert.equal(code, 5);
    assert.match(error, /No agent is called "nobody"/);
  });
});
