import { taskStateToJSON, TaskState, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk';
import type { RemoteEvent } from './remoteClient.ts';
import { RemoteTrouble } from './remoteTrouble.ts';

/** Going on; resting until it is answered; over. */
export type Standing = 'going' | 'asking' | 'ended';

/** What an agent may send of one task before it is not collected any more; the same as one whole answer may have. */
const mostBytes = 32 * 1024 * 1024;

/** A task elsewhere, put together from what its agent tells of it bit by bit. */
export class RemotePicture {
  task: Task | undefined;
  /** Instead of a task, it has answered at once. */
  message: Message | undefined;
  private collected = 0;

  take(event: RemoteEvent): void {
    switch (event.$case) {
      case 'message':
        // Once there is a task, its state is what counts.
        if (!this.task) this.message = event.value;
        return;
      case 'task':
        assertId(event.value.id, 'task');
        this.task = event.value;
        this.collected = 0;
        return;
      case 'statusUpdate': {
        const { taskId, contextId, status, metadata } = event.value;
        const task = this.taskOf(taskId, contextId);
        task.status = status;
        if (metadata) task.metadata = { ...task.metadata, ...metadata };
        return;
      }
      case 'artifactUpdate': {
        const { taskId, contextId, artifact, append } = event.value;
        if (artifact) this.collect(this.taskOf(taskId, contextId), artifact, append);
      }
    }
  }

  get standing(): Standing {
    if (this.message) return 'ended';
    return standingOf(this.task?.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED);
  }

  get context(): string | undefined {
    const context: unknown = this.message?.contextId ?? this.task?.contextId;
    return typeof context === 'string' && context !== '' && context.length <= 1_000 ? context : undefined;
  }

  /** As the protocol writes it, in lower case with dashes. */
  get state(): string {
    return stateName(this.task?.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED);
  }

  /** Older agents begin with an update of a task that they have never named. */
  private taskOf(id: string, contextId: string): Task {
    assertId(id, 'task');
    this.task ??= { id, contextId, status: undefined, artifacts: [], history: [], metadata: undefined };
    return this.task;
  }

  private collect(task: Task, artifact: Artifact, append: boolean): void {
    this.collected += artifact.parts.reduce((sum, part) => sum + weight(part), 0);
    if (this.collected > mostBytes) {
      throw new RemoteTrouble('refused', `its answer is larger than ${mostBytes} bytes`);
    }
    const at = task.artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
    const known = task.artifacts[at];
    if (!known) task.artifacts.push(artifact);
    else if (!append) task.artifacts[at] = artifact;
    else for (const part of artifact.parts) appendTo(known.parts, part);
  }
}

/** The wire of 0.3 is not checked by the SDK. */
function assertId(id: unknown, what: string): void {
  if (typeof id === 'string' && id !== '' && id.length <= 1_000) return;
  throw new RemoteTrouble('refused', `its answer makes no sense: the ${what} has no id`);
}

export function standingOf(state: TaskState): Standing {
  switch (state) {
    case TaskState.TASK_STATE_COMPLETED:
    case TaskState.TASK_STATE_FAILED:
    case TaskState.TASK_STATE_CANCELED:
    case TaskState.TASK_STATE_REJECTED:
      return 'ended';
    case TaskState.TASK_STATE_INPUT_REQUIRED:
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return 'asking';
    default:
      return 'going';
  }
}

export function stateName(state: TaskState): string {
  return taskStateToJSON(state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}

/** Chunks of one text are one text. */
function appendTo(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (last?.content?.$case === 'text' && part.content?.$case === 'text') last.content.value += part.content.value;
  else parts.push(part);
}

function weight({ content }: Part): number {
  switch (content?.$case) {
    case 'text':
    case 'url':
    case 'raw':
      return content.value.length + 100;
    case 'data':
      return JSON.stringify(content.value ?? null).length + 100;
    default:
      return 100;
  }
}
