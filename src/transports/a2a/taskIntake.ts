/** A message from outside becomes one on the bus: a new request, the answer to a question, or a word added to a task. */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { Bus } from '../../core/bus.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord, Caller, MessageRecord } from '../../core/model.ts';
import { messageId } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import { contextOf, incoming, keyOf } from './messageParts.ts';
import type { TaskViews } from './taskView.ts';

interface Desk {
  bus: Bus;
  store: Store;
  views: TaskViews;
}

const messageIdLength = 150;

/** Puts the message on the bus, once for each id, and says which task it is about. */
export async function takeIn(
  { bus, store, views }: Desk,
  { caller, agent, signal }: { caller: Caller; agent: AgentRecord; signal: AbortSignal },
  request: SendMessageRequest,
): Promise<MessageRecord> {
  const { message } = request;
  if (!message) throw new RequestMalformedError('The message is missing.');
  const id = idOf(message.messageId, 'messageId');
  if (id.length > messageIdLength) {
    throw new RequestMalformedError(`The messageId is longer than ${messageIdLength} characters.`);
  }
  const { text, data } = incoming(message, request);
  const key = keyOf(agent.id, id);
  const task = message.taskId ? views.require(idOf(message.taskId)) : undefined;
  // The answer to the first try may have been lost: the same message again is no new one, whatever happened since.
  const earlier = store.messageByKey(caller.agent, key);
  if (earlier) {
    const isSame = earlier.text === text && (task ? views.belongsTo(earlier, task) : views.isOwn(earlier));
    if (isSame) return task ?? earlier;
    throw new BusError('key-conflict', 'This messageId was used before, for another message.', {
      next: 'Nothing was sent. Use a new messageId for a new message.',
    });
  }
  if (task) assertGoesOn(views, task, message.contextId);
  const content = { to: [agent.name], key, text, data };
  const sent = await bus.send(caller, { ...content, ...kindOf(views, task) }, 0, { signal });
  return task ?? views.require(sent.id);
}

/** The wire of 0.3 lets any JSON through here. */
export function idOf(id: unknown, what = 'task id'): string {
  if (typeof id === 'string' && id.trim() !== '') return id;
  throw new RequestMalformedError(`The ${what} is missing.`);
}

function kindOf(views: TaskViews, task: MessageRecord | undefined): { kind: MessageRecord['kind']; replyTo?: string } {
  if (!task) return { kind: 'request' };
  const question = views.question(task);
  return question
    ? { kind: 'reply', replyTo: messageId.format(question.seq) }
    : { kind: 'inform', replyTo: messageId.format(task.seq) };
}

function assertGoesOn(views: TaskViews, task: MessageRecord, contextId: string): void {
  const id = messageId.format(task.seq);
  if (contextId && contextId !== contextOf(task)) {
    throw new RequestMalformedError(`The task ${id} belongs to another context: leave contextId out.`);
  }
  if (views.hasEnded(task)) {
    throw new UnsupportedOperationError(`The task ${id} has ended: send a message without taskId to start a new one.`);
  }
}
