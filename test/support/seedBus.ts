/**
 * A bus with a past: so many conversations and messages, written through the hub's own store while no hub runs.
 * Much faster than sending, and the same in every run.
 */
import { chmodSync, existsSync } from 'node:fs';
import { conversationId, DeliveryPhase, type MessageRecord, type ReceiptStep } from '../../src/core/model.ts';
import type { Writes } from '../../src/core/ports.ts';
import { busHome, type BusHome } from '../../src/hub/home.ts';
import { readRecord } from '../../src/hub/discovery.ts';
import { SqliteStore } from '../../src/storage/sqliteStore.ts';
import { seededRandom } from './seededRandom.ts';
import { seedText } from './seedText.ts';

export interface SeedOptions {
  home: BusHome | string;
  conversations: number;
  messages: number;
  /** One of the conversations gets this many of the messages. */
  longest?: number;
}

export interface SeededBus {
  /** The conversation with the most messages, and its members. */
  longest: { id: string; members: string[] };
  agents: string[];
  conversations: number;
  messages: number;
}

interface Talk {
  id: number;
  members: number[];
}

const perCommit = 5_000;
const spanMs = 30 * 24 * 3600_000;

/** The data folder has to be new: nothing is added to a history that is there already. */
export async function seedBus(options: SeedOptions): Promise<SeededBus> {
  const home = typeof options.home === 'string' ? busHome({ AGENT_BUS_HOME: options.home }) : options.home;
  if (existsSync(home.database) || readRecord(home.record).record) throw new Error(`${home.folder} is in use`);
  const store = new SqliteStore(home.database);
  try {
    chmodSync(home.database, 0o600);
    return await new Seeding(store, options).run();
  } finally {
    store.close();
  }
}

class Seeding {
  private readonly store: SqliteStore;
  private readonly conversations: number;
  private readonly messages: number;
  private readonly longest: number;
  private readonly random = seededRandom(11);
  private readonly now = Date.now();
  private readonly names = new Map<number, string>();
  private person = 0;

  constructor(store: SqliteStore, { conversations, messages, longest = 0 }: SeedOptions) {
    if (messages < conversations + longest) throw new Error('there are fewer messages than conversations need');
    this.store = store;
    this.conversations = conversations;
    this.messages = messages;
    this.longest = longest;
  }

  async run(): Promise<SeededBus> {
    const talks = await this.store.write((tx) => this.makeTalks(tx, this.makeAgents(tx)));
    const [long] = talks;
    if (!long) throw new Error('no conversation was wanted');
    for (let done = 0; done < this.messages; done += perCommit) {
      await this.store.write((tx) => {
        for (let i = done; i < Math.min(done + perCommit, this.messages); i++)
          this.addMessage(tx, this.talkOf(i, talks), i);
      });
    }
    // A search first indexes whatever is not indexed yet, and a check at the next start would disturb a measurement.
    this.store.search({ terms: 'test', limit: 1 });
    await this.store.remember('checked_at', String(this.now));
    return {
      longest: { id: conversationId.format(long.id), members: long.members.map((id) => this.names.get(id) ?? '') },
      agents: [...this.names.values()].filter((name) => name !== 'person'),
      conversations: talks.length,
      messages: this.messages,
    };
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }

  /** As many as have enough pairs among them. */
  private makeAgents(tx: Writes): number[] {
    const blank = {
      about: '',
      skills: [],
      open: false,
      identity: null,
      created: this.now - spanMs,
      lastSeen: this.now,
      removed: false,
    };
    const add = (name: string, kind: 'person' | 'agent', workspace: string, product: string): number => {
      const id = tx.insertAgent({ ...blank, name, kind, workspace, product });
      this.names.set(id, name);
      return id;
    };
    this.person = add('person', 'person', '', '');
    const count = Math.max(8, Math.ceil(Math.sqrt(2.5 * this.conversations)));
    const products = ['copilot', 'claude', 'codex', 'gemini'];
    return Array.from({ length: count }, (_, i) => {
      const project = `project-${Math.floor(i / products.length)}`;
      const product = products[i % products.length] ?? '';
      return add(`${project}-${product}`, 'agent', `/home/ada/${project}`, product);
    });
  }

  /** Mostly two agents; every eighth with the person, every tenth a group, every fiftieth a channel. */
  private makeTalks(tx: Writes, agents: number[]): Talk[] {
    const made = new Map<string, Talk>();
    while (made.size < this.conversations) {
      const n = made.size;
      const size = n === 0 ? 2 : n % 50 === 49 ? 9 : n % 10 === 5 ? 3 : 2;
      const members = new Set(n === 0 || (n % 8 === 3 && n < 8 * agents.length) ? [this.person] : []);
      while (members.size < size) members.add(agents[this.below(agents.length)] ?? 0);
      const sorted = [...members].sort((a, b) => a - b);
      const kind = size === 9 ? 'channel' : size === 3 ? 'group' : 'direct';
      const key = kind === 'channel' ? `#topic-${n}` : sorted.join(' ');
      if (made.has(key)) continue;
      const at = this.now - spanMs;
      const id = tx.insertConversation(kind, key, '', at);
      for (const member of sorted) tx.insertMember(id, member, at);
      made.set(key, { id, members: sorted });
    }
    return [...made.values()];
  }

  /** The long one first, then one each, then as it comes; the long one has the last word. */
  private talkOf(i: number, talks: readonly Talk[]): Talk {
    if (i === this.messages - 1) return talks[0] as Talk;
    const at = i < this.longest ? 0 : i - this.longest < talks.length ? i - this.longest : this.below(talks.length);
    return talks[at] as Talk;
  }

  private addMessage(tx: Writes, talk: Talk, i: number): void {
    const sender = talk.members[this.below(talk.members.length)] ?? 0;
    const kind = this.random() < 0.2 && sender !== this.person ? 'request' : 'inform';
    const at = this.now - spanMs + Math.floor((spanMs * i) / this.messages);
    const record: Omit<MessageRecord, 'seq'> = {
      conversation: talk.id,
      sender,
      kind,
      text: seedText(this.random, i),
      data: null,
      files: [],
      options: [],
      replyTo: null,
      priority: 'normal',
      key: `seed-${String(i).padStart(9, '0')}`,
      hop: 0,
      sentAt: at,
      expiresAt: null,
    };
    const seq = tx.insertMessage(record);
    if (seq === undefined) throw new Error('a key was used twice');
    const message = { seq, ...record };
    // The newest are open, so that there is something unread and something waiting.
    const open = i > this.messages * 0.98;
    if (kind === 'request') {
      tx.insertRequest(seq);
      if (!open) tx.endRequest(seq, { state: 'answered', resultSeq: null, at, note: null });
    }
    for (const reader of talk.members) if (reader !== sender) this.deliver(tx, message, reader, open);
  }

  private deliver(tx: Writes, message: MessageRecord, agent: number, open: boolean): void {
    const { seq, sentAt: at } = message;
    tx.insertDelivery(message, agent);
    if (open && this.random() < 0.5) return;
    const step: ReceiptStep = open ? 'shown' : 'acked';
    tx.insertReceipt({ seq, agent, step: 'shown', at, route: 'inbox', outcome: null, note: null });
    if (!open) tx.insertReceipt({ seq, agent, step, at, route: null, outcome: 'done', note: null });
    tx.moveDelivery(seq, agent, open ? DeliveryPhase.open : DeliveryPhase.closed, step, at);
  }
}
