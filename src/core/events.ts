import type { RemoteTaskView } from './couriers.ts';
import type { MessageRecord, ReceiptRecord, RequestState } from './model.ts';

/** What happened, after it was committed. Subscribers decide who may see it. */
export type BusEvent =
  | { type: 'message'; message: MessageRecord; recipients: readonly number[] }
  | { type: 'receipt'; receipt: ReceiptRecord; sender: number }
  | { type: 'request'; seq: number; state: RequestState }
  /** An agent elsewhere has told how far it is. */
  | { type: 'task'; seq: number; task: RemoteTaskView }
  | { type: 'presence'; agent: number }
  | { type: 'agents' }
  | { type: 'paused'; paused: boolean }
  /** The person took a message back to unread. */
  | { type: 'unread'; seq: number; conversation: number };

export class EventFeed {
  private readonly listeners = new Set<(event: BusEvent) => void>();

  subscribe(listener: (event: BusEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  publish(event: BusEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
