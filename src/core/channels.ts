import type { Clock } from './clock.ts';
import { BusError } from './errors.ts';
import type { Caller, ConversationRecord } from './model.ts';
import { conversationId } from './model.ts';
import { assertFreeForm } from './names.ts';
import type { Store } from './ports.ts';
import type { Roster } from './roster.ts';
import type { Visibility } from './visibility.ts';

export interface ChannelView {
  name: string;
  id: string;
  about?: string;
  members: number;
  joined: boolean;
  /** For members only. */
  unread?: number;
}

export class Channels {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly roster: Roster;
  private readonly visibility: Visibility;

  constructor(parts: { store: Store; clock: Clock; roster: Roster; visibility: Visibility }) {
    this.store = parts.store;
    this.clock = parts.clock;
    this.roster = parts.roster;
    this.visibility = parts.visibility;
  }

  async create(caller: Caller, name: string, about: string): Promise<ChannelView> {
    const bare = name.replace(/^#/, '');
    assertFreeForm(bare);
    const now = this.clock.now();
    const id = await this.store.write((tx) => {
      if (tx.conversationByKey(`#${bare}`)) {
        throw new BusError('channel-taken', `The channel #${bare} exists already.`, {
          next: `Join it: channel with action "join" and name "${bare}".`,
        });
      }
      const channel = tx.insertConversation('channel', `#${bare}`, about, now);
      tx.insertMember(channel, caller.agent, now);
      return channel;
    });
    return this.view(caller, this.byId(id));
  }

  async join(caller: Caller, name: string): Promise<ChannelView> {
    const channel = this.visibility.channel(name);
    await this.store.write((tx) => tx.insertMember(channel.id, caller.agent, this.clock.now()));
    return this.view(caller, this.byId(channel.id));
  }

  async leave(caller: Caller, name: string): Promise<ChannelView> {
    const channel = this.visibility.channel(name);
    await this.store.write((tx) => {
      if (!tx.deleteMember(channel.id, caller.agent)) {
        throw new BusError('not-a-member', `You are not in ${channel.key}.`, {
          next: 'There is nothing to leave; channel with action "mine" lists yours.',
        });
      }
    });
    return this.view(caller, this.byId(channel.id));
  }

  list(caller: Caller): ChannelView[] {
    const unread = this.unreadOf(caller);
    return this.store.channels().map((channel) => this.view(caller, channel, unread));
  }

  mine(caller: Caller): ChannelView[] {
    const own = new Set(this.store.channelsOf(caller.agent));
    const unread = this.unreadOf(caller);
    return this.store
      .channels()
      .filter((channel) => own.has(channel.id))
      .map((channel) => this.view(caller, channel, unread));
  }

  private byId(id: number): ConversationRecord {
    const channel = this.store.conversation(id);
    if (!channel) throw new BusError('internal', 'The channel is gone.', { next: 'Try again.' });
    return channel;
  }

  /** What was shown a moment ago is read, also before the mark has reached the disk. */
  private unreadOf(caller: Caller): ReadonlyMap<number, number> {
    this.store.settleNotes();
    return this.store.unreadByConversation(caller.agent);
  }

  private view(caller: Caller, channel: ConversationRecord, unread = this.unreadOf(caller)): ChannelView {
    const members = this.store.members(channel.id).filter((id) => !this.roster.get(id).removed);
    const joined = members.includes(caller.agent);
    return {
      name: channel.key,
      id: conversationId.format(channel.id),
      ...(channel.about && { about: channel.about }),
      members: members.length,
      joined,
      ...(joined && { unread: unread.get(channel.id) ?? 0 }),
    };
  }
}
