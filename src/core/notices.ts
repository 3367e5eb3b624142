import type { Clock } from './clock.ts';
import type { Couriers } from './couriers.ts';
import type { AgentRecord, MessageRecord, TellRecord } from './model.ts';
import { messageId } from './model.ts';
import { endedText, endText, unreachedText, type NoticedRequest } from './noticeText.ts';
import type { Reads, RequestEnd, Writes } from './ports.ts';
import type { Changes } from './receipts.ts';
import type { Roster } from './roster.ts';
import { isAtDoor, type Views } from './views.ts';

interface Notice {
  to: number;
  text: string;
  /** The request that it is about: it stands in the same conversation. Without one, in that of its reader and the bus. */
  about?: MessageRecord;
  /** The same key never makes a second one. */
  key?: string;
  hop: number;
}

/**
 * Messages that the bus itself writes. A notice is stored in the transaction of what it tells, so that it is there
 * exactly once, whenever the hub is killed. It wants no answer, is no request, and so never causes another notice. Its
 * hop is that of what it is about: an agent that asks again and again because it is told so is a chain like any other.
 */
export class Notices {
  private readonly clock: Clock;
  private readonly roster: Roster;
  private readonly views: Views;
  private readonly couriers: Couriers;

  constructor(parts: { clock: Clock; roster: Roster; views: Views; couriers: Couriers }) {
    this.clock = parts.clock;
    this.roster = parts.roster;
    this.views = parts.views;
    this.couriers = parts.couriers;
  }

  /** For use inside a transaction. False if it had been written before. */
  write(tx: Writes, changes: Changes, notice: Notice): boolean {
    const { about, to } = notice;
    const draft: Omit<MessageRecord, 'seq'> = {
      conversation: about?.conversation ?? this.ownConversation(tx, to),
      sender: this.roster.bus.id,
      kind: 'inform',
      text: notice.text,
      data: null,
      files: [],
      options: [],
      replyTo: about?.seq ?? null,
      priority: 'normal',
      key: notice.key ?? null,
      hop: notice.hop,
      sentAt: this.clock.now(),
      expiresAt: null,
    };
    const seq = tx.insertMessage(draft);
    if (seq === undefined) return false;
    const message = { seq, ...draft };
    tx.insertDelivery(message, to);
    changes.messages.push({ message, recipients: [to] });
    return true;
  }

  /** For use inside a transaction: a request has ended. Its sender is told unless a reply tells it, or it was its own doing. */
  ended(tx: Writes, changes: Changes, seq: number, end: RequestEnd): void {
    const tells = tx.tellsAbout('ended', seq);
    const isSilent = end.resultSeq === null && end.state !== 'cancelled';
    if (!isSilent && tells.length === 0) return;
    const request = tx.message(seq);
    if (!request) return;
    if (isSilent && this.isReader(request.sender)) {
      const text = endText(this.describe(tx, request), end.state, end.note);
      this.write(tx, changes, { to: request.sender, text, about: request, key: endKey(seq), hop: request.hop });
    }
    for (const tell of tells) this.tellEnded(tx, changes, request, end, tell);
  }

  /** For use inside a transaction: nobody could be found at that address. Once for each request and recipient. */
  unreached(tx: Writes, changes: Changes, request: MessageRecord, away: AgentRecord, lastSeen: number): boolean {
    if (!this.isReader(request.sender)) return false;
    const text = unreachedText(this.describe(tx, request), away.name, lastSeen);
    const key = unreachedKey(request.seq, away.id);
    return this.write(tx, changes, { to: request.sender, text, about: request, key, hop: request.hop });
  }

  /** The notice by which a request came back to its sender. */
  ofEnd(reads: Reads, seq: number): MessageRecord | undefined {
    return reads.messageByKey(this.roster.bus.id, endKey(seq));
  }

  wasUnreached(reads: Reads, seq: number, agent: number): boolean {
    return reads.messageByKey(this.roster.bus.id, unreachedKey(seq, agent)) !== undefined;
  }

  /** A client of this bus reads its inbox; agents elsewhere, and those of agent-tool, have no word for a notice. */
  isReader(agent: number): boolean {
    const record = this.roster.get(agent);
    return !record.removed && !isAtDoor(record) && !this.couriers.of(record);
  }

  private tellEnded(tx: Writes, changes: Changes, request: MessageRecord, end: RequestEnd, tell: TellRecord): void {
    if (!tx.deleteTell(tell.id) || !this.isReader(tell.agent)) return;
    const answer = end.resultSeq === null ? undefined : tx.message(end.resultSeq);
    const by = answer && { id: messageId.format(answer.seq), from: this.roster.get(answer.sender).name };
    const text = endedText(this.describe(tx, request), end.state, by ?? null);
    this.write(tx, changes, { to: tell.agent, text, about: request, hop: tell.hop });
  }

  private describe(tx: Writes, request: MessageRecord): NoticedRequest {
    const recipients = tx.recipients(request.seq);
    const receipts = tx.receipts(request.seq);
    return {
      id: messageId.format(request.seq),
      text: request.text,
      to: this.views.recipients(request, recipients),
      reached: recipients.map((id) => ({
        agent: this.roster.get(id).name,
        receipts: receipts.filter(({ agent }) => agent === id),
      })),
    };
  }

  private ownConversation(tx: Writes, reader: number): number {
    const members = [reader, this.roster.bus.id].sort((a, b) => a - b);
    const key = members.join(' ');
    const known = tx.conversationByKey(key)?.id;
    if (known !== undefined) return known;
    const at = this.clock.now();
    const id = tx.insertConversation('direct', key, '', at);
    for (const member of members) tx.insertMember(id, member, at);
    return id;
  }
}

const endKey = (seq: number): string => `end ${seq}`;
const unreachedKey = (seq: number, agent: number): string => `unreached ${seq} ${agent}`;
