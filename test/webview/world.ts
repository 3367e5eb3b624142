import type { MessageStatus } from '../../src/core/progress.ts';
import { conversationId, messageId, type AgentView, type ReceiptStep } from '../../src/core/model.ts';
import type { HubEvent } from '../../src/protocol/messages.ts';
import type { AgentReach } from '../../src/protocol/reachMessages.ts';
import {
  storyTextLength,
  type OverviewEntry,
  type OverviewParams,
  type OverviewResult,
  type StoryMessage,
  type StoryParams,
  type StoryResult,
} from '../../src/protocol/storyMessages.ts';
import type { Draft } from '../../src/protocol/webviewMessages.ts';

export const me = 'person';
export const theBus = 'agent-bus';

interface Talk {
  id: string;
  title: string;
  kind: OverviewEntry['kind'];
  members: string[];
  messages: StoryMessage[];
}

/** A bus in memory that answers as the hub would, for one page. */
export class World {
  readonly agents: AgentView[] = [];
  readonly talks: Talk[] = [];
  private readonly reaches = new Map<string, AgentReach>();
  /** Agents of which the person wants to know when they are idle. */
  readonly telling = new Map<string, boolean>();
  /** What happens next is told to the page. */
  onEvents: (events: HubEvent[]) => void = () => undefined;
  private seq = 1_000;
  /** The whole overview, until something changes. */
  private entries: OverviewEntry[] | undefined;
  private readonly byId = new Map<string, { talk: Talk; message: StoryMessage }>();
  now = Date.now();

  agent(name: string, about: Partial<AgentView> = {}): AgentView {
    const agent: AgentView = {
      name,
      kind: 'agent',
      presence: 'idle',
      reach: ['next tool call', 'inbox'],
      last_seen: new Date(this.now - 120_000).toISOString(),
      ...about,
    };
    this.agents.push(agent);
    return agent;
  }

  /** What the hub would say of it; by itself: what its presence and its ways suggest. */
  reachable(name: string, reach: Partial<AgentReach>): void {
    const { presence, product, workspace, last_seen, reach: ways } = this.agentNamed(name);
    const [how = 'inbox'] = ways;
    const gone = { blocked: 'it is not there', todo: 'start it again; its messages wait' };
    const way = presence === 'offline' ? gone : { how };
    this.reaches.set(name, {
      agent: name,
      ...(product && { product }),
      ...(workspace && { workspace }),
      presence,
      ...(last_seen && { last_seen }),
      state: presence === 'offline' ? 'gone' : 'unknown',
      now: way,
      busy: way,
      end_of_turn: way,
      idle: way,
      ...reach,
    });
  }

  reachOf(name: string): AgentReach {
    if (!this.reaches.has(name)) this.reachable(name, {});
    return this.reaches.get(name) as AgentReach;
  }

  allowTyping({ agent, on }: { agent: string; on: boolean }): void {
    this.reachable(agent, { ...this.reachOf(agent), typing: on });
  }

  /** Its presence, or something that is seen with it, has changed. */
  tellPresence(name: string, change: Partial<AgentView>): void {
    const agent = Object.assign(this.agentNamed(name), change);
    this.onEvents([{ type: 'presence', agent }]);
  }

  private agentNamed(name: string): AgentView {
    const agent = this.agents.find((one) => one.name === name);
    if (!agent) throw failure('unknown-agent', `No agent is called "${name}".`, 'Look again.');
    return agent;
  }

  talk(kind: Talk['kind'], members: string[], title?: string): Talk {
    const talk: Talk = {
      id: conversationId.format(this.talks.length + 1),
      title: title ?? members.filter((name) => name !== me).join(', '),
      kind,
      members,
      messages: [],
    };
    this.talks.push(talk);
    return talk;
  }

  /** @param ago minutes before now */
  say(talk: Talk, from: string, text: string, ago: number, more: Partial<StoryMessage> = {}): StoryMessage {
    const to = talk.kind === 'channel' ? [talk.title] : talk.members.filter((name) => name !== from);
    const at = new Date(this.now - ago * 60_000).toISOString();
    const step: ReceiptStep = 'shown';
    const message: StoryMessage = {
      id: messageId.format(++this.seq),
      conversation: talk.id,
      ...(talk.kind === 'channel' && { channel: talk.title.slice(1) }),
      from,
      to,
      kind: 'inform',
      text,
      sent_at: at,
      fates: talk.members.filter((name) => name !== from).map((agent) => ({ agent, step, at, route: 'tool-result' })),
      ...more,
    };
    talk.messages.push(message);
    this.entries = undefined;
    this.byId.set(message.id, { talk, message });
    return message;
  }

  /** Numbers all messages anew, in the order of their times, as if they had been sent then. */
  inOrder(): this {
    const all = this.talks
      .flatMap((talk) => talk.messages)
      .sort((a, b) => Date.parse(a.sent_at) - Date.parse(b.sent_at));
    const ids = new Map(all.map((message, i) => [message.id, messageId.format(1_001 + i)]));
    const renamed = [...this.byId.values()];
    this.byId.clear();
    this.entries = undefined;
    for (const { talk, message } of renamed) {
      message.id = ids.get(message.id) ?? message.id;
      if (message.reply_to) message.reply_to = ids.get(message.reply_to) ?? message.reply_to;
      if (message.answer) message.answer = ids.get(message.answer) ?? message.answer;
      this.byId.set(message.id, { talk, message });
    }
    return this;
  }

  /** Now, in front of the page. */
  arrive(talk: Talk, from: string, text: string, more: Partial<StoryMessage> = {}): StoryMessage {
    this.now = Date.now();
    const message = this.say(talk, from, text, 0, {
      ...(from !== me && talk.members.includes(me) && { unread: true }),
      ...more,
    });
    const { fates: _fates, unread: _unread, request: _request, ...view } = message;
    this.onEvents([{ type: 'message', message: view }]);
    return message;
  }

  receipt(message: StoryMessage, agent: string, step: ReceiptStep): void {
    this.entries = undefined;
    const at = new Date().toISOString();
    message.fates = message.fates.map((fate) => (fate.agent === agent ? { ...fate, step, at } : fate));
    this.onEvents([{ type: 'receipt', message: message.id, receipt: { agent, step, at } }]);
  }

  overview({ filter, cursor, limit }: OverviewParams): OverviewResult {
    this.entries ??= this.talks.map((talk) => this.entry(talk)).sort((a, b) => orderOf(b) - orderOf(a));
    const all = this.entries;
    const passes = {
      all: () => true,
      unread: (e: OverviewEntry) => e.unread > 0,
      waiting: (e: OverviewEntry) => e.waiting > 0,
    };
    const found = all.filter(passes[filter]);
    const from = cursor === undefined ? 0 : found.findIndex((entry) => orderOf(entry) < Number(cursor));
    const page = from < 0 ? [] : found.slice(from, from + limit);
    const last = page.at(-1);
    return {
      conversations: page,
      ...(last && from + limit < found.length && { next: String(orderOf(last)) }),
      counts: {
        all: all.length,
        unread: all.filter(passes.unread).length,
        waiting: all.filter(passes.waiting).length,
      },
      unread: all.reduce((sum, entry) => sum + entry.unread, 0),
    };
  }

  private entry(talk: Talk): OverviewEntry {
    const last = talk.messages.at(-1);
    return {
      id: talk.id,
      title: talk.title,
      kind: talk.kind,
      members: talk.members,
      unread: talk.messages.filter((message) => message.unread).length,
      waiting: talk.messages.filter((m) => m.request === 'pending' && m.to.includes(me)).length,
      ...(talk.members.includes(theBus) && { notices: theBus }),
      last_at: last?.sent_at ?? new Date(this.now).toISOString(),
      ...(last && {
        last: {
          id: last.id,
          from: last.from,
          line: (last.text.split('\n', 1)[0] ?? '').slice(0, 100),
          sent_at: last.sent_at,
        },
      }),
    };
  }

  story({ conversation, before, after, around, limit }: StoryParams): StoryResult {
    const talk = this.talks.find(({ id }) => id === conversation);
    if (!talk) throw failure('unknown-conversation', 'There is no such conversation.', 'Go back to the inbox.');
    const all = talk.messages;
    const at = (id: string) => all.findIndex((message) => message.id === id);
    let from = Math.max(0, all.length - limit);
    if (before !== undefined) from = Math.max(0, at(before) - limit);
    else if (after !== undefined) from = at(after) + 1;
    else if (around !== undefined) from = Math.max(0, at(around) - Math.floor(limit / 2));
    const end = before === undefined ? Math.min(all.length, from + limit) : at(before);
    const page = all.slice(from, end);
    const last = page.at(-1);
    return {
      conversation: this.entry(talk),
      messages: page.map((message) => cut(message)),
      ...(from > 0 && page[0] && { before: page[0].id }),
      ...(end < all.length && last && { after: last.id }),
    };
  }

  message(id: string): StoryMessage {
    return this.require(id).message;
  }

  status(id: string): MessageStatus {
    const { message } = this.require(id);
    return {
      id,
      kind: message.kind,
      from: message.from,
      sent_at: message.sent_at,
      recipients: message.fates.map((fate) => ({
        agent: fate.agent,
        step: fate.step,
        at: fate.at,
        steps: [
          { agent: fate.agent, step: 'stored', at: message.sent_at },
          ...(fate.step === 'stored'
            ? []
            : [{ ...fate, at: new Date(Date.parse(message.sent_at) + 42_000).toISOString() }]),
        ],
      })),
    };
  }

  search(query: string): {
    hits: { id: string; conversation: string; from: string; sent_at: string; snippet: string }[];
  } {
    const words = query.toLowerCase().split(/\s+/);
    const hits = [...this.byId.values()]
      .filter(({ message }) => words.every((word) => message.text.toLowerCase().includes(word)))
      .slice(-30)
      .reverse()
      .map(({ message }) => ({
        id: message.id,
        conversation: message.conversation,
        from: message.from,
        sent_at: message.sent_at,
        snippet: message.text.slice(0, 160).replace(/\s+/g, ' '),
      }));
    return { hits };
  }

  send(draft: Draft): { id: string; conversation: string } {
    const known = [...this.byId.values()].find(
      ({ message }) => (message.data as { key?: string } | undefined)?.key === draft.key,
    );
    if (known) return { id: known.message.id, conversation: known.talk.id };
    const parent = draft.reply_to === undefined ? undefined : this.require(draft.reply_to);
    const missing = draft.to?.find(
      (name) => !name.startsWith('#') && !this.agents.some((agent) => agent.name === name),
    );
    if (missing) throw failure('unknown-agent', `No agent is called "${missing}".`, 'Choose one from the list.');
    const members = [me, ...(draft.to ?? [])].sort();
    const talk =
      parent?.talk ??
      this.talks.find(({ title }) => title === draft.to?.[0] && title.startsWith('#')) ??
      this.talks.find((one) => one.kind !== 'channel' && [...one.members].sort().join() === members.join()) ??
      this.talk(members.length > 2 ? 'group' : 'direct', members);
    const at = new Date().toISOString();
    this.now = Date.now();
    const message = this.arrive(talk, me, draft.text, {
      kind: draft.kind,
      data: { key: draft.key },
      ...(draft.reply_to && { reply_to: draft.reply_to }),
      ...(draft.options && { options: draft.options }),
      ...(draft.priority === 'urgent' && { priority: draft.priority }),
      ...(draft.kind === 'request' && { request: 'pending' as const }),
      fates: talk.members.filter((name) => name !== me).map((agent) => ({ agent, step: 'stored', at })),
    });
    if (parent && parent.message.request === 'pending') {
      this.entries = undefined;
      Object.assign(parent.message, { request: 'answered', ended_at: at, answer: message.id });
      this.onEvents([{ type: 'request', message: parent.message.id, state: 'answered' }]);
    }
    return { id: message.id, conversation: talk.id };
  }

  seen(ids: readonly string[]): void {
    this.entries = undefined;
    for (const id of ids) delete this.require(id).message.unread;
  }

  unread(id: string): void {
    const { message } = this.require(id);
    this.entries = undefined;
    message.unread = true;
    this.onEvents([{ type: 'unread', message: id, conversation: message.conversation }]);
  }

  private require(id: string): { talk: Talk; message: StoryMessage } {
    const found = this.byId.get(id);
    if (!found) throw failure('unknown-message', `There is no message ${id}.`, 'Look at the conversation again.');
    return found;
  }
}

export type { Talk };

export class Failure extends Error {
  readonly shape: { code: string; message: string; next: string };

  constructor(shape: Failure['shape']) {
    super(shape.message);
    this.shape = shape;
  }
}

function failure(code: string, message: string, next: string): Failure {
  return new Failure({ code, message, next });
}

function cut(message: StoryMessage): StoryMessage {
  const rest = message.text.length - storyTextLength;
  return rest > 0 ? { ...message, text: message.text.slice(0, storyTextLength), rest } : message;
}

function orderOf({ last }: OverviewEntry): number {
  return last ? (messageId.parse(last.id) ?? 0) : 0;
}
