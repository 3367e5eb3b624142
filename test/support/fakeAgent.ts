/** Agents for the fault tests: they send, read and acknowledge by chance, and write all of it into their log. */
import type { BusClient } from '../../src/client/busClient.ts';
import { BusError } from '../../src/core/errors.ts';
import { AgentLog, type DeliveryEntry, type SendEntry } from './checker.ts';
import { HttpRefusal, type McpCaller, type McpReply } from './mcpCaller.ts';

export interface Page {
  messages: DeliveryEntry[];
  next: string | undefined;
}

/** The few things an agent does, over whichever door. No answer is an `Unanswered`, a refusal is a BusError. */
export interface Door {
  send(args: {
    to: string | string[];
    text: string;
    key?: string | undefined;
  }): Promise<{ id: string; news: DeliveryEntry[] }>;
  inbox(args: { filter: 'new' | 'open'; cursor?: string | undefined }): Promise<Page>;
  ack(ids: string[]): Promise<void>;
}

/** Nobody knows whether it was done. */
export class Unanswered extends Error {}

export class RpcDoorway implements Door {
  private readonly client: BusClient;
  private readonly confirm: () => boolean;

  constructor(client: BusClient, confirm: () => boolean) {
    this.client = client;
    this.confirm = confirm;
  }

  async send({ to, text, key }: Parameters<Door['send']>[0]): ReturnType<Door['send']> {
    const { data } = await answered(this.client.call('send', { to, text, ...(key !== undefined && { key }) }));
    return { id: data.id, news: [] };
  }

  async inbox({ filter, cursor }: Parameters<Door['inbox']>[0]): Promise<Page> {
    const { data, shown } = await answered(
      this.client.call('inbox', { filter, limit: 100, ...(cursor && { cursor }) }),
    );
    if (this.confirm()) this.client.shown(shown);
    return { messages: data.messages, next: data.next };
  }

  async ack(ids: string[]): Promise<void> {
    await answered(this.client.call('ack', { ids }));
  }
}

async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const silent = error instanceof BusError && ['hub-unavailable', 'hub-stopping', 'cancelled'].includes(error.code);
    throw silent ? new Unanswered(error.message) : error;
  }
}

interface FencedMessage {
  id: string;
  from: string;
  text: string;
}

export class McpDoorway implements Door {
  private readonly mcp: McpCaller;

  constructor(mcp: McpCaller) {
    this.mcp = mcp;
  }

  async send({ to, text, key }: Parameters<Door['send']>[0]): ReturnType<Door['send']> {
    const { structured } = await this.call('send', { to, text, ...(key !== undefined && { key }) });
    return {
      id: structured['id'] as string,
      news: unfenced((structured['news'] as { messages: unknown } | undefined)?.messages),
    };
  }

  async inbox({ filter, cursor }: Parameters<Door['inbox']>[0]): Promise<Page> {
    const { structured } = await this.call('inbox', { filter, limit: 100, ...(cursor && { cursor }) });
    return { messages: unfenced(structured['messages']), next: structured['next'] as string | undefined };
  }

  async ack(ids: string[]): Promise<void> {
    await this.call('ack', { ids });
  }

  private async call(tool: string, args: Record<string, unknown>): Promise<McpReply> {
    let reply: McpReply;
    try {
      reply = await this.mcp.call(tool, args);
    } catch (error) {
      if (error instanceof HttpRefusal) throw error;
      throw new Unanswered((error as Error).message);
    }
    if (!reply.isError) return reply;
    const { code, message, next } = reply.structured['error'] as { code: string; message: string; next: string };
    if (code === 'hub-stopping') throw new Unanswered(message);
    throw new BusError(code as 'internal', message, { next });
  }
}

/** Between the first line and the last one. */
function unfenced(messages: unknown): DeliveryEntry[] {
  return ((messages ?? []) as FencedMessage[]).map(({ id, from, text }) => ({
    id,
    from,
    text: text.split('\n').slice(1, -1).join('\n'),
  }));
}

export interface FakeAgentOptions {
  name: string;
  door: Door;
  peers: readonly string[];
  random: () => number;
  /** Resolves while there is a hub to talk to. */
  up: () => Promise<void>;
  /** How many sends may be under way at once. */
  senders: number;
}

export class FakeAgent {
  readonly log: AgentLog;
  readonly complaints: string[] = [];
  private readonly options: FakeAgentOptions;
  private stopped = false;
  private running: Promise<unknown> | undefined;
  /** What may be retried, since it has a key. */
  private readonly unsure: { to: string[]; entry: SendEntry }[] = [];

  constructor(options: FakeAgentOptions) {
    this.options = options;
    this.log = new AgentLog(options.name);
  }

  /** One reader, so that its log is in the order in which it was handed things; several senders. */
  run(): void {
    const { random, senders } = this.options;
    const reading = this.loop(() => (random() < 0.1 ? this.lookAgain() : this.read()));
    const sending = Array.from({ length: senders }, () =>
      this.loop(() => (this.unsure.length > 0 ? this.retry() : random() < 0.05 ? this.sendToNobody() : this.send())),
    );
    this.running = Promise.all([reading, ...sending]);
  }

  stop(): void {
    this.stopped = true;
  }

  /** Ends the load and makes sure of everything that has a key. */
  async finish(): Promise<void> {
    this.stop();
    await this.running;
    const patience = performance.now() + 60_000;
    while (this.unsure.length > 0) {
      try {
        await this.retry();
      } catch (error) {
        if (!(error instanceof Unanswered) || performance.now() > patience) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Every page of what is neither acknowledged nor answered. */
  async open(note: (messages: DeliveryEntry[]) => void = () => undefined): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.options.door.inbox({ filter: 'open', cursor });
      note(page.messages);
      ids.push(...page.messages.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== undefined);
    return ids;
  }

  private async loop(step: () => Promise<void>): Promise<void> {
    while (!this.stopped) {
      await this.options.up();
      if (this.stopped) return;
      try {
        await step();
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }

  private async send(): Promise<void> {
    const { peers, random, door, name } = this.options;
    const first = pick(peers, random);
    const second = pick(peers, random);
    const to = second !== first && random() < 0.2 ? [first, second] : [first];
    const key = random() < 0.5 ? `${name}-${this.log.sends.length}` : undefined;
    const entry = this.log.invoke(to, key);
    try {
      const { id, news } = await door.send({ to, text: entry.text, key });
      this.log.end(entry, 'ok', id);
      this.log.delivered(news, false);
    } catch (error) {
      this.log.end(entry, error instanceof Unanswered ? 'unknown' : 'failed');
      if (!(error instanceof Unanswered)) throw error;
      if (key !== undefined) this.unsure.push({ to, entry });
      throw error;
    }
  }

  private async retry(): Promise<void> {
    const next = this.unsure.shift();
    if (!next) return;
    try {
      const { id, news } = await this.options.door.send({ to: next.to, text: next.entry.text, key: next.entry.key });
      this.log.end(next.entry, 'ok', id);
      this.log.delivered(news, false);
    } catch (error) {
      this.unsure.push(next);
      throw error;
    }
  }

  private async sendToNobody(): Promise<void> {
    const entry = this.log.invoke(['nobody']);
    try {
      await this.options.door.send({ to: ['nobody'], text: entry.text });
      this.complaints.push('a message to nobody was taken');
    } catch (error) {
      const refused = error instanceof BusError && error.code === 'unknown-agent';
      this.log.end(entry, 'failed');
      if (!refused) throw error;
    }
  }

  private async read(): Promise<void> {
    const { door, random } = this.options;
    const filter = random() < 0.7 ? 'new' : 'open';
    const { messages } = await door.inbox({ filter });
    this.log.delivered(messages, filter === 'new');
    const done = messages.filter(() => random() < 0.8).map(({ id }) => id);
    if (done.length === 0) return;
    this.log.acking(done);
    await door.ack(done);
    this.log.ackedOk(done);
  }

  private async lookAgain(): Promise<void> {
    // What is handed over while the pages are read need not be in them.
    const owed = new Set(this.log.deliveries.map(({ id }) => id).filter((id) => !this.log.ackInvoked.has(id)));
    const open = await this.open((messages) => this.log.delivered(messages, false));
    for (const id of open) owed.delete(id);
    for (const id of owed) this.complaints.push(`not offered again: ${id} to ${this.log.name}`);
  }
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)] as T;
}
