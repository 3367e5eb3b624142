import type { Couriers, RemoteTaskView } from './couriers.ts';
import type { Caller, MessageRecord, MessageView, ReceiptView, RequestState } from './model.ts';
import { messageId } from './model.ts';
import type { Store } from './ports.ts';
import { cursorSeq, type Reading, type Reminder } from './reading.ts';
import type { Roster } from './roster.ts';
import type { Visibility } from './visibility.ts';
import { isoTime, type Views } from './views.ts';

export interface MessageStatus {
  id: string;
  kind: MessageRecord['kind'];
  from: string;
  sent_at: string;
  recipients: { agent: string; step: ReceiptView['step']; at: string; steps: ReceiptView[] }[];
  request?: { state: RequestState; ended_at?: string; note?: string };
  /** What an agent elsewhere says of it. */
  task?: RemoteTaskView;
  answer?: MessageView;
  /** The caller will be told when it has ended. */
  telling?: true;
}

export interface RequestsInput {
  role: 'sent' | 'received';
  state?: RequestState | undefined;
  order: 'newest' | 'oldest';
  limit: number;
  cursor?: string | undefined;
}

export interface RequestSummary extends Reminder {
  to: string[];
  state: RequestState;
  ended_at?: string;
  note?: string;
  task?: RemoteTaskView;
}

const requestStates: readonly RequestState[] = ['pending', 'answered', 'failed', 'cancelled', 'expired'];

/** How far messages got, and how requests stand. */
export class Progress {
  private readonly store: Store;
  private readonly roster: Roster;
  private readonly views: Views;
  private readonly visibility: Visibility;
  private readonly reading: Reading;
  private readonly couriers: Couriers;
  private readonly isTold: (agent: number, seq: number) => boolean;

  constructor(parts: {
    store: Store;
    roster: Roster;
    views: Views;
    visibility: Visibility;
    reading: Reading;
    couriers: Couriers;
    isTold: (agent: number, seq: number) => boolean;
  }) {
    this.store = parts.store;
    this.roster = parts.roster;
    this.views = parts.views;
    this.visibility = parts.visibility;
    this.reading = parts.reading;
    this.couriers = parts.couriers;
    this.isTold = parts.isTold;
  }

  status(caller: Caller, id: string): MessageStatus {
    this.store.settleNotes();
    const message = this.visibility.message(caller, id);
    const sender = this.roster.get(message.sender);
    const seesAll = this.visibility.seesAll(caller) || message.sender === caller.agent;
    const receipts = this.store.receipts(message.seq);
    const deliveries = this.store
      .deliveries(message.seq)
      .filter((delivery) => seesAll || delivery.agent === caller.agent);
    const request = this.store.request(message.seq);
    const answer = request?.resultSeq ? this.store.message(request.resultSeq) : undefined;
    return {
      id,
      kind: message.kind,
      from: sender.name,
      sent_at: isoTime(message.sentAt),
      recipients: deliveries.slice(0, 50).map((delivery) => ({
        agent: this.roster.get(delivery.agent).name,
        step: delivery.step,
        at: isoTime(delivery.at),
        steps: receipts
          .filter((receipt) => receipt.agent === delivery.agent)
          .map((receipt) => this.views.receipt(receipt)),
      })),
      ...(request && {
        request: {
          state: request.state,
          ...(request.endedAt !== null && { ended_at: isoTime(request.endedAt) }),
          ...(request.note !== null && { note: request.note }),
        },
      }),
      ...this.taskOf(message.seq),
      ...(answer && this.visibility.maySee(caller, answer) && { answer: this.views.message(answer) }),
      ...(request?.state === 'pending' && this.isTold(caller.agent, message.seq) && { telling: true as const }),
    };
  }

  /** The caller's requests by state, its own or those made to it. */
  requests(caller: Caller, input: RequestsInput): { requests: RequestSummary[]; next?: string } {
    const found = this.store.requests({
      agent: caller.agent,
      role: input.role,
      states: input.state ? [input.state] : requestStates,
      order: input.order,
      beyond: input.cursor === undefined ? undefined : cursorSeq(input.cursor),
      limit: input.limit + 1,
    });
    const shown = found.slice(0, input.limit);
    const last = shown.at(-1);
    return {
      requests: shown.map((message) => this.requestSummary(message)),
      ...(last && found.length > shown.length && { next: messageId.format(last.seq) }),
    };
  }

  private requestSummary(message: MessageRecord): RequestSummary {
    const request = this.store.request(message.seq);
    return {
      ...this.reading.reminder(message),
      to: this.views.recipients(message, this.store.recipients(message.seq)),
      state: request?.state ?? 'pending',
      ...(typeof request?.endedAt === 'number' && { ended_at: isoTime(request.endedAt) }),
      ...(request?.note && { note: request.note }),
      ...this.taskOf(message.seq),
    };
  }

  private taskOf(seq: number): { task?: RemoteTaskView } {
    const task = this.couriers.task(seq);
    return task ? { task } : {};
  }
}
