import type { Bus } from '../../core/bus.ts';
import { BusError } from '../../core/errors.ts';
import type { BusEvent } from '../../core/events.ts';
import type { MessageRecord } from '../../core/model.ts';
import type { WaitEnd } from '../../core/waiting.ts';

/** Calls of one caller that are open at the same time, waiting or streaming. */
export const callsPerCaller = 100;
/** A look at the store now and then catches what no event told. */
const lookAgainMs = 15_000;

const topicOf = (seq: number): string => `a2a task ${seq}`;

/** Tells calls that follow a task when there may be something new about it; one listener for all of them. */
export class TaskWatch {
  private readonly bus: Bus;
  /** How many calls follow each task, and the tasks of each conversation among them. */
  private readonly followed = new Map<number, number>();
  private readonly byConversation = new Map<number, Set<number>>();
  private readonly calls = new Map<number, number>();

  constructor(bus: Bus) {
    this.bus = bus;
    bus.feed.subscribe((event) => this.on(event));
  }

  /** Takes one of the caller's places; refuses before anything is sent if there is none. */
  enter(caller: number): () => void {
    const open = this.calls.get(caller) ?? 0;
    if (open >= callsPerCaller) {
      throw new BusError('too-many-waits', `${callsPerCaller} of your calls are open already.`, {
        next: 'Let one end before you start the next, or set returnImmediately and ask later with GetTask.',
      });
    }
    this.calls.set(caller, open + 1);
    const leave = this.bus.presence.waiting(caller);
    return () => {
      leave();
      const left = (this.calls.get(caller) ?? 1) - 1;
      if (left > 0) this.calls.set(caller, left);
      else this.calls.delete(caller);
    };
  }

  /** Begins to watch before it returns, so that nothing that happens after the last look is missed. */
  async change(task: MessageRecord, caller: number, ms: number, signal: AbortSignal): Promise<WaitEnd> {
    this.follow(task);
    try {
      return await this.bus.waiting.wait(topicOf(task.seq), caller, Math.min(ms, lookAgainMs), signal);
    } finally {
      this.unfollow(task);
    }
  }

  private on(event: BusEvent): void {
    if (this.followed.size === 0) return;
    if (event.type === 'receipt') this.wake(event.receipt.seq);
    else if (event.type === 'request') this.wake(event.seq);
    else if (event.type === 'message') {
      for (const seq of this.byConversation.get(event.message.conversation) ?? []) this.wake(seq);
    } else if (event.type === 'agents') for (const seq of this.followed.keys()) this.wake(seq);
  }

  private wake(seq: number): void {
    if (this.followed.has(seq)) this.bus.waiting.wake(topicOf(seq));
  }

  private follow({ seq, conversation }: MessageRecord): void {
    this.followed.set(seq, (this.followed.get(seq) ?? 0) + 1);
    this.byConversation.set(conversation, (this.byConversation.get(conversation) ?? new Set()).add(seq));
  }

  private unfollow({ seq, conversation }: MessageRecord): void {
    const left = (this.followed.get(seq) ?? 1) - 1;
    if (left > 0) return void this.followed.set(seq, left);
    this.followed.delete(seq);
    const tasks = this.byConversation.get(conversation);
    tasks?.delete(seq);
    if (tasks?.size === 0) this.byConversation.delete(conversation);
  }
}
