import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { BusClient } from '../../src/client/busClient.ts';
import { HubProcess } from '../support/hubProcess.ts';

// Whatever the sizes of the pages: put together they are the whole, from either end.

let hub: HubProcess;
let ann: BusClient;
let bob: BusClient;
let conversation: string;
const sent: string[] = [];
const empty = ['quiet', 'silent', 'still'];

before(async () => {
  hub = await HubProcess.start();
  [ann, bob] = await hub.strangers(2);
  const others = await hub.strangers(5);
  for (let i = 0; i < 37; i++) {
    const { data } = await ann.call('send', { to: bob.agent, text: `needle ${i}${' hay'.repeat(i % 7)}` });
    conversation = data.conversation;
    sent.push(data.id);
    // Other traffic in between, so that order numbers have holes.
    if (i % 3 === 0) await others[i % 5]!.call('send', { to: i % 2 ? bob.agent : ann.agent, text: `aside ${i}` });
  }
  for (const name of empty) await ann.call('channel', { action: 'create', name });
});
after(() => hub.dispose());

/** The size of each page in turn. */
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });
const runs = { numRuns: 25 };

type Page<T> = { items: T[]; next?: string | undefined };

async function allPages<T>(
  pageSizes: number[],
  read: (limit: number, cursor: string | undefined) => Promise<Page<T>>,
): Promise<T[][]> {
  const pages: T[][] = [];
  let cursor: string | undefined;
  do {
    const limit = pageSizes[pages.length % pageSizes.length] ?? 1;
    const { items, next } = await read(limit, cursor);
    assert.ok(items.length <= limit);
    assert.ok(items.length > 0 || next === undefined, 'an empty page is the last one');
    pages.push(items);
    cursor = next;
  } while (cursor !== undefined);
  return pages;
}

describe('pages put together are the whole', () => {
  test('a conversation, backwards from its end', () =>
    fc.assert(
      fc.asyncProperty(sizes, async (pageSizes) => {
        const pages = await allPages(pageSizes, async (limit, before) => {
          const { messages, before: next } = (
            await bob.call('conversation', { id: conversation, limit, ...(before && { before }) })
          ).data as Awaited<ReturnType<typeof history>>;
          return { items: messages.map(({ id }) => id), next };
        });
        assert.deepEqual(pages.toReversed().flat(), sent);
      }),
      runs,
    ));

  test('a conversation, forwards from its beginning or from anywhere', () =>
    fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: -1, max: 36 }), async (pageSizes, from) => {
        const start = from < 0 ? 'm0' : (sent[from] ?? '');
        const pages = await allPages(pageSizes, async (limit, cursor) => {
          const page = await history({ after: cursor ?? start, limit });
          return { items: page.messages.map(({ id }) => id), next: page.after };
        });
        assert.deepEqual(pages.flat(), sent.slice(from + 1));
      }),
      runs,
    ));

  test('a conversation, there and back: a page leads to both of its neighbours', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 36 }), fc.integer({ min: 1, max: 12 }), async (at, limit) => {
        const page = await history({ before: sent[at] ?? '', limit });
        const ids = page.messages.map(({ id }) => id);
        assert.deepEqual(ids, sent.slice(Math.max(0, at - limit), at));
        assert.equal(page.before, at > limit ? ids[0] : undefined);
        if (at === 0) return;
        assert.equal(page.after, ids.at(-1));
        const back = await history({ after: page.after ?? '', limit });
        assert.deepEqual(
          back.messages.map(({ id }) => id),
          sent.slice(at, at + limit),
        );
      }),
      runs,
    ));

  test('the inbox, by any filter', async () => {
    const everything = (await bob.call('inbox', { filter: 'all', limit: 100 })).data.messages.map(({ id }) => id);
    assert.ok(everything.length > sent.length);
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.constantFrom('new' as const, 'open' as const, 'all' as const),
        fc.boolean(),
        async (pageSizes, filter, onlyAnn) => {
          const pages = await allPages(pageSizes, async (limit, cursor) => {
            const { data } = await bob.call('inbox', {
              filter,
              limit,
              ...(onlyAnn && { from: ann.agent }),
              ...(cursor && { cursor }),
            });
            return { items: data.messages.map(({ id }) => id), next: data.next };
          });
          assert.deepEqual(pages.flat(), onlyAnn ? sent : everything);
        },
      ),
      runs,
    );
  });

  test('the list of conversations, those without a message too', async () => {
    const person = await hub.client();
    for (const reader of [ann, person]) {
      const { conversations } = (await reader.call('conversations', { limit: 100 })).data as ConversationsPage;
      for (const name of empty) assert.ok(conversations.some(({ title }) => title === `#${name}`));
      await fc.assert(
        fc.asyncProperty(sizes, async (pageSizes) => {
          const pages = await allPages(pageSizes, async (limit, cursor) => {
            const data = (await reader.call('conversations', { limit, ...(cursor && { cursor }) }))
              .data as ConversationsPage;
            return { items: data.conversations.map(({ id }) => id), next: data.next };
          });
          assert.deepEqual(
            pages.flat(),
            conversations.map(({ id }) => id),
          );
        }),
        runs,
      );
    }
  });

  test('what a search finds, newest first', () =>
    fc.assert(
      fc.asyncProperty(sizes, async (pageSizes) => {
        const pages = await allPages(pageSizes, async (limit, cursor) => {
          const data = (await bob.call('conversations', { query: 'needle', limit, ...(cursor && { cursor }) }))
            .data as SearchPage;
          return { items: data.hits.map(({ id }) => id), next: data.next };
        });
        assert.deepEqual(pages.flat(), sent.toReversed());
      }),
      runs,
    ));

  test('the agents, by name', async () => {
    const everybody = (await ann.call('agents', { limit: 100 })).data.agents.map(({ name }) => name);
    await fc.assert(
      fc.asyncProperty(sizes, async (pageSizes) => {
        const pages = await allPages(pageSizes, async (limit, cursor) => {
          const { data } = await ann.call('agents', { limit, ...(cursor && { cursor }) });
          return { items: data.agents.map(({ name }) => name), next: data.next };
        });
        assert.deepEqual(pages.flat(), everybody);
      }),
      runs,
    );
  });

  test('a place that is none is refused', async () => {
    for (const cursor of ['', 'm', 'x1', 'm-1', 'M1', 'm01', '1; DROP TABLE', 'mzzzzzzzzzzzz']) {
      await assert.rejects(bob.call('inbox', { cursor }), { code: 'invalid-input' }, cursor);
      await assert.rejects(
        bob.call('conversation', { id: conversation, before: cursor }),
        { code: 'invalid-input' },
        cursor,
      );
    }
  });
});

type ConversationsPage = { conversations: { id: string; title: string }[]; next?: string };
type SearchPage = { hits: { id: string }[]; next?: string };

async function history(args: {
  before?: string;
  after?: string;
  limit: number;
}): Promise<{ messages: { id: string }[]; before?: string; after?: string }> {
  return (await bob.call('conversation', { id: conversation, ...args })).data;
}
