import { Role, TaskState, type Message, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
  type RequestOptions,
} from '@a2a-js/sdk/client';
import type { MessageRecord } from '../../core/model.ts';
import type { Bounds, GuardedFetch } from './guardedFetch.ts';
import { metadataOf, partsOf } from './messageParts.ts';
import { sdkCard, type RemoteCard } from './remoteCard.ts';
import { troubleOf } from './remoteTrouble.ts';

/** What an agent elsewhere tells about what it was asked. */
export type RemoteEvent = NonNullable<StreamResponse['payload']>;

export interface Letter {
  message: MessageRecord;
  /** The same for every try, so that the other side can tell a repetition. */
  id: string;
  /** What the other side calls the conversation, and the task that this goes on with. */
  context: string | undefined;
  task: string | undefined;
  /** Who has written it. */
  from: string;
}

const answerBytes = 32 * 1024 * 1024;
const question: Bounds = { bytes: answerBytes, answerMs: 30_000, wholeMs: 60_000 };
/** Some agents answer only when they have done what they were asked, whatever is said to them. */
const errand: Bounds = { bytes: answerBytes, answerMs: 3_600_000, wholeMs: 60_000 };
const pages = 3;

/** Speaks to one agent as its card says. Throws nothing but RemoteTrouble, or what its signal was aborted with. */
export class RemoteClient {
  readonly card: RemoteCard;
  private readonly web: GuardedFetch;

  constructor(card: RemoteCard, web: GuardedFetch) {
    this.card = card;
    this.web = web;
  }

  /** Gives the letter to the agent and yields what it tells, for as long as it does where it can stream. */
  async *send(letter: Letter, signal: AbortSignal, onTaken: () => void): AsyncGenerator<RemoteEvent> {
    const request = sendRequest(letter);
    // What goes on with a task is short; the task itself is followed by whoever began it.
    if (this.card.streaming && letter.task === undefined) {
      yield* this.events(errand, signal, (client, options) => client.sendMessageStream(request, options), onTaken);
      return;
    }
    const result = await this.call(errand, signal, (client, options) => client.sendMessage(request, options));
    yield 'messageId' in result ? { $case: 'message', value: result } : { $case: 'task', value: result };
  }

  /** What it tells about a task from now on. */
  follow(task: string, signal: AbortSignal): AsyncGenerator<RemoteEvent> {
    return this.events(question, signal, (client, options) =>
      client.resubscribeTask({ tenant: '', id: task }, options),
    );
  }

  get(task: string, signal: AbortSignal, historyLength = 0): Promise<Task> {
    return this.call(question, signal, (client, options) =>
      client.getTask({ tenant: '', id: task, historyLength }, options),
    );
  }

  cancel(task: string, signal: AbortSignal): Promise<Task> {
    return this.call(question, signal, (client, options) =>
      client.cancelTask({ tenant: '', id: task, metadata: undefined }, options),
    );
  }

  /** The task that a letter has become, of which it is not known whether it arrived. */
  async find(id: string, context: string | undefined, signal: AbortSignal): Promise<Task | undefined> {
    let pageToken = '';
    for (let page = 0; page < pages; page++) {
      const request = {
        tenant: '',
        contextId: context ?? '',
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageSize: 100,
        pageToken,
        historyLength: 50,
        statusTimestampAfter: undefined,
        includeArtifacts: false,
      };
      const { tasks, nextPageToken } = await this.call(question, signal, (client, options) =>
        client.listTasks(request, options),
      );
      const found = tasks.find((task) => holds(task, id));
      if (found || !nextPageToken) return found;
      pageToken = nextPageToken;
    }
    return undefined;
  }

  private async call<T>(
    bounds: Bounds,
    signal: AbortSignal,
    use: (client: Client, options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const seen: Seen = {};
    try {
      return await use(await this.client(bounds, seen), { signal });
    } catch (error) {
      throw this.judged(error, seen, signal);
    }
  }

  private async *events(
    bounds: Bounds,
    signal: AbortSignal,
    use: (client: Client, options: RequestOptions) => AsyncGenerator<StreamResponse>,
    onTaken: () => void = () => undefined,
  ): AsyncGenerator<RemoteEvent> {
    const seen: Seen = { onTaken };
    try {
      for await (const { payload } of use(await this.client(bounds, seen), { signal })) if (payload) yield payload;
    } catch (error) {
      throw this.judged(error, seen, signal);
    }
  }

  private judged(error: unknown, { status }: Seen, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    return troubleOf(error, status, this.web);
  }

  /** One for each call: so what is known of the HTTP answer is known of this call. Making one costs next to nothing. */
  private client(bounds: Bounds, seen: Seen): Promise<Client> {
    const fetchImpl = async (to: unknown, init: RequestInit = {}): Promise<Response> => {
      const headers = Object.fromEntries(new Headers(init.headers));
      const { method, signal } = init;
      const body = typeof init.body === 'string' ? init.body : undefined;
      const { response } = await this.web.fetch(to as string, { method, headers, body, signal }, bounds);
      seen.status = response.status;
      if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) seen.onTaken?.();
      return response;
    };
    const options = { fetchImpl: fetchImpl as typeof fetch, legacyCompat: { enabled: true } };
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
    return new ClientFactory({ transports }).createFromAgentCard(sdkCard(this.card));
  }
}

interface Seen {
  status?: number;
  onTaken?: () => void;
}

/** Whether a message is among those that a task has had. */
export function holds(task: Task, id: string): boolean {
  return (task.history ?? []).some(({ messageId }) => messageId === id);
}

function sendRequest({ message, id, context, task, from }: Letter): Parameters<Client['sendMessage']>[0] {
  const outgoing: Message = {
    messageId: id,
    contextId: context ?? '',
    taskId: task ?? '',
    role: Role.ROLE_USER,
    parts: partsOf(message),
    metadata: { ...metadataOf(message), agentBus: { from, kind: message.kind } },
    extensions: [],
    referenceTaskIds: [],
  };
  return {
    tenant: '',
    message: outgoing,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength: 0,
      returnImmediately: true,
    },
    metadata: undefined,
  };
}
