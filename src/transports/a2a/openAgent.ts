/**
 * One A2A call to an open agent. A task is a request on the bus and nothing besides: what is told about it is read from
 * the store each time, so that a restart of the hub loses nothing and nothing is told that has not happened.
 */
import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk';
import {
  type A2AError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { Bus } from '../../core/bus.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord, Caller, MessageRecord } from '../../core/model.ts';
import { messageId } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import { isOurs, protocolError } from './protocolErrors.ts';
import { idOf, takeIn } from './taskIntake.ts';
import { listTasks } from './taskList.ts';
import { TaskViews, type TaskView } from './taskView.ts';
import type { TaskWatch } from './taskWatch.ts';

export interface OpenAgentParts {
  bus: Bus;
  store: Store;
  watch: TaskWatch;
  /** How long a call that waits for its task is held. */
  answerMs: number;
  onError: (error: unknown) => void;
}

export interface OpenCall {
  agent: AgentRecord;
  caller: Caller;
  card: AgentCard;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
}

export class OpenAgent implements A2ARequestHandler {
  private readonly parts: OpenAgentParts;
  private readonly call: OpenCall;
  private readonly views: TaskViews;
  private shown: string[] = [];
  /** Something of ours went wrong: what was answered is no fault of the caller’s. */
  hasFailed = false;

  constructor(parts: OpenAgentParts, call: OpenCall) {
    this.parts = parts;
    this.call = call;
    this.views = new TaskViews(parts.store, call.caller, call.agent);
  }

  /** Messages of the agent that are in what was answered since the last time. */
  takeShown(): string[] {
    const shown = this.shown;
    this.shown = [];
    return shown;
  }

  /** An error as the caller may hear it; our own are reported. */
  told(error: unknown): A2AError {
    if (isOurs(error)) {
      this.hasFailed = true;
      this.parts.onError(error);
    }
    return protocolError(error);
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.call.card);
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.run(() => {
      throw new UnsupportedOperationError('This agent has one card, and it is public.');
    });
  }

  sendMessage(request: SendMessageRequest): Promise<Task> {
    return this.run(async () => {
      const historyLength = countOf(request.configuration?.historyLength);
      if (request.configuration?.returnImmediately) return this.tell(await this.deliver(request), historyLength);
      const leave = this.parts.watch.enter(this.call.caller.agent);
      try {
        const task = await this.deliver(request);
        await this.rest(task);
        return this.tell(task, historyLength);
      } finally {
        leave();
      }
    });
  }

  sendMessageStream(request: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.stream(async () => {
      const historyLength = countOf(request.configuration?.historyLength);
      return { task: await this.deliver(request), historyLength };
    });
  }

  resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.stream(async () => {
      const task = this.views.require(idOf(id));
      if (this.views.hasEnded(task)) {
        throw new UnsupportedOperationError(`The task ${id} has ended. GetTask tells how.`);
      }
      return { task, isBack: true };
    });
  }

  getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.run(() => this.tell(this.views.require(idOf(id)), countOf(historyLength)));
  }

  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return this.run(() => {
      this.parts.store.settleNotes();
      const { response, shown } = listTasks(this.parts.store, this.views, this.call.caller, request);
      this.shown.push(...shown);
      return response;
    });
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.run(async () => {
      const { bus } = this.parts;
      const { caller } = this.call;
      const task = this.views.require(idOf(id));
      const question = this.views.question(task);
      try {
        await bus.cancel(caller, id);
      } catch (error) {
        if (!(error instanceof BusError) || error.code !== 'already-ended') throw error;
        throw new TaskNotCancelableError(`The task ${id} has ended already. GetTask tells how.`);
      }
      // Nobody will answer it any more, and the agent should not wait for that.
      if (question)
        await bus.receipts.ack(caller, [messageId.format(question.seq)], 'rejected', 'the task was cancelled');
      return this.tell(task);
    });
  }

  createTaskPushNotificationConfig(): Promise<never> {
    return this.noPushNotifications();
  }

  getTaskPushNotificationConfig(): Promise<never> {
    return this.noPushNotifications();
  }

  listTaskPushNotificationConfigs(): Promise<never> {
    return this.noPushNotifications();
  }

  deleteTaskPushNotificationConfig(): Promise<never> {
    return this.noPushNotifications();
  }

  private noPushNotifications(): Promise<never> {
    return this.run(() => {
      throw new PushNotificationNotSupportedError(
        'This agent sends no push notifications: stream, or ask with GetTask.',
      );
    });
  }

  private deliver(request: SendMessageRequest): Promise<MessageRecord> {
    if (request.configuration?.taskPushNotificationConfig) return this.noPushNotifications();
    const { bus, store } = this.parts;
    return takeIn({ bus, store, views: this.views }, this.call, request);
  }

  /** Until the task has ended, the agent asks back, or it has taken as long as a caller should wait. */
  private async rest(task: MessageRecord): Promise<void> {
    const deadline = performance.now() + this.parts.answerMs;
    while (!this.views.hasEnded(task) && !this.views.question(task)) {
      const left = deadline - performance.now();
      if (left <= 0 || !(await this.goesOn(task, left))) return;
    }
  }

  /** Waits until there may be something new; false when nobody will be told of it here. */
  private async goesOn(task: MessageRecord, ms: number): Promise<boolean> {
    const { caller, agent, signal } = this.call;
    try {
      const end = await this.parts.watch.change(task, caller.agent, ms, signal);
      if (end === 'gone' || end === 'stopping') return false;
    } catch (error) {
      // The message is on its way: that is told, and the caller asks again.
      if (error instanceof BusError && error.code === 'too-many-waits') return false;
      throw error;
    }
    return agent.open && !agent.removed && !this.parts.bus.roster.get(caller.agent).removed;
  }

  private tell(task: MessageRecord, historyLength?: number): Task {
    this.parts.store.settleNotes();
    const view = this.views.view(task, { historyLength });
    this.shown.push(...view.shown);
    return view.task;
  }

  private async *stream(begin: () => Promise<Followed>): AsyncGenerator<StreamResponse, void, undefined> {
    let leave: (() => void) | undefined;
    try {
      this.assertNotOneself();
      leave = this.parts.watch.enter(this.call.caller.agent);
      yield* this.follow(await begin());
    } catch (error) {
      throw this.told(error);
    } finally {
      leave?.();
    }
  }

  /** First the task as it stands, then each change, until there is nothing to wait for. */
  private async *follow({ task, historyLength, isBack }: Followed): AsyncGenerator<StreamResponse, void, undefined> {
    let told = this.views.view(task, { historyLength });
    this.shown.push(...told.shown);
    yield { payload: { $case: 'task', value: told.task } };
    if (told.rests && !isBack) return;
    for (;;) {
      const now = this.views.view(task, { historyLength: 0 });
      if (now.mark === told.mark) {
        if (await this.goesOn(task, Infinity)) continue;
        return;
      }
      told = now;
      yield* this.changes(now);
      if (now.rests) return;
    }
  }

  private *changes({ task, shown }: TaskView): Iterable<StreamResponse> {
    const { id: taskId, contextId, status } = task;
    this.shown.push(...shown);
    for (const artifact of task.artifacts) {
      const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
      yield { payload: { $case: 'artifactUpdate', value } };
    }
    yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
  }

  private async run<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      this.assertNotOneself();
      return await work();
    } catch (error) {
      throw this.told(error);
    }
  }

  private assertNotOneself(): void {
    const { agent, caller } = this.call;
    if (agent.id !== caller.agent) return;
    throw new UnsupportedOperationError(
      `The token is that of "${agent.name}" itself. Use the token of the agent that asks: agent-bus register NAME makes one.`,
    );
  }
}

interface Followed {
  task: MessageRecord;
  historyLength?: number | undefined;
  /** The client was here before: it knows of a question that is open, and waits for what comes after. */
  isBack?: true;
}

/** The 0.3 wire lets any JSON through here. */
function countOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new RequestMalformedError('historyLength is no whole number from 0 on.');
}
