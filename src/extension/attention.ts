import * as vscode from 'vscode';
import type { MessageView } from '../core/model.ts';
import type { HubEvent } from '../protocol/messages.ts';
import type { HubLink } from './hubLink.ts';

/** After an event the hub is asked for the counts, at most so often. */
const pauseMs = 250;

/** What waits for the person: unread messages, open questions; and whether deliveries are paused. */
export class Attention implements vscode.Disposable {
  private readonly link: HubLink;
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private reading = false;
  private again = false;
  unread = 0;
  /** Conversations in which the person was asked something. */
  waiting = 0;
  paused = false;
  readonly onChange = this.changes.event;

  constructor(link: HubLink) {
    this.link = link;
    this.subscriptions = [
      link.onState((state) => {
        if (state === 'connected') void this.begin();
        else this.changes.fire();
      }),
      link.onMissed(() => this.soon()),
      link.onEvents((events) => this.hear(events)),
    ];
  }

  /** The requests to the person that nobody has answered yet, oldest first. */
  async questions(): Promise<MessageView[]> {
    const client = await this.link.connect();
    const found: MessageView[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await client.call('inbox', { filter: 'open', kind: 'request', limit: 100, cursor });
      found.push(...data.messages);
      cursor = data.next;
    } while (cursor !== undefined && found.length < 1_000);
    return found;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.subscriptions) one.dispose();
    this.changes.dispose();
  }

  private async begin(): Promise<void> {
    try {
      const status = await this.link.current?.request('status', {});
      this.paused = status?.paused ?? false;
    } catch {
      // The next connection asks again.
    }
    await this.read();
  }

  private hear(events: readonly HubEvent[]): void {
    const pause = events.findLast((event) => event.type === 'paused');
    if (pause?.type === 'paused' && pause.paused !== this.paused) {
      this.paused = pause.paused;
      this.changes.fire();
    }
    if (events.some((event) => this.concerns(event))) this.soon();
  }

  private concerns(event: HubEvent): boolean {
    if (event.type === 'receipt') return event.receipt.agent === this.link.me;
    return event.type === 'message' || event.type === 'request' || event.type === 'unread';
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.read();
    }, pauseMs);
  }

  private async read(): Promise<void> {
    this.again = this.reading;
    if (this.reading) return;
    this.reading = true;
    try {
      const overview = await this.link.current?.request('overview', { filter: 'all', limit: 1 });
      if (overview) {
        this.unread = overview.unread;
        this.waiting = overview.counts.waiting;
      }
    } catch {
      // A lost connection is told by the link; the counts are read again when it is back.
    } finally {
      this.reading = false;
    }
    this.changes.fire();
    if (this.again) this.soon();
  }
}
