interface Ticket {
  who: object;
  conversation: number;
  /** It goes on with what is at work already, so that it waits for nobody. */
  ahead: boolean;
  admit: () => void;
}

/**
 * The order in which messages go to one agent elsewhere: those of one conversation one after the other, each when the
 * agent has taken the one before; and not more at work at a time than a stranger should be burdened with.
 */
export class RemoteLane {
  private readonly most: number;
  private readonly atWork = new Set<object>();
  private readonly sending = new Map<number, object>();
  private queue: Ticket[] = [];
  private paused: boolean;
  private readonly onCount: (atWork: number) => void;

  constructor(most: number, paused: boolean, onCount: (atWork: number) => void) {
    this.most = most;
    this.paused = paused;
    this.onCount = onCount;
  }

  /** Its turn has come, and it counts as at work from then on. */
  enter(who: object, conversation: number, signal: AbortSignal, ahead = false): Promise<void> {
    if (this.sending.get(conversation) === who && !this.paused) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.queue = this.queue.filter((waiting) => waiting !== ticket);
        reject(signal.reason as Error);
      };
      const ticket: Ticket = {
        who,
        conversation,
        ahead,
        admit: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.queue.push(ticket);
      this.pump();
    });
  }

  /** Was at work before this hub began. */
  resume(who: object): void {
    this.atWork.add(who);
    this.onCount(this.atWork.size);
  }

  /** The agent has taken it: the next one of its conversation may go. */
  sent(who: object): void {
    for (const [conversation, sender] of this.sending) if (sender === who) this.sending.delete(conversation);
    this.pump();
  }

  leave(who: object): void {
    this.atWork.delete(who);
    this.sent(who);
  }

  pause(on: boolean): void {
    this.paused = on;
    this.pump();
  }

  private pump(): void {
    if (this.paused) return this.onCount(this.atWork.size);
    const rest: Ticket[] = [];
    for (const ticket of this.queue) {
      if (ticket.ahead) {
        ticket.admit();
        continue;
      }
      const holder = this.sending.get(ticket.conversation);
      const room = this.atWork.has(ticket.who) || this.atWork.size < this.most;
      if (!room || (holder !== undefined && holder !== ticket.who)) {
        rest.push(ticket);
        continue;
      }
      this.atWork.add(ticket.who);
      this.sending.set(ticket.conversation, ticket.who);
      ticket.admit();
    }
    this.queue = rest;
    this.onCount(this.atWork.size);
  }
}
