import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { install } from '../../src/connect/installation.ts';
import { posixLauncher, readMark, windowsLauncher } from '../../src/connect/launcher.ts';
import { busHome } from '../../src/hub/home.ts';
import { tempFolder } from '../support/tempFolder.ts';

/** Bundles as small as they get: the command prints what it was told. */
function bundles(t: TestContext, text = 'one'): string {
  const from = join(tempFolder(t), 'di st');
  fs.mkdirSync(from);
  const cli = `console.log(JSON.stringify([${JSON.stringify(text)}, process.env.AGENT_BUS_HOME, process.argv.slice(2)]))`;
  fs.writeFileSync(join(from, 'cli.js'), cli);
  for (const name of ['hub.js', 'extension.js', 'webview.js']) fs.writeFileSync(join(from, name), `// ${name}`);
  fs.writeFileSync(join(from, 'package.json'), '{"type":"commonjs"}');
  fs.writeFileSync(join(from, '.build.json'), '{}');
  return from;
}

function place(t: TestContext) {
  const env = { ...process.env, AGENT_BUS_HOME: join(tempFolder(t), "it's a $HOME") };
  return { env, home: busHome(env) };
}

const run = (bin: string, ...args: string[]): unknown =>
  JSON.parse(
    execFileSync(join(bin, 'agent-bus'), args, { encoding: 'utf8', env: { ...process.env, AGENT_BUS_HOME: '' } }),
  );

describe('the lasting copy of the programs', { skip: process.platform === 'win32' }, () => {
  test('is complete, starts from anywhere, and speaks to its own bus', async (t) => {
    const { env, home } = place(t);
    const { bin, hubScript } = await install({ from: bundles(t), version: '1.0.0', env });
    assert.deepEqual(fs.readdirSync(join(hubScript, '..')).sort(), ['cli.js', 'hub.js', 'package.json']);
    assert.deepEqual(run(bin, 'send', 'a b', "it's"), ['one', home.folder, ['send', 'a b', "it's"]]);
    assert.equal(fs.statSync(home.folder).mode & 0o777, 0o700);
  });

  test('the same again changes nothing; another build of the same version is another copy', async (t) => {
    const { env, home } = place(t);
    const from = bundles(t);
    const first = await install({ from, version: '1.0.0', env });
    const before = fs.statSync(join(first.bin, 'agent-bus')).ino;
    assert.deepEqual(await install({ from, version: '1.0.0', env }), first);
    assert.equal(fs.statSync(join(first.bin, 'agent-bus')).ino, before);
    const second = await install({ from: bundles(t, 'two'), version: '1.0.0', env });
    assert.notEqual(second.hubScript, first.hubScript);
    assert.deepEqual((run(second.bin) as unknown[])[0], 'two');
    assert.equal(fs.readdirSync(join(home.folder, 'app')).length, 2);
  });

  test('two copies are kept', async (t) => {
    const { env, home } = place(t);
    for (const text of ['a', 'b', 'c', 'd']) {
      const { hubScript } = await install({ from: bundles(t, text), version: '1.0.0', env });
      const age = new Date(Date.now() - (100 - text.charCodeAt(0)) * 60_000);
      fs.utimesSync(join(hubScript, '..'), age, age);
    }
    const kept = fs.readdirSync(join(home.folder, 'app'));
    assert.equal(kept.length, 2);
  });

  test('an older extension leaves a newer installation alone, unless that is broken', async (t) => {
    const { env } = place(t);
    const newer = await install({ from: bundles(t, 'new'), version: '1.10.0', env });
    const older = await install({ from: bundles(t, 'old'), version: '1.9.0', env });
    assert.equal(older.hubScript, newer.hubScript);
    fs.rmSync(join(newer.hubScript, '..'), { recursive: true });
    await install({ from: bundles(t, 'old'), version: '1.9.0', env });
    assert.equal((run(newer.bin) as unknown[])[0], 'old');
  });

  test('a damaged copy is made anew', async (t) => {
    const { env } = place(t);
    const from = bundles(t);
    const { hubScript, bin } = await install({ from, version: '1.0.0', env });
    fs.rmSync(join(hubScript, '..', 'cli.js'));
    await install({ from, version: '1.0.0', env });
    assert.equal((run(bin) as unknown[])[0], 'one');
  });

  test('ten windows at once', async (t) => {
    const { env, home } = place(t);
    const from = bundles(t);
    await Promise.all(Array.from({ length: 10 }, () => install({ from, version: '1.0.0', env })));
    assert.equal(fs.readdirSync(join(home.folder, 'app')).length, 1);
    assert.deepEqual(fs.readdirSync(join(home.folder, 'bin')), ['agent-bus']);
  });

  test('a moved editor: node from the PATH stands in; without one it says what to do', async (t) => {
    const { env } = place(t);
    const { bin } = await install({ from: bundles(t), version: '1.0.0', env, runtime: '/gone/code' });
    assert.equal((run(bin) as unknown[])[0], 'one');
    const empty = tempFolder(t);
    const call = () => execFileSync('/bin/sh', [join(bin, 'agent-bus')], { env: { PATH: empty }, stdio: 'pipe' });
    assert.throws(call, /Start VS Code once/);
  });
});

test('launchers say which version they are', () => {
  const parts = { version: '1.2.3', runtime: '/r', app: '/a b/c', home: undefined, path: '/p', cache: '/c' };
  assert.deepEqual(readMark(posixLauncher(parts)), { version: '1.2.3', app: '/a b/c' });
  assert.deepEqual(readMark(windowsLauncher({ ...parts, app: 'C:\\a b' }).replaceAll('\r', '')), {
    version: '1.2.3',
    app: 'C:\\a b',
  });
  assert.equal(readMark('#!/bin/sh\necho'), undefined);
});

test('the launcher for Windows spells a user’s folder by its variable', () => {
  const local = 'C:\\Users\\Jörg\\AppData\\Local';
  const text = windowsLauncher(
    {
      version: '1.0.0',
      runtime: `${local}\\Programs\\Microsoft VS Code\\Code.exe`,
      app: `${local}\\agent-bus\\app\\1.0.0-1`,
      home: undefined,
      path: `${local}\\agent-bus\\bin\\agent-bus.cmd`,
      cache: `${local}\\agent-bus\\compile-cache`,
    },
    { LOCALAPPDATA: local },
  );
  const commands = text.split('\r\n').filter((line) => !line.startsWith('rem'));
  assert.ok(commands.includes('set "runtime=%LOCALAPPDATA%\\Programs\\Microsoft VS Code\\Code.exe"'));
  assert.doesNotMatch(commands.join('\n'), /Jörg/);
});
