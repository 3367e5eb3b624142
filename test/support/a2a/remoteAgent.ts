/**
 * An agent of somebody else's: the SDK's own server on express, on a port of its own. What it does with a message is the
 * message's first word: "say" answers at once, "do" by a task, "work" by a task that waits for `finish`, "ask" asks back…
 */
import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Role, TaskState, type AgentCard, type Message, type Part, type Task } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
  type ServerCallContext,
  type TaskStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express, { type Express, type Request, type Response } from 'express';

export interface RemoteAgentOptions {
  name?: string;
  version?: '1.0' | '0.3';
  binding?: 'JSONRPC' | 'HTTP+JSON';
  streaming?: boolean;
  /** Refuses requests without this header, the card included. */
  demands?: { header: string; value: string };
  /** Whatever is to be different in its card; or a page in its place. */
  card?: Record<string, unknown>;
}

/** A message as it came to the agent's code. */
export interface Heard {
  id: string;
  text: string;
  task: string;
  context: string;
  parts: Part[];
  metadata: Record<string, unknown> | undefined;
}

export class RemoteAgent {
  readonly options: RemoteAgentOptions;
  /** In the order in which they were begun. */
  readonly heard: Heard[] = [];
  readonly requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  readonly cancelled: string[] = [];
  private tasks = new KeptTasks();
  private readonly atWork = new Map<string, Work>();
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private port = 0;
  /** Requests are worked on, but their answers never leave. */
  mute = false;
  /** Requests other than those for the card are answered with this status. */
  failsWith: number | undefined;

  private constructor(options: RemoteAgentOptions) {
    this.options = options;
  }

  static async start(options: RemoteAgentOptions = {}): Promise<RemoteAgent> {
    const agent = new RemoteAgent(options);
    await agent.open();
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The task that the message with this text has become. */
  taskOf(text: string): string {
    const heard = this.heard.find((one) => one.text === text);
    if (!heard) throw new Error(`"${text}" was not heard`);
    return heard.task;
  }

  isAtWork(text: string): boolean {
    return this.heard.some((one) => one.text === text && this.atWork.has(one.task));
  }

  /** A task that works says how far it is. */
  progress(text: string, said: string): void {
    this.work(text).tell(TaskState.TASK_STATE_WORKING, said);
  }

  chunk(text: string, said: string): void {
    this.work(text).chunk(said);
  }

  /** A task that works comes to its end. */
  finish(text: string, said = 'finished', state = TaskState.TASK_STATE_COMPLETED): void {
    const work = this.work(text);
    this.atWork.delete(work.id);
    work.end(state, said);
  }

  /** The same for one that nobody works on any more, since the agent was restarted. */
  finishKept(text: string, said: string): Promise<void> {
    return this.tasks.finish(this.taskOf(text), said);
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Ends it and starts it again at the same address; whoever worked is gone. */
  async restart({ forget }: { forget: boolean }): Promise<void> {
    await this.stop();
    this.atWork.clear();
    if (forget) this.tasks = new KeptTasks();
    await this.open();
  }

  async open(): Promise<void> {
    const app = express();
    const server = app.listen(this.port, '127.0.0.1');
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    this.route(app);
  }

  private route(app: Express): void {
    const handler = new DefaultRequestHandler(this.card, this.tasks, this.executor);
    const legacyCompat = { enabled: this.options.version === '0.3' };
    const options = { requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
    app.use((request, response, next) => this.receive(request, response) && next());
    if (this.options.card || this.options.version === '0.3') {
      const file = this.options.version === '0.3' ? 'agent.json' : 'agent-card.json';
      app.get(`/.well-known/${file}`, (_, response) => void response.json(this.plainCard()));
    } else app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler }));
    app.use('/rest', restHandler(options));
    app.use('/rpc', jsonRpcHandler(options));
  }

  private receive(request: Request, response: Response): boolean {
    this.requests.push({ path: request.path, headers: request.headers });
    const { demands } = this.options;
    const isCard = request.path.startsWith('/.well-known/');
    if (demands && request.headers[demands.header.toLowerCase()] !== demands.value) {
      response.status(401).json({ error: 'credentials are missing', got: request.headers });
      return false;
    }
    if (this.failsWith !== undefined && !isCard) {
      response.status(this.failsWith).send('in trouble');
      return false;
    }
    if (this.mute && !isCard) {
      response.write = () => true;
      response.end = () => response;
      response.flushHeaders = () => undefined;
    }
    return true;
  }

  private get card(): AgentCard {
    const { name = 'Helpful Agent', version = '1.0', binding = 'JSONRPC', streaming = false } = this.options;
    const path = binding === 'JSONRPC' ? 'rpc' : 'rest';
    return {
      name,
      description: 'Does what the first word of a message says.',
      supportedInterfaces: [
        { url: `${this.url}/${path}`, protocolBinding: binding, protocolVersion: version, tenant: '' },
      ],
      provider: undefined,
      version: '1',
      capabilities: { streaming, extensions: [] },
      securitySchemes: {},
      securityRequirements: [],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [skill('Looking up', ['search', 'facts']), skill('Summing up', ['search'])],
      signatures: [],
    };
  }

  /** As an agent of 0.3 writes it, with what is to be different. */
  private plainCard(): unknown {
    const { card } = this;
    const [face] = card.supportedInterfaces;
    if (this.options.version !== '0.3') return { ...card, ...this.options.card };
    const { supportedInterfaces: _, signatures: __, ...rest } = card;
    return {
      ...rest,
      url: face?.url,
      protocolVersion: '0.3.0',
      preferredTransport: face?.protocolBinding,
      ...this.options.card,
    };
  }

  private work(text: string): Work {
    const work = this.atWork.get(this.taskOf(text));
    if (!work) throw new Error(`nobody works on "${text}"`);
    return work;
  }

  private readonly executor: AgentExecutor = {
    execute: async (request, bus) => {
      const message = request.userMessage;
      const text = textOf(message);
      const { taskId: task, contextId: context } = request;
      const { messageId: id, parts, metadata } = message;
      this.heard.push({ id, text, task, context, parts, metadata });
      await this.obey(text, new Work(request, bus));
    },
    cancelTask: async (task) => {
      this.cancelled.push(task);
      this.atWork.get(task)?.end(TaskState.TASK_STATE_CANCELED, 'as you wish');
    },
  };

  private async obey(text: string, work: Work): Promise<void> {
    const [order = '', ...rest] = text.split(' ');
    const said = rest.join(' ');
    if (work.isFollowUp) {
      work.begin();
      work.end(TaskState.TASK_STATE_COMPLETED, `you said: ${text}`);
      return;
    }
    switch (order) {
      case 'say':
        return work.say(said);
      case 'fail':
        work.begin();
        return work.end(TaskState.TASK_STATE_FAILED, said);
      case 'reject':
        work.begin();
        return work.end(TaskState.TASK_STATE_REJECTED, said);
      case 'ask':
        work.begin();
        return work.tell(TaskState.TASK_STATE_INPUT_REQUIRED, said);
      case 'auth':
        work.begin();
        return work.tell(TaskState.TASK_STATE_AUTH_REQUIRED, said);
      case 'throw':
        throw new Error(said);
      case 'hang':
        return new Promise(() => undefined);
      case 'long':
        work.begin();
        return work.end(TaskState.TASK_STATE_COMPLETED, 'x'.repeat(Number(said)));
      case 'bytes':
        work.begin();
        work.make([bytesPart(Number(said)), dataPart({ answer: [42] }), urlPart('https://example.com/a.pdf')]);
        return work.end(TaskState.TASK_STATE_COMPLETED, '');
      case 'work': {
        work.begin();
        this.atWork.set(work.id, work);
        await work.ended;
        this.atWork.delete(work.id);
        return;
      }
      default:
        work.begin();
        return work.end(TaskState.TASK_STATE_COMPLETED, `done: ${text}`);
    }
  }
}

/** One message that the agent works on. */
class Work {
  readonly id: string;
  readonly isFollowUp: boolean;
  readonly ended: Promise<void>;
  private readonly request: RequestContext;
  private readonly bus: ExecutionEventBus;
  private resolve: () => void = () => undefined;
  private chunks = 0;

  constructor(request: RequestContext, bus: ExecutionEventBus) {
    this.request = request;
    this.bus = bus;
    this.id = request.taskId;
    this.isFollowUp = request.task !== undefined;
    this.ended = new Promise((resolve) => (this.resolve = resolve));
  }

  say(text: string): void {
    this.bus.publish(AgentEvent.message({ ...this.message(text), taskId: '' }));
  }

  begin(): void {
    const { taskId: id, contextId, userMessage, task } = this.request;
    const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: new Date().toISOString() };
    this.bus.publish(
      AgentEvent.task({
        ...(task ?? { id, contextId, artifacts: [], history: [userMessage], metadata: undefined }),
        status,
      }),
    );
  }

  tell(state: TaskState, text: string): void {
    const { taskId, contextId } = this.request;
    const message = text === '' ? undefined : this.message(text);
    const status = { state, message, timestamp: new Date().toISOString() };
    this.bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }

  make(parts: Part[]): void {
    this.artifact(parts, 'made', false);
  }

  chunk(text: string): void {
    this.artifact([textPart(text)], 'chunks', this.chunks++ > 0);
  }

  end(state: TaskState, text: string): void {
    if (state === TaskState.TASK_STATE_COMPLETED && text !== '') this.artifact([textPart(text)], 'answer', false);
    this.tell(state, state === TaskState.TASK_STATE_COMPLETED ? '' : text);
    this.resolve();
  }

  private artifact(parts: Part[], artifactId: string, append: boolean): void {
    const { taskId, contextId } = this.request;
    const artifact = { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] };
    this.bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: false, metadata: undefined }),
    );
  }

  private message(text: string): Message {
    const { taskId, contextId } = this.request;
    return {
      messageId: crypto.randomUUID(),
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [textPart(text)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
  }
}

/** The SDK's store in memory, which outlives a restart of the agent unless it is to forget. */
class KeptTasks implements TaskStore {
  private readonly store = new InMemoryTaskStore();
  private context: ServerCallContext | undefined;

  load(id: string, context: ServerCallContext): Promise<Task | undefined> {
    return this.store.load(id, context);
  }

  save(task: Task, context: ServerCallContext): Promise<void> {
    this.context = context;
    return this.store.save(task, context);
  }

  list(...input: Parameters<TaskStore['list']>): ReturnType<TaskStore['list']> {
    return this.store.list(...input);
  }

  async finish(id: string, said: string): Promise<void> {
    const task = this.context && (await this.store.load(id, this.context));
    if (!task || !this.context) throw new Error(`there is no task ${id}`);
    task.status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: new Date().toISOString() };
    task.artifacts = [
      { artifactId: 'a', name: '', description: '', parts: [textPart(said)], metadata: undefined, extensions: [] },
    ];
    await this.store.save(task, this.context);
  }
}

function skill(name: string, tags: string[]): AgentCard['skills'][number] {
  const id = name.toLowerCase();
  return { id, name, description: '', tags, examples: [], inputModes: [], outputModes: [], securityRequirements: [] };
}

const part = (content: Part['content'], mediaType = ''): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType,
});
export const textPart = (value: string): Part => part({ $case: 'text', value });
export const dataPart = (value: unknown): Part => part({ $case: 'data', value });
export const urlPart = (value: string): Part => part({ $case: 'url', value });
export const bytesPart = (count: number): Part => ({
  ...part({ $case: 'raw', value: Buffer.alloc(count, 7) }, 'image/png'),
  filename: '../../picture one.png',
});

function textOf(message: Message): string {
  return message.parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}
