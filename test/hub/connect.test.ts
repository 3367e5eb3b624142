import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'smol-toml';
import { cliScript } from '../support/cliProcess.ts';
import { ConnectRoom } from '../support/connectRoom.ts';
import { until } from '../support/hubProcess.ts';

const withFiles = ['claude', 'codex', 'gemini', 'copilot', 'cursor'];

/** What people have in these files already. */
const full: Record<string, string> = {
  '.claude.json': '{\n  "numStartups": 3,\n  "mcpServers": {},\n  "projects": {"/a": {"mcpServers": {"x": {}}}}\n}',
  '.claude/settings.json': '{\r\n\t"permissions": {"allow": ["Bash(ls)"]},\r\n\t"hooks": {"Stop": []},\r\n}\r\n',
  '.codex/config.toml': '# mine\nmodel = "x"\n\n[mcp_servers.docs]\ncommand = "docs" # [not] ours',
  '.codex/hooks.json': '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}',
  '.gemini/settings.json': '\uFEFF{\n    // theme\n    "ui": { "theme": "Dark" }, /* last */\n}\n\n',
  '.copilot/mcp-config.json': '{ "mcpServers": { "github": { "type": "http", "url": "https://x" } } }\n',
  '.cursor/mcp.json': '{}',
  '.cursor/hooks.json': '{\n  "version": 1,\n  "hooks": {\n  }\n}\n',
};

describe('agent-bus connect', { skip: process.platform === 'win32' }, () => {
  for (const product of withFiles) {
    test(`${product}: written, proved, the same again, and taken back without a trace`, async (t) => {
      const room = new ConnectRoom(t);
      const before = room.snapshot();
      for (const scope of ['--user', '--project']) {
        const first = await room.json('connect', product, scope);
        assert.equal(first.proof.tools.length, 10);
        assert.equal(first.proof.agent, `shop-${product === 'copilot' ? 'copilot-cli' : product}`);
        assert.ok(first.changed.every(({ change }: { change: string }) => change === 'created'));
        const written = room.snapshot();
        assert.deepEqual((await room.json('connect', product, scope)).changed, []);
        assert.deepEqual(room.snapshot(), written);
        await room.ok('disconnect', product, scope);
        assert.deepEqual(room.snapshot(), before, scope);
      }
    });

    test(`${product}: what was in the files stays, and is there to the byte afterwards`, async (t) => {
      const room = new ConnectRoom(t);
      for (const [path, text] of Object.entries(full)) fs.chmodSync(room.write(path, text), 0o640);
      const before = room.snapshot();
      const { changed } = await room.json('connect', product);
      assert.ok(changed.length > 0);
      for (const { path, backup } of changed) {
        if (backup === undefined) continue;
        const kept = `${fs.statSync(backup).mode} ${fs.readFileSync(backup, 'latin1')}`;
        assert.equal(kept, before[path], 'a copy, with its mode');
        assert.equal(fs.statSync(path).mode & 0o777, 0o640);
      }
      await room.ok('disconnect', product);
      assert.deepEqual(room.snapshot(), before);
    });
  }

  test('a file that was there and empty is so again, and a backup of it does not stay', async (t) => {
    const room = new ConnectRoom(t);
    for (const [path, text] of Object.entries({
      '.claude.json': '',
      '.claude/settings.json': '\n',
      '.codex/config.toml': '',
    })) {
      room.write(path, text);
    }
    const before = room.snapshot();
    for (const product of ['claude', 'codex']) await room.ok('connect', product);
    for (const product of ['claude', 'codex']) await room.ok('disconnect', product);
    assert.deepEqual(room.snapshot(), before);
  });

  test('each product has its files where it looks for them, in its own form', async (t) => {
    const room = new ConnectRoom(t);
    for (const product of withFiles) await room.ok('connect', product);
    const read = (path: string) => JSON.parse(room.read(path));
    const command = join(room.cli.home.folder, 'bin', 'agent-bus');
    const line = (product: string, event: string) => `${command} hook ${product} ${event}`;
    const server = (product: string) => ({ command, args: ['mcp', '--product', product] });
    assert.deepEqual(read('.claude.json').mcpServers['agent-bus'], { type: 'stdio', ...server('claude') });
    assert.deepEqual(read('.claude/settings.json').hooks.Stop, [
      { hooks: [{ type: 'command', command: line('claude', 'Stop'), timeout: 5 }] },
    ]);
    assert.deepEqual(structuredClone(parse(room.read('.codex/config.toml'))['mcp_servers']), {
      'agent-bus': server('codex'),
    });
    assert.deepEqual(Object.keys(read('.codex/hooks.json').hooks), [
      'SessionStart',
      'UserPromptSubmit',
      'PostToolUse',
      'Stop',
    ]);
    assert.deepEqual(read('.gemini/settings.json').mcpServers['agent-bus'], server('gemini'));
    assert.equal(read('.gemini/settings.json').hooks.AfterAgent[0].hooks[0].timeout, 5_000);
    assert.deepEqual(read('.copilot/mcp-config.json').mcpServers['agent-bus'], {
      type: 'local',
      ...server('copilot-cli'),
      tools: ['*'],
    });
    const copilot = read('.copilot/hooks/agent-bus.json');
    assert.equal(copilot.version, 1);
    assert.equal(copilot.hooks.agentStop[0].bash, line('copilot', 'agentStop'));
    // As Cursor's documentation has it: a version, lists of commands by event, servers by name.
    assert.deepEqual(read('.cursor/mcp.json'), { mcpServers: { 'agent-bus': server('cursor') } });
    const cursor = read('.cursor/hooks.json');
    assert.equal(cursor.version, 1);
    assert.deepEqual(cursor.hooks.stop, [{ command: line('cursor', 'stop'), timeout: 5 }]);
    for (const text of Object.values(room.snapshot())) assert.doesNotMatch(text, /token|Bearer/i);
  });

  test('VS Code: the extension is the way; with --project it is .vscode/mcp.json', async (t) => {
    const room = new ConnectRoom(t);
    const before = room.snapshot();
    assert.match(await room.ok('connect', 'vscode'), /code --install-extension agent-bus\.agent-bus/);
    assert.deepEqual(room.snapshot(), before);
    const { proof } = await room.json('connect', 'vscode', '--project');
    assert.equal(proof.agent, 'shop-copilot');
    const file = JSON.parse(fs.readFileSync(join(room.project, '.vscode', 'mcp.json'), 'utf8'));
    assert.equal(file.servers['agent-bus'].type, 'stdio');
    await room.ok('disconnect', 'vscode', '--project');
    assert.deepEqual(room.snapshot(), before);
  });

  test('--no-hooks leaves the hooks out, also those of an earlier time', async (t) => {
    const room = new ConnectRoom(t);
    await room.ok('connect', 'copilot');
    await room.ok('connect', 'copilot', '--no-hooks');
    assert.ok(!fs.existsSync(join(room.home, '.copilot', 'hooks')));
    const { products } = await room.json('connect');
    const copilot = products.find(({ name }: { name: string }) => name === 'copilot');
    assert.equal(copilot.user.state, 'without hooks');
    assert.equal(copilot.project.state, 'no');
  });

  for (const [product, path] of [
    ['copilot', '.copilot/settings.json'],
    ['gemini', '.gemini/settings.json'],
  ] as const) {
    const on = { copilot: '"experimental": true', gemini: '"modelSteering": true' }[product];
    const off = { copilot: '"experimental": false', gemini: '"experimental": { "modelSteering": false, "x": 1 }' }[
      product
    ];

    test(`${product}: what is experimental is switched on only by the person, and put back as it was`, async (t) => {
      const room = new ConnectRoom(t);
      const memory = join(room.cli.home.folder, 'switched.json');
      const nothing = room.snapshot();
      const { remains } = await room.json('connect', product);
      assert.ok(
        remains.some((line: string) => line.includes('--experimental')),
        'it says what remains',
      );
      assert.ok(!Object.values(room.snapshot()).some((text) => text.includes(on)));
      const second = await room.json('connect', product, '--experimental');
      assert.equal(second.changed.length, 1);
      assert.ok(!second.remains.some((line: string) => line.includes('--experimental')));
      assert.ok(room.read(path).includes(on));
      const written = room.snapshot();
      assert.deepEqual((await room.json('connect', product, '--experimental')).changed, []);
      assert.deepEqual((await room.json('connect', product)).changed, [], 'it stays as the person wanted it');
      assert.deepEqual(room.snapshot(), written);
      await room.ok('disconnect', product);
      assert.deepEqual(room.snapshot(), nothing);
      assert.ok(!fs.existsSync(memory));

      room.write(path, `{\n  // mine\n  ${off},\n  "theme": "dark"\n}\n`);
      const before = room.snapshot();
      await room.ok('connect', product, '--experimental');
      assert.ok(room.read(path).includes(on));
      await room.ok('disconnect', product);
      assert.deepEqual(room.snapshot(), before);

      await room.ok('connect', product, '--experimental');
      await room.ok('connect', product, '--no-hooks');
      assert.ok(room.read(path).includes(off), 'without hooks nothing is woken');
      await room.ok('disconnect', product);
      assert.deepEqual(room.snapshot(), before);
    });
  }

  test('what the person had switched on stays on, and --experimental is only for those who need it', async (t) => {
    const room = new ConnectRoom(t);
    room.write('.copilot/settings.json', '{"experimental": true}');
    const before = room.snapshot();
    const { remains, changed } = await room.json('connect', 'copilot', '--experimental');
    assert.ok(!remains.some((line: string) => line.includes('--experimental')));
    assert.ok(!changed.some(({ path }: { path: string }) => path.endsWith('settings.json')));
    await room.ok('disconnect', 'copilot');
    assert.deepEqual(room.snapshot(), before);
    assert.equal((await room.run('connect', 'claude', '--experimental')).code, 2);
    assert.equal((await room.run('connect', 'gemini', '--experimental', '--no-hooks')).code, 2);
  });

  test('somebody else’s file in the place of one of ours is not touched', async (t) => {
    const room = new ConnectRoom(t);
    room.write('.copilot/extensions/agent-bus/extension.mjs', '// mine\n');
    const before = room.snapshot();
    const { code, error } = await room.run('connect', 'copilot');
    assert.equal(code, 1);
    assert.match(error, /somebody else’s file/);
    await room.ok('disconnect', 'copilot');
    assert.deepEqual(room.snapshot(), before);
  });

  test('--dry-run shows the difference, and writes nothing, not even a launcher', async (t) => {
    const room = new ConnectRoom(t);
    room.write('.gemini/settings.json', '{\n  "ui": {}\n}\n');
    const before = room.snapshot();
    const text = await room.ok('connect', 'gemini', '--dry-run');
    assert.match(text, /^--- .*settings\.json\n\+\+\+ .*settings\.json\n@@ -1,3 \+1,\d+ @@\n/);
    assert.match(text, /^\+ {2}"mcpServers": \{$/m);
    assert.deepEqual(room.snapshot(), before);
    assert.ok(!fs.existsSync(join(room.cli.home.folder, 'bin')));
  });

  test('a file that can’t be read stops everything: which, where, why, and nothing is touched', async (t) => {
    const room = new ConnectRoom(t);
    room.write('.claude/settings.json', '{\n  "a": 1\n  "b": 2\n}\n');
    room.write('.codex/config.toml', 'model = "x"\nmodel = "y"\n');
    room.write('.gemini/settings.json', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    const before = room.snapshot();
    for (const [product, said] of [
      ['claude', /settings\.json, line 3: .*JSON/],
      ['codex', /config\.toml, line 2: .*TOML/],
      ['gemini', /settings\.json: .*UTF-8/],
    ] as const) {
      for (const command of ['connect', 'disconnect']) {
        const { code, text, error } = await room.run(command, product);
        assert.equal(code, 1);
        assert.equal(text, '');
        assert.match(error, said);
        assert.match(error, /Nothing was changed\. .*\(bad-settings\)/);
      }
    }
    assert.deepEqual(room.snapshot(), before);
    const { products } = await room.json('connect');
    assert.equal(products[0].user.state, 'unreadable');
  });

  test(
    'at a terminal the person is asked whether to go on with the other files',
    { skip: !hasTerminal() },
    async (t) => {
      const room = new ConnectRoom(t);
      const broken = room.write('.claude.json', '{ broken');
      for (const answer of ['n', 'y']) {
        const line = [process.execPath, cliScript, 'connect', 'claude'].map((word) => `'${word}'`).join(' ');
        const child = spawn('script', ['-qec', line, '/dev/null'], {
          env: room.cli.environment(room.env),
          cwd: room.project,
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        let said = '';
        child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
        await until('it asks', () => /Go on with .*settings\.json\? \[y\/N\]/.test(said));
        child.stdin.write(`${answer}\n`);
        const [exit] = (await once(child, 'close')) as [number];
        assert.equal(exit, 1, said);
        assert.match(said, answer === 'y' ? /no server yet: .*\.claude\.json/ : /Nothing was changed/);
        assert.equal(fs.readFileSync(broken, 'utf8'), '{ broken');
        assert.equal(fs.existsSync(join(room.home, '.claude', 'settings.json')), answer === 'y');
      }
    },
  );

  test('links stay links, and what they lead to is changed', async (t) => {
    const room = new ConnectRoom(t);
    const real = room.write('dotfiles/claude.json', '{"a": 1}\n');
    fs.symlinkSync(join('dotfiles', 'claude.json'), join(room.home, '.claude.json'));
    fs.mkdirSync(join(room.home, '.claude'));
    fs.symlinkSync(join('..', 'dotfiles', 'settings.json'), join(room.home, '.claude', 'settings.json'));
    await room.ok('connect', 'claude');
    assert.ok(fs.lstatSync(join(room.home, '.claude.json')).isSymbolicLink());
    assert.match(fs.readFileSync(real, 'utf8'), /agent-bus/);
    assert.match(room.read('dotfiles/settings.json'), /hook claude Stop/);
    await room.ok('disconnect', 'claude');
    assert.equal(fs.readFileSync(real, 'utf8'), '{"a": 1}\n');
    assert.ok(fs.lstatSync(join(room.home, '.claude', 'settings.json')).isSymbolicLink());
  });

  test('the first copy is never overwritten, and another original gets a copy of its own', async (t) => {
    const room = new ConnectRoom(t);
    const path = room.write('.claude.json', '{"first": 1}');
    await room.ok('connect', 'claude', '--no-hooks');
    fs.writeFileSync(path, room.read('.claude.json').replace('1', '2'));
    fs.writeFileSync(path, room.read('.claude.json').replace('--product', '--pro'));
    await room.ok('connect', 'claude', '--no-hooks');
    await room.ok('disconnect', 'claude');
    assert.equal(room.read('.claude.json'), '{"first": 2}');
    assert.equal(room.read('.claude.json.agent-bus-backup'), '{"first": 1}');
    await room.ok('connect', 'claude', '--no-hooks');
    assert.equal(room.read('.claude.json.agent-bus-backup'), '{"first": 1}');
    assert.equal(room.read('.claude.json.agent-bus-backup-2'), '{"first": 2}');
  });

  test('a server that does not work is told, and so is the way back', async (t) => {
    const room = new ConnectRoom(t);
    room.cli.folder.configure({ port: 'wrong' });
    const { code, text, error } = await room.run('connect', 'gemini');
    assert.equal(code, 1);
    assert.match(text, /Gemini CLI is connected/);
    assert.match(error, /would not reach the bus.*settings\.json/s);
    assert.match(error, /configuration stays\. To take back what was written: .* disconnect gemini/);
    assert.match(room.read('.gemini/settings.json'), /agent-bus/);
  });

  test('without a name it lists the products, with one it does not know it says which it knows', async (t) => {
    const room = new ConnectRoom(t);
    fs.mkdirSync(join(room.home, '.codex'));
    await room.ok('connect', 'claude');
    const text = await room.ok('connect');
    assert.match(text, /^ {2}claude +Claude Code +installed +connected$/m);
    assert.match(text, /^ {2}codex +Codex +installed +not connected$/m);
    assert.match(text, /To connect one: .* connect codex$/m);
    const { code, error } = await room.run('connect', 'gemeni');
    assert.equal(code, 2);
    assert.match(error, /Did you mean gemini\?/);
    assert.equal((await room.run('connect', 'claude', '--user', '--project')).code, 2);
  });
});

/** A program of util-linux that is a terminal to whatever it runs. */
function hasTerminal(): boolean {
  try {
    return /util-linux/.test(execFileSync('script', ['--version'], { encoding: 'utf8' }));
  } catch {
    return false;
  }
}
