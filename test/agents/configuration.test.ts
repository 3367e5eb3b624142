import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Turn } from '../support/agents/agentModel.ts';
import { AgentRoom } from '../support/agents/agentRoom.ts';
import type { Launch } from '../support/agents/agentRun.ts';
import { claudeConfiguration } from '../support/agents/configurations/claude.ts';
import { codexConfiguration } from '../support/agents/configurations/codex.ts';
import type { Configuration, Others } from '../support/agents/configurations/configuration.ts';
import { copilotConfiguration } from '../support/agents/configurations/copilot.ts';
import { geminiConfiguration } from '../support/agents/configurations/gemini.ts';

const all = [claudeConfiguration, codexConfiguration, geminiConfiguration, copilotConfiguration];

for (const configuration of all) {
  const { product } = configuration;

  describe(`${product.name}, connected and disconnected`, () => {
    test('where it has no file at all: it finds the bus, and nothing of it stays', async (t) => {
      const desk = new Desk(await AgentRoom.open(t), configuration);
      const { room } = desk;
      await desk.comesAndGoes();
      await room.agentBusRun('connect', product.name).done();
      await desk.hasServers('agent-bus');
      await desk.hearsItsName(configuration.bare(room, 'Say hi.'));
      await room.agentBusRun('disconnect', product.name).done();
      const left = desk.files();
      for (const path of desk.written) assert.ok(!left[path]?.includes('agent-bus'), `not in ${path}`);
    });

    test('where its files are empty: they are so again', async (t) => {
      const desk = new Desk(await AgentRoom.open(t), configuration);
      for (const path of Object.keys(configuration.full(desk.room, desk.others))) desk.room.write(path, '');
      await desk.comesAndGoes();
    });

    test('where its files are full: it reads them as before, and they are as before, to the byte', async (t) => {
      const desk = new Desk(await AgentRoom.open(t), configuration);
      const { room } = desk;
      const full = configuration.full(room, desk.others);
      for (const [path, content] of Object.entries(full)) room.write(path, content);
      await desk.comesAndGoes();

      await room.agentBusRun('connect', product.name).done();
      await desk.hasServers('docs', 'agent-bus');
      const turn = await desk.hearsItsName(product.headless(room, 'Say hi.'));
      assert.ok(
        turn.tools.some((tool) => tool.includes('docs')),
        `the tools of the other server are offered: ${turn.tools.join(', ')}`,
      );
      assert.ok(fs.existsSync(desk.trace), 'the other hook ran');
      const run = desk.files();
      await room.agentBusRun('disconnect', product.name).done();
      for (const [path, content] of Object.entries(full)) {
        // What the product has written meanwhile is its own; all else is as it was.
        if (run[path] === desk.connected[path]) assert.equal(desk.read(path), bytes(content), path);
        else assert.ok(!(desk.read(path) ?? '').includes('bin/agent-bus'), `nothing of ours in ${path}`);
      }
      await desk.hasServers('docs');
    });

    for (const { path, text, line } of configuration.broken) {
      test(`where ${path} can’t be read: which file, which line, and nothing is touched`, async (t) => {
        const desk = new Desk(await AgentRoom.open(t), configuration);
        const { room } = desk;
        const full = { ...configuration.full(room, desk.others), [path]: text };
        for (const [other, content] of Object.entries(full)) room.write(other, content);
        const before = desk.files();
        for (const command of ['connect', 'disconnect']) {
          const { code, output } = await room.agentBusRun(command, product.name).result;
          assert.equal(code, 1, output);
          assert.ok(output.includes(`${join(room.home, path)}, line ${line}: `), output);
          assert.match(output, /Nothing was changed\. Correct the file there/);
        }
        assert.deepEqual(desk.files(), before);
      });
    }
  });
}

function bytes(content: string): string {
  return Buffer.from(content).toString('latin1');
}

class Desk {
  readonly room: AgentRoom;
  readonly configuration: Configuration;
  /** Exists once the hook of somebody else has run. */
  readonly trace: string;
  readonly others: Others;
  /** The files as connect has left them. */
  connected: Record<string, string> = {};
  /** Those that connect has made or changed. */
  written: string[] = [];

  constructor(room: AgentRoom, configuration: Configuration) {
    this.room = room;
    this.configuration = configuration;
    this.trace = join(room.folder, 'other-hook');
    this.others = { server: { command: room.agentBus, args: ['mcp', '--agent', 'docs'] }, hook: `touch ${this.trace}` };
  }

  /** Connects twice and disconnects: the second time changes nothing, and then all is as it was. */
  async comesAndGoes(): Promise<void> {
    const { room, configuration } = this;
    const { name } = configuration.product;
    const before = this.files();
    const said = await room.agentBusRun('connect', name).done();
    assert.match(said, /10 tools/, 'it has tried the server');
    this.connected = this.files();
    this.written = Object.keys(this.connected).filter((path) => this.connected[path] !== before[path]);
    assert.ok(this.written.length > 0, 'it has written something');
    await room.agentBusRun('connect', name).done();
    assert.deepEqual(this.files(), this.connected, 'the second time changes nothing');
    await room.agentBusRun('disconnect', name).done();
    assert.deepEqual(this.files(), before, 'everything is as it was');
  }

  /** The product itself lists these servers, and finds that they work where it tries them. */
  async hasServers(...names: string[]): Promise<void> {
    const { room, configuration } = this;
    if (names.includes('docs')) await room.hub.mint('docs');
    const output = await room.run(configuration.list(room)).done();
    for (const name of ['docs', 'agent-bus']) {
      const { source, flags } = configuration.listed(name);
      assert.equal(new RegExp(source, flags).test(output), names.includes(name), `${name} is listed: ${output}`);
    }
  }

  async hearsItsName(launch: Launch): Promise<Turn> {
    const { room, configuration } = this;
    room.model.followSteps({ call: 'agents' });
    await room.run(launch).done();
    assert.deepEqual(room.model.faults, []);
    const name = `shop-api-${configuration.product.agent}`;
    const [first, second] = room.model.turns;
    assert.ok(first?.text.includes(name), 'its hooks run');
    assert.ok(second?.fresh.includes(name), 'its server runs');
    return second as Turn;
  }

  /** What the person has below the home folder, without what products and the bus keep for themselves. */
  files(): Record<string, string> {
    const { home } = this.room;
    const found: Record<string, string> = {};
    for (const entry of fs.readdirSync(home, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(home.length + 1);
      if (/^\.(local|cache)\b/.test(path)) continue;
      found[path] = entry.isFile() ? (this.read(path) ?? '') : 'not a file';
    }
    return found;
  }

  /** Byte for byte. */
  read(path: string): string | undefined {
    const file = join(this.room.home, path);
    return fs.existsSync(file) ? fs.readFileSync(file, 'latin1') : undefined;
  }
}
