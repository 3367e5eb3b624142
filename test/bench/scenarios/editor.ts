import { chmodSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import type * as vscode from 'vscode';
import { BusClient } from '../../../src/client/busClient.ts';
import { busHome } from '../../../src/hub/home.ts';
import { version } from '../../../src/hub/version.ts';
import type { EditorServer } from '../../support/editor/editorServer.ts';
import type { EditorWindow } from '../../support/editor/editorWindow.ts';
import { until } from '../../support/hubProcess.ts';
import { seedBus, type SeededBus } from '../../support/seedBus.ts';
import { emptyPage } from '../editor/emptyPage.ts';
import { scrollFrames } from '../editor/frames.ts';
import { endWithBench } from '../editor/leftovers.ts';
import { untilPainted } from '../editor/painted.ts';
import { closeSidebar, openSidebar } from '../editor/sidebarPage.ts';
import { WakeProbe } from '../editor/wake.ts';
import type { Options } from '../options.ts';
import { latencyRow, type Row } from '../report.ts';
import { interleave, timedLoop, type Probe } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import type { Scenario } from './scenario.ts';

const size = { conversations: 10_000, messages: 100_000, longest: 5_000 };

/** What a person waits for, in a real VS Code with a bus that has been used for a while. */
export const editor: Scenario = {
  names: ['activation', 'inbox_open', 'inbox_scroll', 'conversation_open', 'wake'],

  async run(options) {
    // Not before it is wanted: the first time, it installs an editor.
    const { skipWithoutEditor } = await import('../../support/editor/editorTools.ts');
    if (skipWithoutEditor) {
      console.log(`  skipped: ${skipWithoutEditor}`);
      return [];
    }
    const { EditorServer } = await import('../../support/editor/editorServer.ts');
    await using owned = new AsyncDisposableStack();
    const server = await EditorServer.start();
    owned.defer(() => server.dispose());
    endWithBench(server.busHome, server.folder);
    chmodSync(server.busHome, 0o700);
    const seeded = await seedBus({ home: server.busHome, ...size });
    let window: EditorWindow | undefined;
    /** The window that is measured, up and in front: a page behind another draws no frames. */
    const front = async (): Promise<EditorWindow> => {
      window ??= await server.open('shop-api');
      await window.page.bringToFront();
      await active(window);
      return window;
    };
    const parts: [names: string[], measure: () => Promise<Row[]>][] = [
      [['activation'], () => activation(options, server)],
      [['inbox_open', 'conversation_open'], async () => opening(options, await front(), seeded)],
      [['inbox_scroll'], async () => scrolling(await front())],
      [['wake'], async () => waking(options, server, await front())],
    ];
    const rows: Row[] = [];
    for (const [names, measure] of parts) {
      if (!names.some(options.wants)) continue;
      console.log(`  ${names.join(', ')} …`);
      rows.push(...(await measure()));
    }
    return rows;
  },
};

/** As the extension itself takes the time: for so long it held up the extension host of a new window. */
async function activation(options: Options, server: EditorServer): Promise<Row[]> {
  let windows = 0;
  const probe = timedLoop('activation', 1, async () => {
    const window = await server.open(`window-${++windows}`);
    const took = await active(window);
    await window.close();
    return took;
  });
  const of = await interleave([probe], { rounds: options.quick ? 2 : 5, ms: 1, warmMs: 1 });
  const { p50 } = of('activation');
  const judged = { ratio: p50 / 50, against: '50 ms', bar: '≤ 50 ms', met: p50 <= 50 };
  return [{ ...latencyRow('activation', of('activation'), judged), ops: null }];
}

function active(window: EditorWindow): Promise<number> {
  return until('the extension is active', () => window.evaluate(activationMs));
}

/** Runs in the extension host. */
function activationMs(api: typeof vscode): number | undefined {
  const extension = api.extensions.getExtension<{ activationMs: number }>('agent-bus.agent-bus');
  return extension?.isActive ? extension.exports.activationMs : undefined;
}

async function opening(options: Options, window: EditorWindow, seeded: SeededBus): Promise<Row[]> {
  const openInbox = async (): Promise<Locator> => (await openSidebar(window)).locator('[role=option][data-id]');
  const first = await untilPainted(openInbox);
  const probes: Probe[] = [
    timedLoop('floor_empty_page', 1, () => emptyPage(window)),
    timedLoop('inbox_open', 1, async () => {
      await closeSidebar(window);
      return untilPainted(openInbox);
    }),
    timedLoop('floor_short_conversation', 1, () => openConversation(window, ':not(#row-0)')),
    timedLoop('conversation_open', 1, () => openConversation(window, `[data-id="${seeded.longest.id}"]`)),
  ];
  const of = await interleave(probes, { rounds: options.quick ? 4 : 10, ms: 1, warmMs: 1 });
  const against = 'an empty webview';
  const [inbox, conversation] = [of('inbox_open'), of('conversation_open')];
  const slower = ratio(inbox.p50s, of('floor_empty_page').p50s);
  const longer = ratio(conversation.p50s, of('floor_short_conversation').p50s);
  return [
    latencyRow('floor_empty_page', of('floor_empty_page')),
    latencyRow('inbox_open', inbox, {
      ...{ ratio: slower, against, bar: '≤ 2 ×', met: slower <= 2 },
      note: `${size.conversations.toLocaleString('en')} conversations, ${size.messages.toLocaleString('en')} messages; the very first time ${first.toFixed(0)} ms`,
    }),
    latencyRow('floor_short_conversation', of('floor_short_conversation')),
    latencyRow('conversation_open', conversation, {
      ...{ ratio: longer, against: 'one of about ten', bar: '≤ 1.5 ×', met: longer <= 1.5 },
      note: `from the click until its newest messages are on the screen, of ${size.longest.toLocaleString('en')}`,
    }),
  ].map((row) => ({ ...row, ops: null }));
}

/** One at the top of the list: the longest had the last word when the bus was seeded. */
async function openConversation(window: EditorWindow, which: string): Promise<number> {
  const page = await openSidebar(window);
  const row = page.locator(`[role=option][data-id]${which}`).first();
  await row.waitFor();
  const took = await untilPainted(async () => {
    await row.click();
    return page.locator('[data-message]').last();
  });
  await page
    .getByRole('button', { name: /back|inbox/i })
    .first()
    .click();
  await row.waitFor();
  return took;
}

async function scrolling(window: EditorWindow): Promise<Row[]> {
  const list = (await openSidebar(window)).getByRole('listbox', { name: 'Conversations' });
  await list.waitFor();
  const still = await scrollFrames(list, 0);
  const moving = await scrollFrames(list, 300);
  const blank = { ops: null, spread: null };
  const slower = moving.worst / still.worst;
  return [
    { name: 'floor_still_frames', p50: still.p50, p95: still.p95, ...blank, ratio: null, against: '' },
    {
      name: 'inbox_scroll',
      ...{ p50: moving.p50, p95: moving.p95, ...blank, ratio: slower, against: 'worst frame, not scrolling' },
      note: `300 pixels a frame; the worst frame took ${moving.worst.toFixed(0)} ms, without scrolling ${still.worst.toFixed(0)} ms`,
    },
  ];
}

async function waking(options: Options, server: EditorServer, window: EditorWindow): Promise<Row[]> {
  const home = busHome({ AGENT_BUS_HOME: server.busHome });
  const person = await BusClient.connect({ via: 'rpc', version, home, start: false });
  try {
    await window.chat.enable();
    const probe = new WakeProbe(server, window);
    const agent = await until('the window is on the bus', async () => {
      const { agents } = (await person.call('agents', { online: true, query: 'shop-api' })).data;
      return agents.find(({ presence }) => presence !== 'offline')?.name;
    });
    const probes = [
      timedLoop('floor_chat_turn', 1, () => probe.submitted()),
      timedLoop('wake', 1, () => probe.woken(person, agent)),
    ];
    const of = await interleave(probes, { rounds: options.quick ? 3 : 8, ms: 1, warmMs: 1 });
    const slower = ratio(of('wake').p50s, of('floor_chat_turn').p50s);
    const judged = { ratio: slower, against: 'a turn by command', bar: '≤ 2 ×', met: slower <= 2 };
    const note = 'from the stored message until the model of an idle Copilot was asked';
    return [
      { ...latencyRow('floor_chat_turn', of('floor_chat_turn')), ops: null },
      { ...latencyRow('wake', of('wake'), { ...judged, note }), ops: null },
    ];
  } finally {
    person.close();
  }
}
