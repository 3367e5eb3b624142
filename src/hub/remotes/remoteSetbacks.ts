import { setTimeout as pause } from 'node:timers/promises';
import { cleanLine } from '../../core/envelope.ts';
import { messageId } from '../../core/model.ts';
import { isoTime } from '../../core/views.ts';
import { RemoteTrouble } from '../../transports/a2a/remoteTrouble.ts';
import { isCalledOff } from './remoteCancel.ts';
import type { RemoteTask } from './remoteTask.ts';

/** An agent that answers every question about a task with an error has no more to say about it. */
const mostRefusals = 5;

/** And one that breaks off this often when it is given a message is not given it again. */
const mostLosses = 5;

/** What a task does when a call came to nothing: it bears with an agent that is away, and ends where there is no hope. */
export class RemoteSetbacks {
  private readonly task: RemoteTask;
  private refusals = 0;
  private losses = 0;

  constructor(task: RemoteTask) {
    this.task = task;
  }

  none(): void {
    this.refusals = 0;
  }

  /** A try to send it has failed: what that means. */
  async ofSending(error: unknown): Promise<unknown> {
    if (!(error instanceof RemoteTrouble) || this.task.record.stage !== 'maybe-sent') return error;
    if (error.kind === 'unreachable') await this.task.put({ stage: 'unsent' });
    if (error.kind !== 'lost' || ++this.losses < mostLosses) return error;
    return new RemoteTrouble('refused', `it breaks off whenever it is given the message: ${error.message}`);
  }

  /** Never throws. */
  async meet(error: unknown, signal: AbortSignal): Promise<void> {
    try {
      if (error instanceof RemoteTrouble) await this.bear(error, signal);
      else await this.puzzle(error, signal);
    } catch (failure) {
      if (!signal.aborted) await this.puzzle(failure, signal).catch(() => undefined);
    }
  }

  private async bear(trouble: RemoteTrouble, signal: AbortSignal): Promise<void> {
    const { task } = this;
    switch (trouble.kind) {
      case 'unreachable':
      case 'lost':
        return this.wait(trouble, signal);
      case 'unknown-task':
        return this.forgotten(signal);
      case 'unsupported':
      case 'refused': {
        if (task.record.stage === 'at-work' && ++this.refusals < mostRefusals) {
          const seconds = task.world.settings.pollSeconds * 2 ** this.refusals;
          return pause(seconds * 1000, undefined, { signal, ref: false });
        }
        const leader = task.world.leaderOf(task);
        await task.settle({ failure: `The agent refused it: ${trouble.message}` }, signal);
        leader?.resume();
      }
    }
  }

  /** Until the agent is there again, or has been away for too long. */
  private async wait({ message: reason }: RemoteTrouble, signal: AbortSignal): Promise<void> {
    const { task } = this;
    const { remote, clock, bus, settings } = task.world;
    remote.failed(reason);
    const since = task.record.unreachableSince ?? Math.max(task.message.sentAt, remote.downSince ?? 0);
    if (since !== task.record.unreachableSince) await task.put({ unreachableSince: since });
    const note = cleanLine(`${reason.replace(/\.$/, '')}; it is tried again`, 300);
    bus.receipts.noteHeld(task.record.agent, [task.message], note);
    task.hasTried();
    while (!(await remote.nextTry(signal))) {
      if (clock.now() - since <= settings.unreachableHours * 3_600_000) continue;
      const failure = `The agent could not be reached since ${isoTime(since)}: ${remote.trouble ?? reason}`;
      return isCalledOff(task) ? task.end() : task.settle({ failure }, signal);
    }
  }

  /** The agent does not know the task any more. */
  private async forgotten(signal: AbortSignal): Promise<void> {
    const { task } = this;
    const failure = 'The agent does not know the task any more; it may have been restarted and have forgotten it.';
    await task.world.leaderOf(task)?.settle({ failure }, signal);
    if (!task.isOver) await task.settle({ failure }, signal);
  }

  /** A failure of our own: it is told in the log, and what was to be done is tried again. */
  private async puzzle(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { log, settings } = this.task.world;
    log.error('remote-task', { message: messageId.format(this.task.message.seq), error });
    await pause(settings.pollAtMostSeconds * 1000, undefined, { signal, ref: false });
  }
}
