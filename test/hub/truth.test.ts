/**
 * No sender is told more than what happened. Each case knows what happened, because everything on the other side is
 * scripted here; what the sender gets to see (the answer of `send`, `status`, the receipts as they stream) must say that
 * and no more.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { BusClient } from '../../src/client/busClient.ts';
import type { ReceiptView } from '../../src/core/model.ts';
import { FakeWindow, type WindowOptions } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { McpCaller } from '../support/mcpCaller.ts';

/** Long enough for a step that must not come. */
const aWhile = 600;

let hub: HubProcess;
let folders = 0;
const opened: FakeWindow[] = [];

async function open(options: Partial<WindowOptions> = {}): Promise<FakeWindow> {
  const window = await FakeWindow.open(hub, { workspace: `/w/truth-${++folders}`, ...options });
  opened.push(window);
  return window;
}

/** In a turn that its person began. */
async function busy(options: Partial<WindowOptions> = {}): Promise<FakeWindow> {
  const window = await open(options);
  await window.hook('c', 'prompt', { prompt: 'do this' });
  return window;
}

const word = ({ step, route, outcome, note }: ReceiptView): string =>
  [step, route, outcome, step === 'held' ? `"${note}"` : undefined].filter(Boolean).join(' ');

/** Somebody who sends, with all that it is told. */
class Sender {
  readonly client: BusClient;
  private readonly streamed = new Map<string, string[]>();

  private constructor(client: BusClient) {
    this.client = client;
  }

  /** Of the same workspace as the reader, unless told: then nobody has to agree. */
  static async of(workspace: string): Promise<Sender> {
    const sender = new Sender(await hub.client({ attach: { workspace, product: 'sender' }, reconnect: true }));
    await sender.client.subscribe({
      onEvent: (event) => {
        if (event.type !== 'receipt') return;
        sender.streamed.set(event.message, [...(sender.streamed.get(event.message) ?? []), word(event.receipt)]);
      },
    });
    return sender;
  }

  /** @returns the id, and what `send` says about the recipient */
  async send(to: string, text: string, more: object = {}): Promise<{ id: string; says: string }> {
    const answer = await this.client.callForModel('send', { to, text, kind: 'request', ...more });
    const [head = '', ...lines] = answer.text.split('\n');
    const id = /^Stored as (m\w+) for /.exec(head)?.[1] ?? assert.fail(answer.text);
    return { id, says: lines.find((line) => line.startsWith(`- ${to} `))?.slice(`- ${to} `.length) ?? answer.text };
  }

  async sees(agent: string, presence: string): Promise<boolean> {
    const { data } = await this.client.call('agents', { query: agent });
    return data.agents.some((one) => one.name === agent && one.presence === presence);
  }

  async lastSeen(agent: string): Promise<number> {
    const { data } = await this.client.call('agents', { query: agent });
    return Date.parse(data.agents.find(({ name }) => name === agent)?.last_seen ?? '');
  }

  async status(id: string): Promise<string[]> {
    const { recipients } = (await this.client.call('status', { id })).data;
    assert.equal(recipients.length, 1);
    const [{ step, steps } = assert.fail()] = recipients;
    assert.equal(step, steps.at(-1)?.step ?? 'stored', 'where it stands is the last step that is told');
    return steps.map(word);
  }

  /** Waits until that has happened, and a while longer: nothing else may be told, neither live nor asked for. */
  async hears(id: string, happened: string[]): Promise<void> {
    await until(`it is told that ${happened.join(', ') || 'nothing'} happened`, async () => {
      const told = await this.status(id);
      return told.length >= happened.length;
    });
    await pause(aWhile);
    assert.deepEqual(await this.status(id), happened);
    assert.deepEqual(this.streamed.get(id) ?? [], happened, 'what streams is what is stored');
  }
}

before(async () => {
  hub = await HubProcess.start({ settings: { reach: { proofSeconds: 1 } } });
});
after(() => hub.dispose());
afterEach(() => {
  for (const window of opened.splice(0)) window.close();
});

describe('what a sender is told of an agent that', () => {
  test('is offline: that it is stored, and since when nobody has seen it', async () => {
    const sender = await Sender.of('/w/away');
    const [gone] = await hub.strangers(1);
    const came = await sender.lastSeen(gone.agent);
    await pause(50);
    hub.close(gone);
    await until('it is gone', () => sender.sees(gone.agent, 'offline'));
    const { id, says } = await sender.send(gone.agent, 'hello?');
    const seen = /^is offline, last seen (\S+); hears of it when it is back$/.exec(says)?.[1] ?? assert.fail(says);
    assert.ok(Date.parse(seen) > came, 'it was there until it went, and not only when it came');
    await sender.hears(id, []);
    const back = await hub.client({ as: gone.agent });
    const { shown } = await back.call('inbox', {});
    await sender.hears(id, []);
    back.shown(shown, 'inbox');
    await sender.hears(id, ['offered inbox', 'shown inbox']);
  });

  test('has never been woken by anybody, and does not tell what it is at', async () => {
    const sender = await Sender.of('/w/plain');
    const mcp = new McpCaller(() => hub.record.mcpUrl, await hub.mint('plain-mcp'));
    await mcp.call('agents', {});
    const { id, says } = await sender.send('plain-mcp', 'short');
    assert.equal(says, 'is idle; hears by: next tool call, then inbox');
    const { id: long } = await sender.send('plain-mcp', 'long '.repeat(1_000));
    await sender.hears(id, []);
    await mcp.call('agents', {});
    await sender.hears(id, ['offered tool-result', 'shown tool-result']);
    await sender.hears(long, ['offered tool-result']);
  });

  test('is at work: nothing before its next tool, and seen only when that tool’s result went to its model', async () => {
    const window = await busy();
    const sender = await Sender.of(window.workspace);
    const { id, says } = await sender.send(window.home, 'a moment?');
    assert.equal(says, 'is working; hears by: next tool call, then end of turn, then inbox');
    await sender.hears(id, []);
    const { context } = await window.hook('c', 'before-tool', { tool: 'run', toolUse: 't' });
    assert.match(context ?? '', /a moment\?/);
    await sender.hears(id, ['offered hook']);
    await window.hook('c', 'after-tool', { tool: 'run', toolUse: 't' });
    await sender.hears(id, ['offered hook', 'shown hook']);
    assert.equal(window.wakes.length, 0);
  });

  test('is at work with a tool that never ends: offered, and never seen', async () => {
    const window = await busy();
    const sender = await Sender.of(window.workspace);
    const { id } = await sender.send(window.home, 'did you get it?', { kind: 'inform' });
    await window.hook('c', 'before-tool', { tool: 'run', toolUse: 't' });
    await window.hook('c', 'stop');
    await sender.hears(id, ['offered hook']);
  });

  test('waits for an approval: after that', async () => {
    const window = await busy();
    const sender = await Sender.of(window.workspace);
    await window.hook('c', 'before-tool', { tool: 'rm', toolUse: 't' });
    const { id, says } = await sender.send(window.home, 'careful');
    assert.match(
      says,
      /^is (working|waiting); hears by: after the tool or its approval, then end of turn, then inbox$/,
    );
    await sender.hears(id, []);
  });

  test('is idle in a window: the turn is offered, and seen when its prompt has begun', async () => {
    const window = await open({ runs: false });
    const sender = await Sender.of(window.workspace);
    const { id, says } = await sender.send(window.home, 'wake up');
    assert.equal(says, 'is idle; hears by: chat turn, then inbox');
    const wake = await window.woken();
    await until('it is offered', async () => (await sender.status(id)).includes('offered turn'));
    assert.ok(!(await sender.status(id)).includes('shown turn'));
    await window.runTurn(wake);
    await until('it is seen', async () => (await sender.status(id)).includes('shown turn'));
  });

  test('is idle, of what wakes nobody', async () => {
    const window = await open();
    const sender = await Sender.of(window.workspace);
    const { id, says } = await sender.send(window.home, 'by the way', { kind: 'inform' });
    assert.equal(says, 'is idle; hears by: next turn or tool call, then inbox');
    await sender.hears(id, []);
    assert.equal(window.wakes.length, 0);
  });

  test('sits in a window that lies: offered as often as it says so, and never seen', async () => {
    const window = await open({ runs: false });
    const sender = await Sender.of(window.workspace);
    const { id } = await sender.send(window.home, 'hello?');
    await window.woken(2);
    await until('it was tried for the last time', async () => (await sender.status(id)).length >= 2);
    await pause(2_000);
    const told = await sender.status(id);
    assert.ok(told.length > 0);
    assert.ok(
      told.every((step) => !step.startsWith('shown')),
      told.join(', '),
    );
    assert.equal(told.filter((step) => step === 'offered turn').length, window.wakes.length);
  });

  test('sits in a window that can do nothing: held, with the window’s own reason', async () => {
    const window = await open({ runs: false });
    window.onWake = () => ({ rung: 'none', note: 'a prompt is half written' });
    const sender = await Sender.of(window.workspace);
    const { id } = await sender.send(window.home, 'hello?');
    await sender.hears(id, ['held "a prompt is half written"']);
  });

  test('has it in its input, or its person as a notification: offered, and not seen', async () => {
    for (const rung of ['input', 'notification'] as const) {
      const window = await open({ runs: false });
      window.onWake = () => ({ rung });
      const sender = await Sender.of(window.workspace);
      const { id } = await sender.send(window.home, 'hello?');
      await sender.hears(id, [`offered ${rung}`]);
    }
  });

  test('may not be woken by this sender yet: held, and nobody is said to be woken', async () => {
    const window = await open({ verdict: 'dismissed' });
    const sender = await Sender.of('/w/stranger');
    const { id, says } = await sender.send(window.home, 'may I?');
    assert.equal(
      says,
      'is idle; hears by: next turn or tool call, then inbox (not woken for it: waits for the person’s consent)',
    );
    await sender.hears(id, ['held "waits for the person’s consent"']);
    assert.equal(window.wakes.length, 0);
    const person = await hub.client();
    await person.request('release', { id, verdict: 'never' });
    const { says: then } = await sender.send(window.home, 'and now?');
    assert.match(then, /not woken for it: the person does not let agents of that workspace wake this one\)$/);
  });

  test('is paused with all others: held, and offered only after that', async () => {
    const window = await open();
    const sender = await Sender.of(window.workspace);
    const person = await hub.client();
    await person.request('pause', { on: true });
    try {
      const { id, says } = await sender.send(window.home, 'later');
      assert.equal(says, 'is idle; hears by: inbox (not woken for it: paused by the person)');
      await sender.hears(id, ['held "paused by the person"']);
      assert.equal(window.wakes.length, 0);
      await person.request('pause', { on: false });
      await sender.hears(id, ['held "paused by the person"', 'offered turn', 'shown turn']);
    } finally {
      await person.request('pause', { on: false });
    }
  });

  test('waits in a call of its own', async () => {
    const sender = await Sender.of('/w/waits');
    const [reader] = await hub.strangers(1);
    const waiting = reader.call('inbox', { wait_seconds: 45 });
    await until('it waits', () => sender.sees(reader.agent, 'waiting'));
    const { id, says } = await sender.send(reader.agent, 'now');
    assert.equal(says, 'is waiting; hears by: waiting call');
    const { shown } = await waiting;
    await sender.hears(id, []);
    reader.shown(shown, 'inbox');
    await sender.hears(id, ['offered inbox', 'shown inbox']);
  });

  test('has left: nothing is stored', async () => {
    const sender = await Sender.of('/w/left');
    const [gone] = await hub.strangers(1);
    await gone.call('register', { remove: true });
    const { text, isError } = await sender.client.callForModel('send', { to: gone.agent, text: 'hello?' });
    assert.deepEqual(
      [isError, text],
      [true, `agent-removed: '${gone.agent}' has left the bus. Call agents to see who is here.`],
    );
  });
});

test('a hub that dies between the offer and its proof knows of the offer at most', async () => {
  const window = await open({ runs: false });
  const sender = await Sender.of(window.workspace);
  const { id } = await sender.send(window.home, 'mind the gap');
  const wake = await window.woken();
  await until('it is offered', async () => (await sender.status(id)).includes('offered turn'));
  await hub.kill();
  await hub.start();
  await until('both are back', () => window.carried > 1);
  assert.ok((await sender.status(id)).every((step) => step === 'offered turn'));
  // The turn that the first hub had submitted begins: no hub that runs has given out that token.
  await window.runTurn(wake);
  assert.ok((await sender.status(id)).every((step) => step === 'offered turn'));
});
