import '../support/fakeVscode.ts';
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { BusError } from '../../src/core/errors.ts';
import type { DoorKeeper } from '../../src/extension/doors/doorKeeper.ts';
import { doorWish, readDoorSettings, type Configuration } from '../../src/extension/doors/doorSettings.ts';
import type { DoorName, DoorParams, DoorView } from '../../src/protocol/doorMessages.ts';

const vscode = await import('vscode');
const keepers = await import('../../src/extension/doors/doorKeeper.ts');

const frames: DoorView = {
  door: 'frames',
  on: false,
  open: false,
  bind: '127.0.0.1',
  port: 19_900,
  to: 'person',
  peers: [],
  connections: 0,
};

describe('what the settings say about a door', () => {
  const configuration = (values: Record<string, unknown>): Configuration => ({
    inspect: (name) => ({ globalValue: values[name] }),
  });

  test('is only what the person has set', () => {
    assert.deepEqual(readDoorSettings(configuration({}), 'frames'), {});
    const set = { 'doors.frames.enabled': true, 'doors.frames.peers': ['10.0.0.7'], 'doors.broker.port': 4_000 };
    assert.deepEqual(readDoorSettings(configuration(set), 'frames'), { enabled: true, peers: ['10.0.0.7'] });
    assert.deepEqual(readDoorSettings(configuration(set), 'broker'), { port: 4_000 });
  });

  test('is refused with its name where it makes no sense', () => {
    const wrong: [string, unknown][] = [
      ['doors.frames.enabled', 'yes'],
      ['doors.frames.port', 0],
      ['doors.frames.port', 65_536],
      ['doors.frames.port', '19900'],
      ['doors.frames.to', ' '],
      ['doors.frames.bind', 7],
      ['doors.frames.peers', '10.0.0.7'],
      ['doors.frames.peers', [7]],
    ];
    for (const [name, value] of wrong) {
      assert.throws(
        () => readDoorSettings(configuration({ [name]: value }), 'frames'),
        (error) => error instanceof BusError && error.code === 'bad-settings' && error.message.includes(name),
      );
    }
  });

  test('becomes a wish only where the door is not so already', () => {
    const open = { ...frames, on: true, open: true };
    assert.equal(doorWish(frames, {}, false), undefined, 'nothing set: the command line decides');
    assert.equal(doorWish(open, {}, false), undefined);
    assert.deepEqual(doorWish(frames, { enabled: true }, false), { door: 'frames', on: true });
    assert.equal(doorWish(open, { enabled: true, port: 19_900, peers: [] }, true), undefined);
    assert.deepEqual(doorWish(open, { enabled: true, port: 4_000 }, true), { door: 'frames', on: true, port: 4_000 });
    assert.deepEqual(doorWish(open, { enabled: false }, true), { door: 'frames', on: false });
    assert.equal(doorWish(frames, { enabled: false }, false), undefined);
    assert.deepEqual(
      doorWish({ ...open, open: false }, { enabled: true }, true),
      { door: 'frames', on: true },
      'again',
    );
  });

  test('leaves it to the command line whether the door is open, where only its port is set', () => {
    assert.deepEqual(doorWish(frames, { port: 4_000 }, false), { door: 'frames', on: false, port: 4_000 });
    const open = { ...frames, on: true, open: true };
    assert.deepEqual(doorWish(open, { port: 4_000 }, false), { door: 'frames', on: true, port: 4_000 });
  });

  test('closes a door that a setting had opened, when that setting goes', () => {
    const open = { ...frames, on: true, open: true };
    assert.deepEqual(doorWish(open, {}, true), { door: 'frames', on: false });
    assert.equal(doorWish(frames, {}, true), undefined, 'somebody has closed it meanwhile');
  });
});

describe('the keeper of the doors', () => {
  type Listener<T> = (value: T) => void;
  let settings: Record<string, unknown>;
  let doors: DoorView[];
  let asked: (DoorParams | 'status')[];
  let said: string[];
  let opened: string[];
  let kept: Map<string, unknown>;
  let trouble: DoorView['trouble'];
  let refusal: BusError | undefined;
  let changed: Listener<{ affectsConfiguration(name: string): boolean }>;
  let connected: Listener<'connected'>;

  beforeEach(() => {
    [settings, asked, said, opened, kept] = [{}, [], [], [], new Map()];
    [trouble, refusal] = [undefined, undefined];
    const { to: _to, peers: _peers, ...broker } = { ...frames, door: 'broker' as const, port: 19_901 };
    doors = [{ ...frames }, broker];
    const none = { dispose: () => undefined };
    Object.assign(vscode.workspace, {
      isTrusted: true,
      getConfiguration: () => ({ inspect: (name: string) => ({ globalValue: settings[name] }) }),
      onDidChangeConfiguration: (listener: typeof changed) => ((changed = listener), none),
      onDidGrantWorkspaceTrust: () => none,
    });
    Object.assign(vscode.window, {
      showErrorMessage: async (text: string, button: string) => (said.push(text), button),
    });
    Object.assign(vscode.commands, { executeCommand: async (...args: string[]) => opened.push(args.join(' ')) });
  });

  const request = async (method: 'status' | 'door', params: DoorParams): Promise<unknown> => {
    asked.push(method === 'status' ? method : params);
    if (method === 'status') return { doors };
    if (refusal) throw refusal;
    const view = doors.find(({ door }) => door === params.door);
    assert.ok(view);
    Object.assign(view, params, { open: params.on && !trouble });
    if (trouble && params.on) view.trouble = trouble;
    else delete view.trouble;
    return { ...view };
  };

  const keeper = (claims = new Set<string>()): DoorKeeper =>
    new keepers.DoorKeeper({
      link: {
        state: 'off',
        current: { request } as never,
        onState: ((listener: typeof connected) => ((connected = listener), { dispose: () => undefined })) as never,
      },
      once: {
        claim: async (what) => {
          const door = what.replace(/-\d+$/, '');
          return !claims.has(door) && Boolean(claims.add(door));
        },
      },
      memory: {
        get: (name: string, usual?: unknown) => kept.get(name) ?? usual,
        update: async (name: string, value: unknown) => void kept.set(name, value),
      } as never,
      output: { info: () => undefined, warn: () => undefined },
    });

  const wishes = (): unknown[] => asked.filter((one) => one !== 'status');
  const change = async (of: DoorKeeper): Promise<void> => {
    changed({ affectsConfiguration: (name) => name === 'agentBus.doors' });
    await of.apply();
  };

  test('asks nothing where nothing is set', async () => {
    await keeper().apply();
    assert.deepEqual(asked, []);
  });

  test('opens on connecting, follows a change, and closes what a reset setting had opened', async () => {
    settings['doors.broker.enabled'] = true;
    const own = keeper();
    connected('connected');
    await own.apply();
    assert.deepEqual(wishes(), [{ door: 'broker', on: true }], 'the second look asks for nothing more');
    settings['doors.broker.port'] = 4_000;
    await change(own);
    assert.deepEqual(wishes().at(-1), { door: 'broker', on: true, port: 4_000 });
    settings = {};
    // Another window, after a restart of the editor: it was noted which door a setting has opened.
    const other = keeper();
    await other.apply();
    assert.deepEqual(wishes().at(-1), { door: 'broker', on: false });
    const before = wishes().length;
    doors = doors.map((view) => ({ ...view, on: true, open: true }));
    await other.apply();
    assert.equal(wishes().length, before, 'what the command line opens afterwards stays');
  });

  test('does nothing in a workspace that is not trusted', async () => {
    Object.assign(vscode.workspace, { isTrusted: false });
    settings['doors.frames.enabled'] = true;
    await keeper().apply();
    assert.deepEqual(asked, []);
  });

  test('says once what keeps a door shut, with the way to its settings', async () => {
    settings['doors.frames.enabled'] = true;
    trouble = { code: 'door-taken', message: 'Port 19900 is taken.', next: 'Choose another.' };
    const claims = new Set<string>();
    const [own, other] = [keeper(claims), keeper(claims)];
    await own.apply();
    await other.apply();
    await own.apply();
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /the frames door.*Port 19900 is taken\. Choose another\./);
    assert.deepEqual(opened, ['workbench.action.openSettings agentBus.doors.frames']);
  });

  test('says why the hub refuses, and names a setting that makes no sense', async () => {
    const names: DoorName[] = ['frames', 'broker'];
    refusal = new BusError('invalid-input', 'Beyond loopback needs peers.', { next: 'Name them.' });
    settings = { 'doors.frames.enabled': true, 'doors.frames.bind': '0.0.0.0', 'doors.broker.port': 'x' };
    await keeper().apply();
    assert.equal(said.length, names.length);
    assert.match(said[0] ?? '', /Beyond loopback needs peers\. Name them\./);
    assert.match(said[1] ?? '', /agentBus\.doors\.broker\.port/);
  });
});
