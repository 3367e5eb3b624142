import type { Bus } from '../core/bus.ts';
import type { AgentRecord, AgentView, ChatRecord } from '../core/model.ts';
import type { AgentReach } from '../protocol/reachMessages.ts';
import { isForPerson } from '../reach/gate.ts';
import type { Ladder } from '../reach/ladder.ts';
import type { Pause } from '../reach/pause.ts';
import type { TypingPermits } from '../reach/typing.ts';
import type { Chats } from './chats.ts';
import type { HeardHooks } from './heardHooks.ts';
import type { HeldMail } from './heldMail.ts';
import { reachWords } from './reachWords.ts';

interface ReportParts {
  bus: Bus;
  chats: Chats;
  ladder: Ladder;
  pause: Pause;
  typing: TypingPermits;
  heard: HeardHooks;
  held: HeldMail;
}

/** For each agent: can it be reached now, and how. */
export class ReachReport {
  private readonly parts: ReportParts;

  constructor(parts: ReportParts) {
    this.parts = parts;
  }

  /** Of all agents, or of one. */
  list(name?: string): AgentReach[] {
    const { roster } = this.parts.bus;
    const agents = name === undefined ? roster.all() : [roster.require(name)];
    return agents.filter(({ kind, removed }) => kind !== 'person' && !removed).map((agent) => this.of(agent));
  }

  private of(agent: AgentRecord): AgentReach {
    const { bus, chats, ladder, pause, typing, heard, held } = this.parts;
    const chat = chats.holder(agent.id);
    const view = bus.views.agent(agent);
    const targets = ladder.targets(agent.id);
    const [target] = targets;
    return reachWords({
      view,
      chat,
      free: target ? chats.isFree(target) : chat?.state === 'idle' && !chat.asking,
      quiet: chat !== undefined && chats.isQuiet(chat),
      waits: bus.presence.isWaiting(agent.id),
      connected: this.hasTools(agent.id, chat, view),
      hooks: heard.of(chat?.id ?? ''),
      ways: targets.flatMap(({ rung, route }) => (rung === undefined ? [] : [{ rung, route }])),
      paused: pause.on,
      held: held.of(agent.id).flatMap(({ note }) => (isForPerson(note) ? [note] : [])),
      elsewhere: bus.views.elsewhere(agent),
      typing: chat && ladder.terminalOf(chat) ? typing.has(agent.id) : undefined,
    });
  }

  /** Whoever carries a session in a terminal need not be the bridge that brings its tools; a window offers them itself. */
  private hasTools(agent: number, chat: ChatRecord | undefined, view: AgentView): boolean {
    const { presence } = this.parts.bus;
    if (!chat) return view.presence !== 'offline';
    return chat.window === '' ? presence.isConnectedItself(agent) : presence.isConnected(agent);
  }
}
