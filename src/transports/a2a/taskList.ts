import { TaskState, type ListTasksRequest, type ListTasksResponse, type Task } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Caller, MessageRecord, RequestState } from '../../core/model.ts';
import { messageId } from '../../core/model.ts';
import type { Reads } from '../../core/ports.ts';
import { contextOf } from './messageParts.ts';
import type { TaskViews } from './taskView.ts';

/** How many of the caller’s requests one call looks at; a page may end early, and the next one goes on from there. */
const lookedAt = 500;
const pageChars = 2_000_000;

const statesBehind: Partial<Record<TaskState, RequestState[]>> = {
  [TaskState.TASK_STATE_SUBMITTED]: ['pending'],
  [TaskState.TASK_STATE_WORKING]: ['pending'],
  [TaskState.TASK_STATE_INPUT_REQUIRED]: ['pending'],
  [TaskState.TASK_STATE_AUTH_REQUIRED]: [],
  [TaskState.TASK_STATE_COMPLETED]: ['answered'],
  [TaskState.TASK_STATE_FAILED]: ['failed', 'expired'],
  [TaskState.TASK_STATE_REJECTED]: ['failed'],
  [TaskState.TASK_STATE_CANCELED]: ['cancelled'],
};
const anyState: RequestState[] = ['pending', 'answered', 'failed', 'cancelled', 'expired'];

/** The caller’s tasks with one agent, newest first. */
export function listTasks(
  store: Reads,
  views: TaskViews,
  caller: Caller,
  request: ListTasksRequest,
): { response: ListTasksResponse; shown: string[] } {
  const { pageSize, since, states, historyLength } = checked(request);
  const requests = store.requests({
    agent: caller.agent,
    role: 'sent',
    states,
    order: 'newest',
    beyond: request.pageToken ? seqOf(request.pageToken) : undefined,
    limit: lookedAt,
  });
  const page: { tasks: Task[]; shown: string[] } = { tasks: [], shown: [] };
  let last: MessageRecord | undefined;
  let found = 0;
  let chars = 0;
  for (const message of requests) {
    if (!views.isOwn(message) || (request.contextId && contextOf(message) !== request.contextId)) continue;
    const view = views.view(message, { historyLength, artifacts: request.includeArtifacts ?? false });
    if (request.status && view.task.status?.state !== request.status) continue;
    if (since !== undefined && Date.parse(view.task.status?.timestamp ?? '') < since) continue;
    found++;
    const isFull = page.tasks.length >= pageSize || (chars += JSON.stringify(view.task).length) > pageChars;
    if (isFull && page.tasks.length > 0) continue;
    page.tasks.push(view.task);
    page.shown.push(...view.shown);
    last = message;
  }
  // What comes behind the page: further tasks that were found, or requests that were not looked at.
  const left = found > page.tasks.length ? last : requests.length === lookedAt ? requests.at(-1) : undefined;
  return {
    response: {
      tasks: page.tasks,
      nextPageToken: left ? messageId.format(left.seq) : '',
      pageSize,
      totalSize: found,
    },
    shown: page.shown,
  };
}

interface Checked {
  pageSize: number;
  since: number | undefined;
  states: RequestState[];
  historyLength: number;
}

function checked({ pageSize = 50, status, statusTimestampAfter, historyLength = 0 }: ListTasksRequest): Checked {
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100) {
    throw new RequestMalformedError('pageSize is a whole number from 1 to 100.');
  }
  if (!Number.isInteger(historyLength) || historyLength < 0) {
    throw new RequestMalformedError('historyLength is no whole number from 0 on.');
  }
  const states = status ? statesBehind[status] : anyState;
  if (!states) throw new RequestMalformedError('There is no such status.');
  const since = statusTimestampAfter ? Date.parse(statusTimestampAfter) : undefined;
  if (Number.isNaN(since)) throw new RequestMalformedError('statusTimestampAfter is no time in ISO 8601.');
  return { pageSize, since, states, historyLength };
}

function seqOf(token: string): number {
  const seq = messageId.parse(token);
  if (seq === undefined) throw new RequestMalformedError('This pageToken is none of ours.');
  return seq;
}
