import type { Couriers } from './couriers.ts';
import type {
  AgentRecord,
  AgentView,
  ConversationRecord,
  MessageRecord,
  MessageView,
  ReceiptRecord,
  ReceiptView,
} from './model.ts';
import { conversationId, messageId } from './model.ts';
import type { Reads } from './ports.ts';
import type { PresenceBoard } from './presence.ts';
import type { Roster } from './roster.ts';

/** What is known of an agent whose chats somebody carries: by which ways it hears, and what keeps it. */
export interface Carried {
  reach: string[];
  doing?: string;
}

/** Records as their readers see them: names instead of numbers, nothing that is the hub's own business. */
export class Views {
  private readonly store: Reads;
  private readonly roster: Roster;
  private readonly presence: PresenceBoard;
  private readonly couriers: Couriers;
  private readonly channelNames = new Map<number, string | undefined>();
  carried: (agent: number) => Carried | undefined = () => undefined;

  constructor(store: Reads, roster: Roster, presence: PresenceBoard, couriers: Couriers) {
    this.store = store;
    this.roster = roster;
    this.presence = presence;
    this.couriers = couriers;
  }

  message(record: MessageRecord, recipients: readonly number[] = this.store.recipients(record.seq)): MessageView {
    const sender = this.roster.get(record.sender);
    const channel = this.channelOf(record);
    const workspace = folderName(sender.workspace);
    return {
      id: messageId.format(record.seq),
      conversation: conversationId.format(record.conversation),
      ...(channel && { channel }),
      from: sender.name,
      ...(workspace && { workspace }),
      to: this.recipients(record, recipients),
      kind: record.kind,
      ...(sender.kind === 'bus' && { notice: true as const }),
      text: record.text,
      ...(record.data !== null && { data: JSON.parse(record.data) as unknown }),
      ...(record.files.length > 0 && { files: record.files }),
      ...(record.options.length > 0 && { options: record.options }),
      ...(record.replyTo !== null && { reply_to: messageId.format(record.replyTo) }),
      ...(record.priority === 'urgent' && { priority: record.priority }),
      sent_at: isoTime(record.sentAt),
      ...(record.expiresAt !== null && { expires_at: isoTime(record.expiresAt) }),
    };
  }

  recipients(record: MessageRecord, recipients: readonly number[]): string[] {
    const channel = this.channelOf(record);
    return channel ? [`#${channel}`] : recipients.map((id) => this.roster.get(id).name);
  }

  agent(record: AgentRecord): AgentView {
    const seen = this.presence.lastSeen(record.id) ?? record.lastSeen;
    const workspace = folderName(record.workspace);
    return {
      name: record.name,
      kind: record.kind,
      ...(record.about && { about: record.about }),
      ...(workspace && { workspace }),
      ...(record.product && { product: record.product }),
      ...(record.skills.length > 0 && { skills: record.skills }),
      ...this.address(record),
      ...(record.open && { open: true as const }),
      presence: this.presence.of(record.id),
      ...this.doing(record),
      reach: this.reach(record),
      last_seen: isoTime(seen),
    };
  }

  /** The ways by which a message would get to an agent now, best first; or one that wakes nobody. */
  reach(record: AgentRecord, wakes = true): string[] {
    if (record.removed) return [];
    if (this.presence.isWaiting(record.id)) return ['waiting call'];
    const elsewhere = this.elsewhere(record);
    if (elsewhere) return elsewhere;
    const carried = this.carried(record.id)?.reach;
    const isLeft = !wakes && record.kind === 'agent' && this.presence.of(record.id) === 'idle';
    if (carried) return isLeft && carried.length > 1 ? ['next turn or tool call', 'inbox'] : carried;
    if (record.kind === 'person') return this.presence.isConnected(record.id) ? ['open client', 'inbox'] : ['inbox'];
    if (this.presence.of(record.id) !== 'offline') return ['next tool call', 'inbox'];
    return ['inbox'];
  }

  /** Of an agent that is no client of this bus, the ways of its mail; undefined for all others. */
  elsewhere(record: AgentRecord): string[] | undefined {
    const courier = this.couriers.of(record)?.courier;
    if (courier) return courier.describe(record).reach;
    const door = doorReach.find(([prefix]) => record.identity?.startsWith(prefix));
    return door && [...door[1]];
  }

  private doing(agent: AgentRecord): { doing?: string } {
    const doing = (this.couriers.of(agent)?.courier.describe(agent) ?? this.carried(agent.id))?.doing;
    return doing === undefined ? {} : { doing };
  }

  private address(agent: AgentRecord): { address?: string } {
    const address = agent.removed ? undefined : this.couriers.of(agent)?.address;
    return address === undefined ? {} : { address };
  }

  receipt(record: ReceiptRecord): ReceiptView {
    return {
      agent: this.roster.get(record.agent).name,
      step: record.step,
      at: isoTime(record.at),
      ...(record.route !== null && { route: record.route }),
      ...(record.outcome !== null && { outcome: record.outcome }),
      ...(record.note !== null && { note: record.note }),
    };
  }

  conversationTitle(record: ConversationRecord, members: readonly number[], viewer: number): string {
    if (record.kind === 'channel') return `#${record.key.slice(1)}`;
    const others = members.filter((id) => id !== viewer);
    return (others.length > 0 ? others : members).map((id) => this.roster.get(id).name).join(', ');
  }

  /** A notice about what was said in a channel is not said in it. */
  private channelOf({ conversation, sender }: MessageRecord): string | undefined {
    if (sender === this.roster.bus.id) return undefined;
    if (!this.channelNames.has(conversation)) {
      const record = this.store.conversation(conversation);
      this.channelNames.set(conversation, record?.kind === 'channel' ? record.key.slice(1) : undefined);
    }
    return this.channelNames.get(conversation);
  }
}

/** Whether it comes through a door for agent-tool, and so has no inbox to read. */
export function isAtDoor({ identity }: AgentRecord): boolean {
  return doorReach.some(([prefix]) => identity?.startsWith(prefix));
}

/** Those who come through a door for agent-tool hear in its ways, or in none; by what their identity begins with. */
const doorReach: readonly (readonly [prefix: string, ways: readonly string[]])[] = [
  ['broker\n', ['agent-tool’s broker, when it fetches']],
  ['frames\n', ['nothing, it can only send']],
];

// Formatting a time costs as much as parsing a message, and the same one is often wanted many times in a row.
let last = { at: Number.NaN, text: '' };

export function isoTime(at: number): string {
  if (at !== last.at) last = { at, text: new Date(at).toISOString() };
  return last.text;
}

/** The last part of a path from any platform: enough to tell workspaces apart, and no more of the disk than that. */
export function folderName(path: string): string {
  return (
    path
      .split(/[\\/]+/)
      .filter(Boolean)
      .at(-1) ?? ''
  );
}
