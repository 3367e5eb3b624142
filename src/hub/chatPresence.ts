import type { Bus } from '../core/bus.ts';
import type { Clock } from '../core/clock.ts';
import { cleanLine } from '../core/envelope.ts';
import type { ChatRecord, ToolAtWork } from '../core/model.ts';
import type { Connection } from '../core/presence.ts';
import type { Carried } from '../core/views.ts';
import type { Pause } from '../reach/pause.ts';
import type { Ladder, Target } from '../reach/ladder.ts';
import type { Windows } from '../reach/windows.ts';
import type { Rung } from '../protocol/reachMessages.ts';
import type { Chats } from './chats.ts';

/** A tool that takes longer than this may be waiting for the person. */
const askedMs = 1_500;

const rungWords: Record<Rung, string> = {
  turn: 'chat turn',
  typing: 'typing into its terminal',
  input: 'chat input',
  notification: 'notification to the person',
};

interface Entry {
  agent: number;
  connection: Connection;
  timer: NodeJS.Timeout | undefined;
}

/** What everybody sees of the chats that somebody carries: presence, what keeps them, and how they would hear. */
export class ChatPresence {
  private readonly bus: Bus;
  private readonly clock: Clock;
  private readonly chats: Chats;
  private readonly windows: Windows;
  private readonly ladder: Ladder;
  private readonly pause: Pause;
  private readonly live = new Map<string, Entry>();
  private readonly told = new Map<number, string>();

  constructor(parts: { bus: Bus; clock: Clock; chats: Chats; windows: Windows; ladder: Ladder; pause: Pause }) {
    this.bus = parts.bus;
    this.clock = parts.clock;
    this.chats = parts.chats;
    this.windows = parts.windows;
    this.ladder = parts.ladder;
    this.pause = parts.pause;
    this.bus.feed.subscribe((event) => {
      if (event.type === 'presence') this.told.set(event.agent, this.seen(event.agent));
    });
  }

  /** The chat has changed, or who carries it has come or gone, or the chat has lost its agent. */
  update(chat: ChatRecord): void {
    const current = this.chats.get(chat.id);
    const isCarried = current && this.ladder.carriersOf(current).length > 0;
    const entry = this.live.get(chat.id);
    if (entry && (!isCarried || entry.agent !== current?.agent)) this.leave(chat.id, entry);
    if (current && isCarried) this.show(current, this.live.get(chat.id) ?? this.enter(current));
    this.tell(chat.agent);
    if (current && current.agent !== chat.agent) this.tell(current.agent);
  }

  /** Presence tells its own changes; this is for the rest of what a reader sees. */
  tell(agent: number): void {
    if (this.told.get(agent) !== this.seen(agent)) this.bus.feed.publish({ type: 'presence', agent });
  }

  close(): void {
    for (const entry of this.live.values()) clearTimeout(entry.timer);
  }

  /** For agents that somebody carries, and for the person who sits at a window. */
  carried(agent: number): Carried | undefined {
    if (agent === this.bus.roster.person.id) {
      const sits = this.windows.all().length > 0 && this.bus.presence.isConnected(agent);
      return sits ? { reach: ['sidebar', 'inbox'] } : undefined;
    }
    const [target] = this.ladder.targets(agent);
    const chat = target ? target.chat && this.chats.get(target.chat.id) : this.carriedChat(agent);
    if (!target && !chat) return undefined;
    const waits = chat?.asking === true || chat?.tools.some((tool) => !tool.runs) === true;
    const doing = chat && this.doing(chat);
    return { reach: this.reach(target, chat, waits), ...(doing !== undefined && { doing }) };
  }

  /** Of a session that is there, though nobody could wake it. */
  private carriedChat(agent: number): ChatRecord | undefined {
    const chat = this.chats.holder(agent);
    return chat && this.ladder.carriersOf(chat).length > 0 ? chat : undefined;
  }

  private reach(target: Target | undefined, chat: ChatRecord | undefined, waits: boolean): string[] {
    const way = target && (target.route ?? (target.rung && rungWords[target.rung]));
    const works = chat?.state === 'working' && !(target && this.chats.isFree(target));
    if (this.pause.on) return works ? ['next tool call', 'inbox'] : ['inbox'];
    if (waits) return ['after the tool or its approval', 'end of turn', 'inbox'];
    if (works) return ['next tool call', 'end of turn', 'inbox'];
    if (way !== undefined) return [way, 'inbox'];
    return chat?.window === '' ? ['its next turn', 'inbox'] : ['next tool call', 'inbox'];
  }

  private doing(chat: ChatRecord): string | undefined {
    if (chat.asking) {
      const asked = chat.tools.find((tool) => !tool.runs)?.name;
      return `waits for your approval of ${asked === undefined ? 'a tool' : cleanLine(asked, 60)}`;
    }
    const waits = this.waitsLong(chat);
    if (waits) return `${cleanLine(waits.name, 60)} runs or waits for your approval`;
    const runs = chat.tools.find((tool) => tool.runs);
    return runs && `${cleanLine(runs.name, 60)} runs`;
  }

  private waitsLong(chat: ChatRecord): ToolAtWork | undefined {
    const now = this.clock.now();
    return chat.tools.find((tool) => !tool.runs && now - tool.since >= askedMs);
  }

  private enter(chat: ChatRecord): Entry {
    const probe = (signal: AbortSignal): Promise<void> => {
      const current = this.chats.get(chat.id);
      const [carrier] = current ? this.ladder.carriersOf(current) : [];
      return carrier ? carrier.probe(signal) : Promise.reject(new Error('nobody carries it any more'));
    };
    const entry: Entry = {
      agent: chat.agent,
      connection: this.bus.presence.connect(chat.agent, probe, { carried: true }),
      timer: undefined,
    };
    this.live.set(chat.id, entry);
    return entry;
  }

  private leave(id: string, entry: Entry): void {
    clearTimeout(entry.timer);
    this.live.delete(id);
    entry.connection.close();
  }

  private show(chat: ChatRecord, entry: Entry): void {
    clearTimeout(entry.timer);
    const isWaiting = chat.asking || this.waitsLong(chat) !== undefined;
    entry.connection.set(isWaiting ? 'waiting' : chat.state === 'working' ? 'working' : 'idle');
    const unsure = chat.tools.filter((tool) => !tool.runs);
    if (isWaiting || unsure.length === 0) return;
    const due = Math.min(...unsure.map((tool) => tool.since)) + askedMs - this.clock.now();
    entry.timer = setTimeout(() => this.update(chat), Math.max(due, 1)).unref();
  }

  private seen(agent: number): string {
    return JSON.stringify([this.bus.presence.of(agent), this.carried(agent)]);
  }
}
