import { BusError } from './errors.ts';
import type { Caller, ConversationRecord, MessageRecord } from './model.ts';
import { conversationId, messageId } from './model.ts';
import type { Reads } from './ports.ts';
import { unknownMessage } from './receipts.ts';
import type { Roster } from './roster.ts';

/** Who may see what, in one place. What a caller may not see looks to it exactly like what is not there. */
export class Visibility {
  private readonly store: Reads;
  private readonly roster: Roster;

  constructor(store: Reads, roster: Roster) {
    this.store = store;
    this.roster = roster;
  }

  seesAll(caller: Caller): boolean {
    return caller.agent === this.roster.person.id;
  }

  /** The sender, the recipients, the members of its channel, and the person. */
  message(caller: Caller, id: string): MessageRecord {
    const seq = messageId.parse(id);
    const message = seq === undefined ? undefined : this.store.message(seq);
    if (!message || !this.maySee(caller, message)) throw unknownMessage(id);
    return message;
  }

  maySee(caller: Caller, message: MessageRecord): boolean {
    if (this.seesAll(caller) || message.sender === caller.agent) return true;
    if (this.store.delivery(message.seq, caller.agent)) return true;
    return (
      message.sender !== this.roster.bus.id &&
      this.store.conversation(message.conversation)?.kind === 'channel' &&
      this.store.isMember(message.conversation, caller.agent)
    );
  }

  conversation(caller: Caller, id: string): ConversationRecord {
    const number = conversationId.parse(id);
    const conversation = number === undefined ? undefined : this.store.conversation(number);
    if (!conversation || !this.isIn(caller, conversation)) throw unknownConversation(id);
    return conversation;
  }

  isIn(caller: Caller, conversation: ConversationRecord): boolean {
    return this.seesAll(caller) || this.store.isMember(conversation.id, caller.agent);
  }

  /** Channels are public by name; what is said in them is for members. */
  channel(name: string): ConversationRecord {
    const bare = name.replace(/^#/, '');
    const channel = this.store.conversationByKey(`#${bare}`);
    if (!channel) {
      throw new BusError('unknown-channel', `There is no channel "#${bare.slice(0, 60)}".`, {
        next: 'Call channel with action "list" to see them, or with action "create" to make it.',
      });
    }
    return channel;
  }
}

export function unknownConversation(id: string): BusError {
  return new BusError('unknown-conversation', `You have no conversation "${id.slice(0, 60)}".`, {
    next: 'Call conversations to see yours.',
  });
}
