import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageId, type AgentView, type MessageView } from '../../src/core/model.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import type {
  OverviewEntry,
  OverviewParams,
  OverviewResult,
  StoryMessage,
  StoryParams,
} from '../../src/protocol/storyMessages.ts';
import { PageApi, PageError, type Ask } from '../../src/webview/api.ts';
import { AgentsStore } from '../../src/webview/stores/agentsStore.ts';
import { contentOf, Drafts, emptyDraft, toSend } from '../../src/webview/stores/drafts.ts';
import { InboxStore } from '../../src/webview/stores/inboxStore.ts';
import { PageState } from '../../src/webview/stores/pageState.ts';
import { StoryStore } from '../../src/webview/stores/storyStore.ts';

const me = 'person';
const id = (n: number) => messageId.format(n);

function entry(n: number, seq: number, more: Partial<OverviewEntry> = {}): OverviewEntry {
  const at = new Date(seq * 1000).toISOString();
  return {
    id: `c${n.toString(36)}`,
    title: `talk ${n}`,
    kind: 'direct',
    members: [me, `agent-${n}`],
    unread: 0,
    waiting: 0,
    last_at: at,
    last: { id: id(seq), from: `agent-${n}`, line: 'hello', sent_at: at },
    ...more,
  };
}

function view(seq: number, conversation: string, more: Partial<MessageView> = {}): MessageView {
  return {
    id: id(seq),
    conversation,
    from: 'agent-1',
    to: [me],
    kind: 'inform',
    text: `message ${seq}`,
    sent_at: new Date(seq * 1000).toISOString(),
    ...more,
  };
}

const arrival = (message: MessageView): HubEvent => ({ type: 'message', message });

/** Answers `overview` from a list that tests may change. */
function inboxOf(all: OverviewEntry[]): { store: InboxStore; asked: OverviewParams[] } {
  const asked: OverviewParams[] = [];
  const ask = (async (_method: string, params: OverviewParams): Promise<OverviewResult> => {
    asked.push(params);
    const passes = (row: OverviewEntry) =>
      params.filter === 'all' || (params.filter === 'unread' ? row.unread : row.waiting) > 0;
    const found = all.filter(passes);
    const from = params.cursor === undefined ? 0 : Number(params.cursor);
    const page = found.slice(from, from + params.limit);
    const more = from + params.limit < found.length;
    return {
      conversations: page,
      ...(more && { next: String(from + params.limit) }),
      counts: { all: all.length, unread: all.filter((row) => row.unread > 0).length, waiting: 0 },
      unread: 0,
    };
  }) as unknown as Ask;
  return { store: new InboxStore(ask, () => me), asked };
}

describe('the inbox store', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => entry(i + 1, 10_000 - i));

  test('knows how many rows there are before it has them', async () => {
    const { store } = inboxOf(many(1_000));
    await store.load();
    assert.equal(store.rows.length, 50);
    assert.equal(store.total, 1_000);
  });

  test('loads on by cursor until a row is reached, each row once', async () => {
    const { store, asked } = inboxOf(many(1_000));
    await store.load();
    store.reach(700);
    store.reach(300);
    await until(() => store.rows.length > 700);
    assert.equal(new Set(store.rows.map((row) => row.id)).size, store.rows.length);
    assert.ok(asked.length <= 4, `${asked.length} requests`);
    assert.ok(asked.every(({ limit }) => limit <= 500));
  });

  test('puts a conversation with a new message on top and counts it', async () => {
    const { store } = inboxOf(many(10));
    await store.load();
    store.apply([arrival(view(20_000, 'c5', { from: 'agent-5', kind: 'request' }))]);
    assert.equal(store.rows[0]?.id, 'c5');
    assert.equal(store.rows[0]?.unread, 1);
    assert.equal(store.rows[0]?.waiting, 1);
    assert.equal(store.rows[0]?.last?.line, 'message 20000');
    assert.equal(store.rows.length, 10);
    assert.ok(store.fresh.has('c5'));
  });

  test('what the person wrote is not unread', async () => {
    const { store } = inboxOf(many(3));
    await store.load();
    store.apply([arrival(view(20_000, 'c2', { from: me, to: ['agent-2'] }))]);
    assert.equal(store.rows[0]?.id, 'c2');
    assert.equal(store.rows[0]?.unread, 0);
  });

  test('an event that was in the page already counts once', async () => {
    const { store } = inboxOf([entry(1, 500, { unread: 1 })]);
    await store.load();
    store.apply([arrival(view(500, 'c1'))]);
    assert.equal(store.rows[0]?.unread, 1);
  });

  test('asks for the top again when a conversation is new to it', async () => {
    const all = many(60);
    const { store } = inboxOf(all);
    await store.load();
    store.reach(59);
    await until(() => store.rows.length === 60);
    all.unshift(entry(99, 20_000));
    store.apply([arrival(view(20_000, 'c2r'))]);
    await until(() => store.rows.length === 61);
    assert.equal(store.rows[0]?.id, entry(99, 1).id);
    assert.equal(new Set(store.rows.map((row) => row.id)).size, 61);
  });

  test('under a filter, what was read goes, but not the one that is open', async () => {
    const all = [entry(1, 300, { unread: 1 }), entry(2, 200, { unread: 2 }), entry(3, 100, { unread: 1 })];
    const { store } = inboxOf(all);
    await store.load('unread');
    assert.equal(store.rows.length, 3);
    store.kept = 'c2';
    all.forEach((row) => (row.unread = 0));
    await store.refresh();
    assert.deepEqual(
      store.rows.map((row) => row.id),
      ['c2'],
    );
  });

  test('an answer to an older question is dropped when the filter has changed', async () => {
    const { store } = inboxOf([entry(1, 300, { unread: 1 }), entry(2, 200)]);
    const first = store.load('all');
    await store.load('unread');
    await first;
    assert.deepEqual(
      store.rows.map((row) => row.id),
      ['c1'],
    );
  });

  test('a failure is kept for showing and gone after the next success', async () => {
    let broken = true;
    const ask = (async () => {
      if (broken) throw new PageError('hub-unavailable', 'Gone.', 'Wait.');
      return { conversations: [], counts: { all: 0, unread: 0, waiting: 0 }, unread: 0 };
    }) as unknown as Ask;
    const store = new InboxStore(ask, () => me);
    await store.load();
    assert.equal(store.failed?.code, 'hub-unavailable');
    broken = false;
    await store.load();
    assert.equal(store.failed, undefined);
  });
});

/** A conversation of so many messages, numbered from 1. */
function storyOf(count: number): { store: StoryStore; asked: StoryParams[] } {
  const all = Array.from({ length: count }, (_, i): StoryMessage => ({
    ...view(i + 1, 'c1'),
    fates: [{ agent: me, step: 'stored', at: '' }],
  }));
  const asked: StoryParams[] = [];
  const ask = (async (_method: string, params: StoryParams) => {
    asked.push(params);
    const at = (wanted: string) => all.findIndex((message) => message.id === wanted);
    let from = Math.max(0, count - params.limit);
    let end = count;
    if (params.before) [from, end] = [Math.max(0, at(params.before) - params.limit), at(params.before)];
    if (params.after) [from, end] = [at(params.after) + 1, Math.min(count, at(params.after) + 1 + params.limit)];
    if (params.around) [from, end] = [Math.max(0, at(params.around) - 30), Math.min(count, at(params.around) + 30)];
    const page = all.slice(from, end);
    return {
      conversation: entry(1, count),
      messages: page,
      ...(from > 0 && { before: page[0]?.id }),
      ...(end < count && { after: page.at(-1)?.id }),
    };
  }) as unknown as Ask;
  return { store: new StoryStore(ask, () => me), asked };
}

describe('the story store', () => {
  test('opens at the end and loads older ones in order', async () => {
    const { store } = storyOf(200);
    await store.open('c1');
    assert.equal(store.messages.at(-1)?.id, id(200));
    assert.equal(store.hasNewer, false);
    await store.older();
    assert.equal(store.messages.length, 120);
    assert.deepEqual(
      store.messages.map((message) => message.id),
      Array.from({ length: 120 }, (_, i) => id(81 + i)),
    );
  });

  test('a message that comes twice, or late, stands once and in its place', async () => {
    const { store } = storyOf(10);
    await store.open('c1');
    store.apply([arrival(view(13, 'c1')), arrival(view(11, 'c1')), arrival(view(13, 'c1')), arrival(view(9, 'c1'))]);
    assert.deepEqual(
      store.messages.slice(-4).map((message) => message.id),
      [id(9), id(10), id(11), id(13)],
    );
  });

  test('tells what is new, with the fate of each recipient', async () => {
    const { store } = storyOf(2);
    await store.open('c1');
    const arrived = store.apply([arrival(view(5, 'c1', { kind: 'request', to: [me, 'b'] })), arrival(view(6, 'c9'))]);
    assert.equal(arrived.length, 1);
    assert.deepEqual(
      arrived[0]?.fates.map(({ agent, step }) => [agent, step]),
      [
        [me, 'stored'],
        ['b', 'stored'],
      ],
    );
    assert.equal(arrived[0]?.request, 'pending');
    assert.equal(arrived[0]?.unread, true);
  });

  test('receipts and the end of a request change the message they are about, and no other', async () => {
    const { store } = storyOf(3);
    await store.open('c1');
    store.apply([arrival(view(4, 'c1', { from: me, to: ['b'], kind: 'request' }))]);
    const untouched = store.message(id(2));
    store.apply([
      { type: 'receipt', message: id(4), receipt: { agent: 'b', step: 'shown', at: 'then', route: 'turn' } },
      arrival(view(5, 'c1', { from: 'b', kind: 'reply', reply_to: id(4) })),
      { type: 'request', message: id(4), state: 'answered' },
    ]);
    const request = store.message(id(4));
    assert.equal(request?.fates[0]?.step, 'shown');
    assert.equal(request?.fates[0]?.route, 'turn');
    assert.equal(request?.request, 'answered');
    assert.equal(request?.answer, id(5));
    assert.equal(store.message(id(2)), untouched);
  });

  test('seen messages are no longer unread, whoever says so', async () => {
    const { store } = storyOf(1);
    await store.open('c1');
    store.apply([arrival(view(2, 'c1')), arrival(view(3, 'c1'))]);
    assert.equal(store.markSeen([id(2), id(1), id(77)]), 1);
    store.apply([{ type: 'receipt', message: id(3), receipt: { agent: me, step: 'shown', at: '' } }]);
    assert.equal(store.messages.filter((message) => message.unread).length, 0);
    store.apply([{ type: 'unread', message: id(3), conversation: 'c1' }]);
    assert.equal(store.message(id(3))?.unread, true);
  });

  test('in the middle of a history new messages wait until one gets there', async () => {
    const { store } = storyOf(500);
    await store.open('c1', id(100));
    assert.ok(store.hasNewer && store.hasOlder);
    const before = store.messages.length;
    assert.equal(store.apply([arrival(view(600, 'c1'))]).length, 1);
    assert.equal(store.messages.length, before);
    await store.newer();
    assert.equal(store.messages.length, before + 60);
  });

  test('keeps a bounded part of a long history', async () => {
    const { store } = storyOf(2_000);
    await store.open('c1');
    for (let i = 0; i < 20; i++) await store.older();
    assert.equal(store.messages.length, 600);
    assert.equal(store.hasNewer, true);
    await store.newer();
    assert.equal(store.messages.length, 600);
    assert.equal(new Set(store.messages.map((message) => message.id)).size, 600);
  });

  test('an answer for a conversation that was left is dropped', async () => {
    const { store } = storyOf(5);
    const opening = store.open('c1');
    store.close();
    await opening;
    assert.equal(store.messages.length, 0);
    assert.equal(store.id, undefined);
  });
});

describe('the agents store', () => {
  test('those who need the person come first, those away last', async () => {
    const agent = (name: string, presence: AgentView['presence']): AgentView => ({
      name,
      kind: 'agent',
      presence,
      reach: [],
    });
    const ask = (async () => [agent('a', 'offline'), agent('b', 'idle'), agent('c', 'working')]) as unknown as Ask;
    const store = new AgentsStore(ask);
    await store.load();
    store.apply([{ type: 'presence', agent: agent('d', 'waiting') }]);
    assert.deepEqual(
      store.agents.map(({ name }) => name),
      ['d', 'c', 'b', 'a'],
    );
  });
});

describe('drafts', () => {
  const state = () => {
    let saved: unknown;
    const host = { getState: () => saved, setState: (value: unknown) => (saved = structuredClone(value)) };
    return { host, page: new PageState(host) };
  };

  test('outlive the page, one per conversation', () => {
    const { host, page } = state();
    new Drafts(page).set('c1', { ...emptyDraft, text: 'half a sen' });
    new Drafts(page).set('c2', { ...emptyDraft, text: 'other' });
    page.flush();
    const again = new Drafts(new PageState(host));
    assert.equal(again.get('c1').text, 'half a sen');
    assert.equal(again.get('c2').text, 'other');
    again.clear('c1');
    assert.equal(again.has('c1'), false);
  });

  test('the same content tried again keeps its key, changed content gets a new one', () => {
    let count = 0;
    const key = () => `key-${++count}`;
    const draft = { ...emptyDraft, text: 'hi' };
    const first = toSend(draft, ['a'], key);
    const tried = { ...draft, tried: { key: first.key, content: contentOf(first) } };
    assert.equal(toSend(tried, ['a'], key).key, first.key);
    assert.notEqual(toSend({ ...tried, text: 'hi!' }, ['a'], key).key, first.key);
    assert.notEqual(toSend(tried, ['b'], key).key, first.key);
  });

  test('a question has options, an answer has none and goes to its question', () => {
    const draft = { ...emptyDraft, text: 'x', asks: true, options: [' yes ', '', 'no'] };
    assert.deepEqual(toSend(draft, ['a'], () => 'k').options, ['yes', 'no']);
    const answer = toSend({ ...draft, asks: false, reply: { id: 'm1', from: 'a', line: '' } }, ['a', 'b'], () => 'k');
    assert.equal(answer.reply_to, 'm1');
    assert.equal(answer.to, undefined);
    assert.equal(answer.options, undefined);
    assert.equal(answer.kind, 'reply');
  });
});

describe('the page’s door', () => {
  test('answers find their question in any order; errors keep code and next step', async () => {
    const api = new PageApi((request) => {
      if (request.method === 'agents')
        setTimeout(() => api.receive({ request: request.request, result: ['later'] }), 5);
      else api.receive({ request: request.request, error: { code: 'forbidden', message: 'No.', next: 'Ask.' } });
    });
    const agents = api.ask('agents', {});
    await assert.rejects(api.ask('pause', { on: true }), { code: 'forbidden', next: 'Ask.' });
    assert.deepEqual(await agents, ['later']);
  });

  test('silence ends as an error, and a late answer harms nobody', async () => {
    const api = new PageApi(() => undefined, 10);
    await assert.rejects(api.ask('agents', {}), { code: 'no-answer' });
    api.receive({ request: 1, result: [] });
    api.receive('nonsense');
    api.receive(null);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !condition(); i++) await new Promise((done) => setTimeout(done, 10));
  assert.ok(condition(), 'it did not happen');
}

describe('what outlives the page', () => {
  const host = (state?: unknown) => {
    const written: unknown[] = [];
    return { written, getState: () => state, setState: (one: unknown) => void written.push(one) };
  };

  test('another screen is written at once, the rest in a moment', () => {
    const own = host();
    const saved = new PageState(own);
    const kept: string[] = [];
    saved.keep = (state) => kept.push(state);
    saved.set({ search: 'orders' });
    assert.equal(own.written.length, 0);
    saved.set({ screen: 'inbox' });
    assert.deepEqual(own.written, [{ search: 'orders', screen: 'inbox', saves: 1 }]);
    assert.deepEqual(kept, [JSON.stringify(own.written[0])]);
  });

  test('of two copies the newer one counts', () => {
    const saved = new PageState(host({ search: 'mine', saves: 4 }));
    assert.equal(saved.adopt('{"search":"older","saves":4}'), false);
    assert.equal(saved.adopt('no JSON'), false);
    assert.equal(saved.value.search, 'mine');
    assert.equal(saved.adopt('{"search":"newer","saves":5}'), true);
    assert.equal(saved.value.search, 'newer');
  });
});
