import '../support/fakeVscode.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { readRecord } from '../../src/hub/discovery.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import type { HubState } from '../../src/protocol/webviewMessages.ts';
import { HubProcess, hubScript, until } from '../support/hubProcess.ts';

const { HubLink } = await import('../../src/extension/hubLink.ts');
const buildScript = join(import.meta.dirname, '..', '..', 'esbuild.mjs');
execFileSync(process.execPath, [buildScript], { stdio: 'ignore' });

const output = { warn: () => undefined, info: () => undefined } as never;

describe('the link to the hub', () => {
  let hub: HubProcess;
  let link: InstanceType<typeof HubLink>;
  let states: HubState[];
  let mayStart: boolean;

  beforeEach(() => {
    hub = new HubProcess();
    process.env['AGENT_BUS_HOME'] = hub.home.folder;
    mayStart = false;
    states = [];
    link = new HubLink({ version: '0.0.1', mayStart: () => mayStart, hubScript: async () => hubScript, output });
    link.onState((state) => states.push(state));
  });

  afterEach(async () => {
    link.dispose();
    await hub.dispose();
    delete process.env['AGENT_BUS_HOME'];
  });

  const becomes = (state: HubState) => until(`the link is ${state}`, () => link.state === state || undefined);
  const pid = (): number | undefined => readRecord(hub.home.record).record?.pid;

  test('stays off where nothing may be started, and joins when somebody else starts a hub', async () => {
    link.begin();
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(link.state, 'off');
    assert.equal(link.problem, undefined);
    assert.deepEqual(states, []);
    await hub.start();
    await becomes('connected');
    assert.equal(link.me, 'person');
  });

  test('comes back within two seconds after the hub was killed, with what happened since', async () => {
    mayStart = true;
    link.begin();
    await becomes('connected');
    const events: HubEvent[] = [];
    link.onEvents((batch) => events.push(...batch));
    const first = pid();
    assert.ok(first);
    const began = performance.now();
    process.kill(first, 'SIGKILL');
    await until('another hub serves', () => (link.state === 'connected' && pid() !== first) || undefined);
    const ms = performance.now() - began;
    // Two seconds are promised, and on a quiet machine it is a third of one; tests share theirs with others.
    assert.ok(ms < 5_000, `${Math.round(ms)} ms`);
    assert.deepEqual(states, ['connecting', 'connected', 'lost', 'connected']);
    await link.current?.request('mint', { name: 'alice' });
    await link.current?.call('send', { to: 'alice', text: 'hello', kind: 'inform' });
    await until('the message is told', () => events.some(({ type }) => type === 'message') || undefined);
  });

  test('lets a hub rest that somebody stopped, and starts it when the person wants something', async () => {
    mayStart = true;
    link.begin();
    await becomes('connected');
    await link.current?.request('stop', { reason: 'stop' });
    await becomes('off');
    assert.equal(pid(), undefined);
    const client = await link.connect();
    assert.equal(link.state, 'connected');
    assert.equal((await client.request('status', {})).messages, 0);
  });

  test('tells a burst together', async () => {
    await hub.start();
    link.begin();
    await becomes('connected');
    const batches: number[] = [];
    link.onEvents((events) => batches.push(events.filter(({ type }) => type === 'message').length));
    const client = await link.connect();
    await client.request('mint', { name: 'alice' });
    const texts = Array.from({ length: 50 }, (_, i) => `note ${i}`);
    await Promise.all(texts.map((text) => client.call('send', { to: 'alice', text, kind: 'inform' })));
    const told = (): number => batches.reduce((sum, count) => sum + count, 0);
    await until('all are told', () => told() === 50 || undefined);
    assert.ok(batches.length < 25, `${batches.length} batches`);
  });

  test('is quiet after it was closed', async () => {
    mayStart = true;
    link.begin();
    link.dispose();
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(link.current, undefined);
    await assert.rejects(link.connect());
  });
});
