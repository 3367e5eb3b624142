import '../support/fakeVscode.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import { BusError } from '../../src/core/errors.ts';
import type { Commands } from '../../src/extension/commands/parts.ts';
import { HubProcess } from '../support/hubProcess.ts';
import { ScriptedPerson } from '../support/scriptedPerson.ts';

const vscode = await import('vscode');
const { a2aCommands } = await import('../../src/extension/commands/a2aCommands.ts');
const { doorCommands } = await import('../../src/extension/commands/doorCommands.ts');
const buildScript = join(import.meta.dirname, '..', '..', 'esbuild.mjs');
execFileSync(process.execPath, [buildScript], { stdio: 'ignore' });

describe('commands for agents of other systems', () => {
  let hub: HubProcess;
  let client: BusClient;
  let person: ScriptedPerson;
  let commands: Commands;
  let shown: unknown[];

  before(async () => {
    hub = await HubProcess.start();
    client = await hub.client();
    await client.request('mint', { name: 'alice', about: 'keeps [the](command:quit) API', skills: ['REST APIs'] });
  });
  after(() => hub.dispose());

  beforeEach(() => {
    person = new ScriptedPerson();
    person.sit();
    shown = [];
    const parts = {
      link: { connect: async () => client },
      inbox: { show: async (event: unknown) => void shown.push(event) },
    } as never;
    commands = { ...a2aCommands(parts), ...doorCommands(parts) };
  });

  const doors = async () => (await client.request('status', {})).doors;

  test('a door is opened only after it was said what that means, and closed at once', async () => {
    await client.request('door', { door: 'broker', on: false, port: 0 });
    person.choices = ['Open Broker', 'not this button'];
    await commands['setDoor']?.();
    assert.match(person.said[0] ?? '', /every program of every user of this machine can post/);
    assert.equal((await doors())[1]?.open, false, 'the person thought better of it');
    person.choices = ['Open Broker', 'Open Broker'];
    await commands['setDoor']?.();
    assert.equal((await doors())[1]?.open, true);
    assert.match(person.said.at(-1) ?? '', /the broker door is open at 127\.0\.0\.1:\d+\./);
    person.choices = ['Close Broker'];
    await commands['setDoor']?.();
    assert.match(
      person.items.find(({ label }) => label.includes('Close'))?.description ?? '',
      /^open at 127\.0\.0\.1:/,
    );
    assert.equal((await doors())[1]?.open, false);
  });

  test('a door that the settings speak about is changed there', async () => {
    person.settings['doors.frames.enabled'] = false;
    person.choices = ['Open Frames', 'Open Frames'];
    await commands['setDoor']?.();
    assert.deepEqual(person.updated[0]?.slice(0, 2), ['doors.frames.enabled', true]);
    assert.equal((await doors())[0]?.on, false, 'the keeper of the doors does the rest');
  });

  test('an agent is opened, its address copied, and closed again', async () => {
    person.choices = ['alice'];
    await commands['letOthersAsk']?.();
    assert.match(person.copied, /^http:\/\/127\.0\.0\.1:\d+\/a2a\/alice\/$/);
    assert.match(person.said.at(-1) ?? '', /needs a token: “agent-bus register CALLER”/);
    const card = await fetch(`${person.copied}.well-known/agent-card.json`);
    assert.equal(((await card.json()) as { name: string }).name, 'alice');
    assert.deepEqual(
      person.items.map(({ label }) => label.replace(/^\$\(.*?\) /, '')),
      ['alice'],
      'nobody who is no agent of this bus is offered',
    );
    assert.doesNotMatch(person.items[0]?.detail ?? '', /\[/);
    person.choices = ['alice', 'Let Nobody'];
    await commands['letOthersAsk']?.();
    assert.match(person.items.length > 0 ? (person.said.at(-1) ?? '') : '', /can’t be asked over A2A any more/);
    assert.equal((await client.call('agents', {})).data.agents[0]?.open, undefined);
  });

  test('an A2A agent is added with a secret that is typed unseen, and shown without links', async () => {
    const other = await HubProcess.start();
    try {
      const stranger = await other.client();
      await stranger.request('mint', { name: 'cook', about: 'Cooks [hot](command:quit).', skills: ['soup'] });
      const { url = '' } = await stranger.request('open', { name: 'cook', on: true });
      const { token } = await stranger.request('mint', { name: 'guest' });
      person.choices = ['Bearer', 'New Message'];
      person.inputs = [url, ` ${token} `];
      await commands['addA2aAgent']?.();
      assert.deepEqual(
        person.boxes.map(({ password }) => password),
        [undefined, true],
      );
      assert.match(
        person.said[0] ?? '',
        /cook is on the bus\. It says of itself: “Cooks \(hot\)\(command:quit\)\.”\. Skills: soup\./,
      );
      assert.deepEqual(shown, [{ type: 'show', screen: 'compose', to: ['cook'] }]);
      const { data } = await client.call('send', { to: 'cook', text: 'soup?', kind: 'request' });
      assert.equal(data.recipients[0]?.step, 'shown', 'the token was right');
      person.choices = ['None'];
      person.inputs = [undefined];
      await commands['addA2aAgent']?.();
      assert.equal(person.said.length, 1, 'nothing happens where no address was given');
    } finally {
      await other.dispose();
    }
  });

  test('nothing is done in a workspace that is not trusted', async () => {
    Object.assign(vscode.workspace, { isTrusted: false });
    for (const name of ['setDoor', 'addA2aAgent', 'letOthersAsk']) {
      await assert.rejects(
        async () => commands[name]?.(),
        (error) => error instanceof BusError && error.code === 'forbidden',
      );
    }
    assert.deepEqual([person.boxes, shown], [[], []]);
  });
});
