/** Whatever happens, and whenever the hub dies: no turn is submitted to a chat that may be asking its person something. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HookParams } from '../../src/protocol/reachMessages.ts';
import { FakeWindow } from '../support/fakeWindow.ts';
import { HubProcess, pause, until } from '../support/hubProcess.ts';
import { seededRandom, testSeed } from '../support/seededRandom.ts';

/** What really goes on in a chat, as its editor knows it. */
interface Truth {
  turn: boolean;
  tools: Set<string>;
}

test('a hundred random steps', async () => {
  const random = seededRandom(testSeed());
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const hub = await HubProcess.start({ settings: { reach: { staleSeconds: 0.2, proofSeconds: 0.3 } } });
  try {
    const window = await FakeWindow.open(hub, { workspace: '/w/never', runs: false });
    const chats = ['a', 'b'];
    const truths = new Map<string, Truth>(chats.map((chat) => [chat, { turn: false, tools: new Set() }]));
    for (const chat of chats) await window.agentOf(chat);
    const names = new Map(await Promise.all(chats.map(async (chat) => [chat, await window.agentOf(chat)] as const)));
    const ann = await hub.client({ attach: { workspace: '/w/never', product: 'x' }, reconnect: true });
    const violations: string[] = [];
    const log: string[] = [];
    let toolsMade = 0;
    window.onWake = (wake) => {
      log.push(`wake ${wake.chat}`);
      for (const [chat, { tools }] of truths)
        if ((wake.chat ?? chat) === chat && tools.size > 0) violations.push(`${chat} at ${[...tools].join()}`);
      return { rung: 'turn' };
    };
    /** The hook of something that happens; a dialog opens only after its hook was answered, or has failed. */
    const happen = async (chat: string, event: HookParams['event'], rest: Partial<HookParams> = {}): Promise<void> => {
      const truth = truths.get(chat) as Truth;
      log.push(`${chat} ${event} ${rest.toolUse ?? ''}`);
      if (event === 'after-tool') truth.tools.delete(rest.toolUse ?? '');
      if (event === 'stop' || event === 'prompt') truth.tools.clear();
      if (event === 'stop') truth.turn = false;
      await window.hook(chat, event, rest).catch(() => undefined);
      if (event === 'prompt') truth.turn = true;
      if (event === 'before-tool') truth.tools.add(rest.toolUse ?? '');
    };
    const step = async (chat: string): Promise<void> => {
      const { turn, tools } = truths.get(chat) as Truth;
      if (!turn) return happen(chat, 'prompt', { prompt: 'go' });
      const choice = random();
      if (choice < 0.4) return happen(chat, 'before-tool', { tool: 'run', toolUse: `t${++toolsMade}` });
      if (choice < 0.75 && tools.size > 0)
        return happen(chat, 'after-tool', { tool: 'run', toolUse: pick([...tools]) });
      return happen(chat, 'stop', { again: true });
    };
    for (let i = 0; i < 100; i++) {
      const choice = random();
      if (choice < 0.35) {
        await ann.call('send', { to: names.get(pick(chats)) ?? '', text: `question ${i}`, kind: 'request' });
        await pause(random() * 250);
      } else if (choice < 0.94) await step(pick(chats));
      else {
        log.push('kill');
        await hub.kill();
        // While there is no hub, a turn goes on unheard.
        const working = chats.filter((chat) => truths.get(chat)?.turn);
        if (working.length > 0) await step(pick(working));
        const before = window.carried;
        await hub.start();
        await until('it carries again', () => window.carried > before);
      }
    }
    assert.deepEqual(violations, [], log.join('\n'));
    for (const chat of chats) await happen(chat, 'prompt', { prompt: 'last' });
    for (const chat of chats) await happen(chat, 'stop', { again: true });
    const last = await ann.call('send', { to: names.get('a') ?? '', text: 'the last', kind: 'request' });
    await until('and it is alive', () => window.wakes.some((wake) => wake.ids.includes(last.data.id)));
    assert.deepEqual(violations, [], log.join('\n'));
  } finally {
    await hub.dispose();
  }
});
