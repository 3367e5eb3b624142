/** The SDK's own client as the peer of an open agent, over each of the wires that the card names. */
import { randomUUID } from 'node:crypto';
import type { AgentCard } from '@a2a-js/sdk';
import { Role, type Message, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import type { BusClient } from '../../../src/client/busClient.ts';
import type { MessageView } from '../../../src/core/model.ts';
import { until, type HubProcess } from '../hubProcess.ts';

export const wires = ['JSON-RPC 1.0', 'HTTP+JSON 1.0', 'JSON-RPC 0.3', 'HTTP+JSON 0.3'] as const;
export type Wire = (typeof wires)[number];

export function openUrl(hub: HubProcess, name: string): string {
  return new URL(`/a2a/${name}/`, hub.record.mcpUrl).href;
}

/** `fetch` with a token, as a client that was given one makes it. */
export function tokenFetch(token: string | undefined): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
}

/** Finds the agent by its card, as any client does, and speaks as the agent of that token. */
export async function openClient(
  hub: HubProcess,
  name: string,
  token: string | undefined,
  wire: Wire = 'JSON-RPC 1.0',
): Promise<Client> {
  const url = openUrl(hub, name);
  const options = { fetchImpl: tokenFetch(token) };
  const endpoint = url.replace(/\/$/, '');
  switch (wire) {
    case 'JSON-RPC 1.0':
      return await new ClientFactory({ transports: [new JsonRpcTransportFactory(options)] }).createFromUrl(url);
    case 'HTTP+JSON 1.0':
      return await new ClientFactory({ transports: [new RestTransportFactory(options)] }).createFromUrl(url);
    case 'JSON-RPC 0.3':
      return new Client(new LegacyJsonRpcTransport({ endpoint, ...options }), await legacyCard(url));
    case 'HTTP+JSON 0.3':
      return new Client(new LegacyRestTransport({ endpoint, ...options }), await legacyCard(url));
  }
}

function legacyCard(url: string): Promise<AgentCard> {
  return new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).resolve(url, '.well-known/agent.json');
}

export interface Said {
  messageId?: string;
  taskId?: string;
  contextId?: string;
  returnImmediately?: boolean;
  historyLength?: number;
  metadata?: Record<string, unknown>;
  parts?: Message['parts'];
}

export function say(text: string, said: Said = {}): SendMessageRequest {
  return {
    tenant: '',
    message: {
      messageId: said.messageId ?? randomUUID(),
      taskId: said.taskId ?? '',
      contextId: said.contextId ?? '',
      role: Role.ROLE_USER,
      parts: said.parts ?? [
        { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' },
      ],
      metadata: said.metadata,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: said.returnImmediately ?? false,
      ...(said.historyLength !== undefined && { historyLength: said.historyLength }),
    },
    metadata: said.metadata,
  };
}

/** Asks, and insists that the answer is a task. */
export async function ask(client: Client, text: string, said: Said = {}): Promise<Task> {
  const result = await client.sendMessage(say(text, said));
  if (!('status' in result)) throw new Error('the answer is no task');
  return result;
}

export function getTask(client: Client, id: string): Promise<Task> {
  return client.getTask({ id, tenant: '' });
}

export function cancelTask(client: Client, id: string): Promise<Task> {
  return client.cancelTask({ id, tenant: '', metadata: undefined });
}

/** The texts of a message, an artifact or whatever else has parts. */
export function textOf(said: { parts: Message['parts'] } | undefined): string {
  return (said?.parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

export function answerOf(task: Task): string {
  return textOf(task.artifacts[0]);
}

/** A stream that remembers what came, for those who wait for something in it. */
export class Following {
  readonly events: StreamResponse[] = [];
  readonly done: Promise<void>;
  private ended = false;
  private readonly aborting = new AbortController();

  constructor(open: (options: { signal: AbortSignal }) => AsyncGenerator<StreamResponse, void, undefined>) {
    this.done = (async () => {
      try {
        for await (const event of open({ signal: this.aborting.signal })) this.events.push(event);
      } finally {
        this.ended = true;
      }
    })();
    this.done.catch(() => undefined);
  }

  get states(): number[] {
    return this.events.flatMap(({ payload }) =>
      payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? [payload.value.status?.state ?? -1] : [],
    );
  }

  get first(): Task {
    const payload = this.events[0]?.payload;
    if (payload?.$case !== 'task') throw new Error('the stream did not begin with a task');
    return payload.value;
  }

  async reaches(state: number): Promise<void> {
    await until(`the stream tells of state ${state}`, () => {
      if (this.states.includes(state)) return true;
      if (this.ended) throw new Error(`the stream ended after ${JSON.stringify(this.states)}`);
      return false;
    });
  }

  leave(): void {
    this.aborting.abort();
  }
}

/** What waits for an agent of the bus, shown to it as its reader would be. */
export async function nextRequest(agent: BusClient, text?: string): Promise<MessageView> {
  const found = await until('the agent has the request', async () => {
    const { data } = await agent.call('inbox', { filter: 'new', wait_seconds: 5 });
    return data.messages.find((message) => !message.notice && (text === undefined || message.text === text));
  });
  agent.shown([found.id]);
  return found;
}
