import type { Bus } from '../core/bus.ts';
import type { MessageRecord } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import type { HeldView } from '../protocol/reachMessages.ts';
import type { Ladder } from '../reach/ladder.ts';

interface Held {
  message: MessageRecord;
  note: string;
  at: number;
}

const most = 50;

/** Messages that would wake their reader, and for some reason may not. */
export class HeldMail {
  private readonly bus: Bus;
  private readonly store: Store;
  private readonly ladder: Ladder;

  constructor({ bus, store, ladder }: { bus: Bus; store: Store; ladder: Ladder }) {
    this.bus = bus;
    this.store = store;
    this.ladder = ladder;
  }

  /** To everybody who can be reached. */
  list(): HeldView[] {
    return this.ladder.reachedBy().flatMap((agent) =>
      this.of(agent).map(({ message, note, at }): HeldView => {
        const { id, from, line } = this.bus.reading.reminder(message);
        return { id, from, to: this.bus.roster.get(agent).name, line, note, at: new Date(at).toISOString() };
      }),
    );
  }

  of(agent: number): Held[] {
    // What has just gone out may be noted but not yet on disk.
    this.store.settleNotes();
    const underWay = this.bus.underWay(agent);
    return this.store.wakeable(agent, most).flatMap((message): Held[] => {
      if (underWay.has(message.seq) || this.store.delivery(message.seq, agent)?.step !== 'held') return [];
      const why = this.store
        .receipts(message.seq)
        .findLast((receipt) => receipt.agent === agent && receipt.step === 'held');
      return [{ message, note: why?.note ?? '', at: why?.at ?? message.sentAt }];
    });
  }
}
