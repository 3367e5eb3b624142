import '../support/fakeVscode.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, test, type TestContext } from 'node:test';
import type { Uri } from 'vscode';
import { install } from '../../src/connect/installation.ts';
import { BusError } from '../../src/core/errors.ts';
import { version } from '../../src/hub/version.ts';
import { ConnectRoom } from '../support/connectRoom.ts';
import { ScriptedPerson } from '../support/scriptedPerson.ts';

const vscode = await import('vscode');
const { connectCommands } = await import('../../src/extension/commands/connectCommands.ts');
const { ReadonlyTexts } = await import('../../src/extension/connect/readonlyTexts.ts');
const root = join(import.meta.dirname, '..', '..');
execFileSync(process.execPath, [join(root, 'esbuild.mjs')], { stdio: 'ignore' });

type Preview = [command: string, title: string, files: [file: Uri, before: Uri | undefined, after: Uri | undefined][]];

/** Another person's settings, in a form that nobody's printer makes. */
const ownSettings = '{\n    // theme\n    "ui": { "theme": "Dark" }, /* last */\n}\n\n';

describe('Connect an Agent', { skip: process.platform === 'win32' }, () => {
  let person: ScriptedPerson;

  /** A window on the project of this room; nothing of the machine's own products gets in. */
  function open(t: TestContext, folders = (room: ConnectRoom) => [room.project]): ConnectRoom {
    const room = new ConnectRoom(t);
    const path = '/nothing/here:/usr/bin:/bin';
    const before = { ...process.env };
    Object.assign(process.env, room.env, { PATH: path, AGENT_BUS_HOME: room.cli.home.folder });
    t.after(() => {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    });
    person.folders = folders(room);
    person.sit();
    return room;
  }

  async function run(room: ConnectRoom, ...choices: ScriptedPerson['choices']): Promise<void> {
    person.choices = choices;
    const texts = new ReadonlyTexts();
    person.texts = texts;
    const { home } = room.cli;
    const installed = () => install({ from: join(root, 'dist'), version, home });
    const commands = connectCommands({ installed, texts, extension: '/extensions/agent-bus' } as never);
    await commands['connectAgent']?.();
    assert.deepEqual(person.tabs, [], 'no preview is left behind');
  }

  beforeEach(() => {
    person = new ScriptedPerson();
  });

  test('lists what is installed and how it is known, and what is not there last', async (t) => {
    const room = open(t);
    for (const folder of ['.codex', '.gemini']) fs.mkdirSync(join(room.home, folder));
    await run(room);
    const labels = person.items.map(({ label }) => label.replace(/^\$\(.*?\) /, ''));
    const end = labels.indexOf('');
    assert.ok(end > labels.indexOf('Gemini CLI') && end > labels.indexOf('Codex'));
    assert.ok(labels.indexOf('Claude Code') > end && labels.indexOf('Cursor') > end);
    assert.equal(person.item('Gemini CLI').description, 'not connected');
    assert.equal(person.item('Gemini CLI').detail, 'found: ~/.gemini');
    assert.equal(person.item('Cursor').description, 'not found on this machine');
    const { description, detail } = person.item('VS Code');
    assert.deepEqual([description, detail], ['connected', 'by this extension']);
    await run(room, 'VS Code');
    assert.match(person.said[0] ?? '', /VS Code is connected: the extension is installed in \/extensions\/agent-bus\./);
    assert.deepEqual(person.lists.length, 2, 'there is nothing to choose');
  });

  test('shows every change, writes when told so, proves it, and takes it back to the byte', async (t) => {
    const room = open(t);
    const settings = room.write('.gemini/settings.json', ownSettings);
    const before = room.snapshot();
    await run(room, 'Gemini CLI', 'Connect', 'Leave Off', 'Write', 'Show Details');
    assert.deepEqual(person.lists, [
      'Connect an Agent',
      'Gemini CLI',
      '~/.gemini/settings.json would change as you see below',
    ]);

    const [, [command, title, [[file, left, right] = []] = []] = []] = person.commands as [unknown[], Preview];
    assert.deepEqual([command, title], ['vscode.changes', 'Gemini CLI: What Would Change']);
    assert.deepEqual(person.commands[0], ['workbench.action.keepEditor'], 'the person’s own tab stays');
    assert.deepEqual([file?.path, left?.path], [settings, settings], 'named and coloured like the file');
    assert.equal(person.read(left), ownSettings);
    assert.equal(person.read(right), fs.readFileSync(settings, 'utf8'), 'what was shown is what was written');
    assert.equal(fs.readFileSync(`${settings}.agent-bus-backup`, 'utf8'), ownSettings);

    assert.match(person.said.at(-1) ?? '', /^Gemini CLI is connected, in your own settings\. It works: .* 10 tools\./);
    assert.match(person.said.at(-1) ?? '', /In this folder it is the agent "shop-gemini"\./);
    assert.match(person.said.at(-1) ?? '', /What remains for you:\n {2}- .*Sessions of Gemini CLI/s);
    const told = person.read(person.documents[0]);
    assert.match(told, /changed {2}~\/\.gemini\/settings\.json {2}\(as it was: ~\/\.gemini\/settings\.json\.agent-bus/);
    assert.match(told, /What remains for you:/);
    assert.doesNotMatch(told, /not found on this machine/);

    await run(room, 'Gemini CLI', 'Test', 'OK');
    assert.equal(person.commands.length, 2, 'nothing would change, so nothing is shown');
    assert.match(person.said.at(-1) ?? '', /^Nothing to change: Gemini CLI is connected already.*10 tools/s);
    await run(room);
    assert.equal(person.item('Gemini CLI').description, 'connected');

    await run(room, 'Gemini CLI', 'Disconnect', 'Disconnect', 'Show Details');
    assert.match(person.said.at(-1) ?? '', /Gemini CLI is no longer connected\. Taken out of your own settings\.$/);
    assert.deepEqual(room.snapshot(), before);
  });

  test('writes nothing when the person leaves it, at any step', async (t) => {
    const room = open(t);
    const before = room.snapshot();
    for (const choices of [[], ['Codex'], ['Codex', 'Connect'], ['Codex', 'Connect', 'Leave']]) {
      await run(room, ...choices);
    }
    assert.deepEqual(room.snapshot(), before);
    assert.deepEqual(person.said, []);
    const [command, title, files] = person.commands[1] as Preview;
    assert.deepEqual([command, title], ['vscode.changes', 'Codex: What Would Change']);
    assert.deepEqual(
      files.map(([file, before]) => [file.path, before]),
      [
        [join(room.home, '.codex/config.toml'), undefined],
        [join(room.home, '.codex/hooks.json'), undefined],
      ],
    );
  });

  test('connects with tools only, adds the hooks later, and takes them out again', async (t) => {
    const room = open(t);
    const hooks = (): unknown => JSON.parse(room.read('.gemini/settings.json')).hooks;
    await run(room, 'Gemini CLI', 'Tools Only', 'Write', 'OK');
    assert.match(person.said.at(-1) ?? '', /in your own settings, without hooks\./);
    assert.equal(hooks(), undefined);
    await run(room);
    assert.equal(person.item('Gemini CLI').description, 'connected without hooks');
    await run(room, 'Gemini CLI', 'Add Hooks', 'Leave Off', 'Write', 'OK');
    assert.ok(hooks());
    await run(room, 'Gemini CLI', 'Take Out the Hooks', 'Write', 'OK');
    assert.equal(hooks(), undefined);
  });

  test('switches on what a product calls experimental only if the person says so, and back off again', async (t) => {
    const room = open(t);
    room.write('.gemini/settings.json', ownSettings);
    const before = room.snapshot();
    const steering = (): boolean => room.read('.gemini/settings.json').includes('modelSteering');
    await run(room, 'Gemini CLI', 'Connect', 'neither of them');
    assert.match(person.said[0] ?? '', /^May Gemini CLI be woken while it is idle\? .*experimental\.modelSteering/);
    assert.deepEqual(room.snapshot(), before, 'the person thought better of it');
    await run(room, 'Gemini CLI', 'Connect', 'Leave Off', 'Write', 'OK');
    assert.equal(steering(), false);
    await run(room, 'Gemini CLI', 'Let It Be Woken', 'Switch On', 'Write', 'OK');
    assert.equal(steering(), true);
    assert.doesNotMatch(person.said.at(-1) ?? '', /can’t be woken/);
    await run(room, 'Gemini CLI');
    assert.ok(!person.items.some(({ label }) => label.includes('Woken')), 'it is on');
    await run(room, 'Gemini CLI', 'Disconnect', 'Disconnect');
    assert.deepEqual(room.snapshot(), before);
  });

  test('offers to repair what is there in part', async (t) => {
    const room = open(t);
    await run(room, 'Claude Code', 'Connect', 'Write', 'OK');
    const whole = room.read('.claude/settings.json');
    room.write('.claude/settings.json', whole.replaceAll('SessionStart', 'SessionBegin'));
    await run(room);
    assert.equal(person.item('Claude Code').description, 'connected in part');
    assert.match(person.item('Claude Code').detail ?? '', /to be written: ~\/\.claude\/settings\.json/);
    await run(room, 'Claude Code', 'Repair', 'Write', 'OK');
    assert.deepEqual(Object.keys(JSON.parse(room.read('.claude/settings.json')).hooks).includes('SessionStart'), true);
    await run(room);
    assert.equal(person.item('Claude Code').description, 'connected');
  });

  test('never touches a file that can’t be read: says where and why, and opens it', async (t) => {
    const room = open(t);
    const path = room.write('.gemini/settings.json', '{\n  "ui": {},\n  "hooks": [}\n}\n');
    const before = room.snapshot();
    await run(room);
    assert.equal(person.item('Gemini CLI').description, 'can’t be read');
    assert.match(person.item('Gemini CLI').detail ?? '', /~\/\.gemini\/settings\.json, line 3: /);
    await run(room, 'Gemini CLI', 'Show What Is Wrong', 'Open File');
    assert.match(person.said.at(-1) ?? '', /^~\/\.gemini\/settings\.json, line 3: /);
    assert.match(person.said.at(-1) ?? '', /Nothing was changed\. Correct the file there/);
    const [command, uri, options] = person.commands[0] as [string, Uri, { selection: { start: { line: number } } }];
    assert.deepEqual([command, uri.path, options.selection.start.line], ['vscode.open', path, 2]);
    assert.deepEqual(room.snapshot(), before);
  });

  test('goes on with the other files if the person says so', async (t) => {
    const room = open(t);
    room.write('.claude/settings.json', 'not JSON');
    await run(room, 'Claude Code', 'Show What Is Wrong', 'Open File');
    assert.match(person.said.at(-1) ?? '', /That file will not be touched\. Go on with .*\.claude\.json\?/);
    assert.equal(fs.existsSync(join(room.home, '.claude.json')), false);
    await run(room, 'Claude Code', 'Show What Is Wrong', 'Go On', 'Write', 'Show Details');
    assert.equal(room.read('.claude/settings.json'), 'not JSON');
    assert.match(person.said.at(-1) ?? '', /Claude Code is connected.*10 tools/s);
    assert.match(person.read(person.documents[0]), /not touched {2}~\/\.claude\/settings\.json: /);
  });

  test('connects in one project, and knows no project without a folder', async (t) => {
    const room = open(t);
    const project = join(room.project, '.gemini', 'settings.json');
    await run(room, 'Gemini CLI', 'Connect for shop Only', 'Leave Off', 'Write', 'OK');
    assert.match(person.said.at(-1) ?? '', /^Gemini CLI is connected, in the project .*\/shop\. It works/);
    assert.ok(fs.existsSync(project) && !fs.existsSync(join(room.home, '.gemini')));
    await run(room);
    assert.match(person.item('Gemini CLI').description ?? '', /^connected in this project/);

    person.folders = [];
    person.sit();
    await run(room, 'Gemini CLI');
    assert.deepEqual(
      person.items.filter(({ kind }) => kind).map(({ label }) => label),
      ['your own settings'],
    );
    assert.match(person.item('Connect').detail ?? '', /^~\/\.gemini/);
  });

  test('writes nothing over what somebody else has written meanwhile', async (t) => {
    const room = open(t);
    room.write('.gemini/settings.json', ownSettings);
    const meanwhile = (): string => {
      room.write('.gemini/settings.json', '{}');
      return 'Write';
    };
    await assert.rejects(
      run(room, 'Gemini CLI', 'Connect', 'Leave Off', meanwhile),
      (error) => error instanceof BusError && /changed by somebody else/.test(error.message),
    );
    assert.equal(room.read('.gemini/settings.json'), '{}');
    assert.equal(fs.existsSync(join(room.home, '.gemini/settings.json.agent-bus-backup')), false);
  });

  test('says so where the server does not work, and how to take it back', async (t) => {
    const room = open(t);
    const breakIt = (): string => {
      fs.writeFileSync(join(room.cli.home.folder, 'bin', 'agent-bus'), '#!/bin/sh\necho broken >&2\nexit 3\n');
      return 'Write';
    };
    await assert.rejects(run(room, 'Gemini CLI', 'Connect', 'Leave Off', breakIt), (error) => {
      assert.ok(error instanceof BusError);
      assert.match(error.message, /Gemini CLI is configured, but it would not reach the bus\..*broken/s);
      assert.match(
        error.next,
        /The configuration stays\. .*“Agent Bus: Connect an Agent…” again and choose Disconnect/,
      );
      return true;
    });
    assert.equal(person.said.length, 1, 'nothing but the question');
  });

  test('does nothing in a workspace that is not trusted', async (t) => {
    const room = open(t);
    Object.assign(vscode.workspace, { isTrusted: false });
    await assert.rejects(run(room, 'Gemini CLI'), (error) => error instanceof BusError && error.code === 'forbidden');
    assert.deepEqual(person.lists, []);
  });
});
