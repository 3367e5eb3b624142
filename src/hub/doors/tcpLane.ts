import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import { errorShape } from '../../core/errors.ts';
import type { MessageRecord } from '../../core/model.ts';
import { DeliveryPhase } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';

export interface LaneParts {
  bus: Bus;
  store: Store;
  clock: Clock;
  agent: number;
  /** Resolves when the bytes were taken. */
  carry: (text: string) => Promise<void>;
  isPaused: () => boolean;
  onError: (error: unknown) => void;
  /** Since when this hub tries: what an earlier one could not deliver gets its full time once more. */
  since: number;
}

const giveUpMs = 10 * 60_000;
const longestPauseMs = 30_000;
const firstTryMs = 10_000;

/**
 * The way to one address: one message at a time, the oldest first. What is to do is read from the store each time, so
 * that nothing is forgotten over a restart and nothing goes out that was cancelled or has expired.
 */
export class TcpLane {
  private readonly parts: LaneParts;
  /** Those who want to know of a message's first try. */
  private readonly curious = new Map<number, { message: MessageRecord; tell: () => void }>();
  /** Taken by the other side, but that is not on disk yet: these are not sent again. */
  private readonly taken = new Set<number>();
  private running: Promise<void> | undefined;
  private again = false;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private closed = false;
  /** Why the last try failed. */
  trouble: string | undefined;

  constructor(parts: LaneParts) {
    this.parts = parts;
  }

  get isBusy(): boolean {
    return this.running !== undefined || this.timer !== undefined;
  }

  /** There may be something to carry: looks at once. */
  look(): void {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.running) {
      this.again = true;
      return;
    }
    // In a moment: whoever wants to know of the first try has to be able to say so before it.
    this.running = Promise.resolve()
      .then(() => this.run())
      .finally(() => {
        this.running = undefined;
        if (this.again) this.look();
      });
  }

  /** Resolves when the message was tried, or had to wait behind one that could not be delivered. */
  async firstTry(message: MessageRecord): Promise<void> {
    if (!this.isBusy || !this.isUnread(message.seq)) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((tell) => {
      this.curious.set(message.seq, { message, tell });
      timer = setTimeout(tell, firstTryMs);
    });
    clearTimeout(timer);
    this.curious.delete(message.seq);
  }

  /** Begins nothing new; what is being handed over is seen to its end. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      for (let message = this.oldest(); message && !this.closed; message = this.oldest()) {
        this.again = false;
        if (this.parts.isPaused()) return this.hold('paused by the person', message);
        const reason = await this.attempt(message);
        // An end of this hub is no reason: the next one goes on.
        if (reason !== undefined && this.closed) return;
        if (reason !== undefined && !(await this.giveUpOverdue(reason))) return this.tryLater(reason, message);
        this.tell(message.seq);
      }
      this.trouble = undefined;
    } catch (error) {
      this.parts.onError(error);
      this.tryLater(errorShape(error).message, undefined);
    } finally {
      this.tellAll();
    }
  }

  /** Undefined when it was taken, else the reason why not. */
  private async attempt(message: MessageRecord): Promise<string | undefined> {
    const { bus, agent, carry } = this.parts;
    if (!this.taken.has(message.seq)) {
      try {
        await carry(message.text);
      } catch (error) {
        return errorShape(error).message;
      }
      this.taken.add(message.seq);
    }
    await bus.receipts.noteTaken(agent, message, 'frames', noteOf(message));
    this.taken.delete(message.seq);
    this.failures = 0;
    bus.touch(agent);
    return undefined;
  }

  /** Ends what has been tried for long enough; false if nothing was. */
  private async giveUpOverdue(reason: string): Promise<boolean> {
    const { bus, clock, agent, since } = this.parts;
    const due = clock.now() - giveUpMs;
    const overdue = this.unread(20).filter(({ sentAt }) => Math.max(sentAt, since) <= due);
    for (const message of overdue) {
      await bus.receipts.noteUndeliverable(agent, message, `given up after ${giveUpMs / 60_000} minutes: ${reason}`);
      this.tell(message.seq);
    }
    return overdue.length > 0;
  }

  private tryLater(reason: string, message: MessageRecord | undefined): void {
    if (this.closed) return;
    this.again = false;
    this.timer = setTimeout(() => this.look(), Math.min(longestPauseMs, 1000 * 2 ** this.failures++));
    this.trouble = reason;
    this.hold(reason, message);
  }

  private hold(reason: string, message: MessageRecord | undefined): void {
    const waiting = [...(message ? [message] : []), ...[...this.curious.values()].map((one) => one.message)];
    this.parts.bus.receipts.noteHeld(this.parts.agent, waiting, reason);
  }

  private tell(seq: number): void {
    this.curious.get(seq)?.tell();
  }

  private tellAll(): void {
    for (const { tell } of this.curious.values()) tell();
  }

  private oldest(): MessageRecord | undefined {
    return this.unread(1)[0];
  }

  private unread(limit: number): MessageRecord[] {
    const { store, agent } = this.parts;
    return store.inbox({ agent, phases: [DeliveryPhase.unread], limit });
  }

  private isUnread(seq: number): boolean {
    return this.parts.store.delivery(seq, this.parts.agent)?.phase === DeliveryPhase.unread;
  }
}

/** What the sender should know about a way that carries text and brings nothing back. */
function noteOf({ kind, data, files, options }: MessageRecord): string | null {
  const left = [data !== null && 'data', files.length > 0 && 'files', options.length > 0 && 'options'].filter(Boolean);
  const notes = [
    ...(left.length > 0 ? [`only the text was sent, without its ${left.join(' and ')}`] : []),
    ...(kind === 'request' ? ['agent-tool brings no answer back: one can only come as a message of its own'] : []),
  ];
  return notes.length > 0 ? notes.join('; ') : null;
}
