import type { AgentRecord, ChatRecord } from '../core/model.ts';
import type { Rung } from '../protocol/reachMessages.ts';
import type { Carrier, CarryingWindow, SessionCarrier } from './carrier.ts';
import type { Sessions } from './sessions.ts';
import type { TypingPermits } from './typing.ts';
import type { Windows } from './windows.ts';

/** One way to put a message in front of an agent: in its chat, or, while it has none, wherever its window chats. */
export interface Target {
  agent: number;
  carrier: Carrier;
  chat: ChatRecord | undefined;
  /** The best that it can come to; undefined for a window that can do nothing at the moment. */
  rung: Rung | undefined;
  /** By what means, in a few words; the rung alone says it for a window's own chats. */
  route: string | undefined;
  /** What tells this way from the agent's others, for as long as it makes sense to count failures. */
  key: string;
  /** Where the person is asked, if need be. */
  asker: CarryingWindow | undefined;
  /** It points to the inbox instead of carrying the text. */
  isLine: boolean;
  /** A session in a terminal: what its window is to do, and for which of its terminals. */
  terminal?: { by: 'typing' | 'notification'; pid: number | undefined };
}

interface LadderParts {
  windows: Windows;
  sessions: Sessions;
  typing: TypingPermits;
  chats: { holder(agent: number): ChatRecord | undefined; all(): ChatRecord[] };
  agentOf: (agent: number) => AgentRecord;
}

/**
 * The ways to an agent, best first. A chat in a window has that window, which climbs down by itself. A session in a
 * terminal has whoever carries it by its product's own means, then a line typed into its terminal, if the person lets
 * us, then the person.
 */
export class Ladder {
  private readonly parts: LadderParts;

  constructor(parts: LadderParts) {
    this.parts = parts;
  }

  targets(agent: number): Target[] {
    const { windows, chats } = this.parts;
    const chat = chats.holder(agent);
    const isThere = chat && chat.state !== 'gone';
    const window = isThere ? windows.get(chat.window) : undefined;
    if (window) return [inWindow(agent, window, chat)];
    const own = windows.ofHome(agent);
    if (own) return [inWindow(agent, own, undefined)];
    return isThere && chat.window === '' ? this.inTerminal(agent, chat) : [];
  }

  /** Who carries this chat, whatever they can do for it. */
  carriersOf(chat: ChatRecord): Carrier[] {
    if (chat.state === 'gone') return [];
    const window = this.parts.windows.get(chat.window);
    return window ? [window] : this.sessionsOf(chat);
  }

  sessionsOf(chat: ChatRecord): SessionCarrier[] {
    return this.parts.sessions.of({ ...chat, agentName: this.parts.agentOf(chat.agent).name });
  }

  /** All agents that this carrier may reach; everybody's, if none is named. */
  reachedBy(carrier?: Carrier): number[] {
    const { windows, chats } = this.parts;
    const homes = windows.all().flatMap((window) => (!carrier || window === carrier ? [window.home] : []));
    const held = chats.all().filter((chat) => {
      if (!carrier) return chat.state !== 'gone';
      return this.targets(chat.agent).some((target) => target.carrier === carrier);
    });
    return [...new Set([...homes, ...held.map((chat) => chat.agent)])];
  }

  /** The terminal that a session is in, if a window has it, and if it is beyond doubt. */
  terminalOf(chat: ChatRecord): { window: CarryingWindow; pid: number } | undefined {
    const placed = this.sessionsOf(chat).filter(({ session }) => (session.pids?.length ?? 0) > 0);
    const own = placed.filter(({ session }) => session.chat !== undefined || session.agent !== undefined);
    // Of two sessions of a product in one workspace nobody may know which is in which terminal.
    if (own.length === 0 && placed.length > 1) return undefined;
    const [nearest] = own.length > 0 ? own : placed;
    return this.parts.windows.terminalOf(nearest?.session.pids ?? []);
  }

  private inTerminal(agent: number, chat: ChatRecord): Target[] {
    const { typing } = this.parts;
    const terminal = this.terminalOf(chat);
    const asker = terminal?.window ?? this.nearestWindow(chat);
    const base = { agent, chat, asker };
    const native = this.sessionsOf(chat).flatMap((carrier): Target[] => {
      const { session, id } = carrier;
      const [rung] = carrier.rungs;
      if (rung === undefined) return [];
      // Each end of a turn may bring a new one for the same chat: they are one way.
      const key = session.chat === undefined ? `${session.route} ${id}` : session.route;
      return [{ ...base, carrier, rung, route: session.route, key, isLine: session.says === 'line' }];
    });
    const typed: Target[] =
      terminal && typing.has(agent)
        ? [{ ...this.byWindow(base, terminal.window, 'typing', terminal.pid), isLine: true }]
        : [];
    const told = asker ? [this.byWindow(base, asker, 'notification', terminal?.pid)] : [];
    return [...native, ...typed, ...told];
  }

  private byWindow(
    base: Pick<Target, 'agent' | 'chat' | 'asker'>,
    carrier: CarryingWindow,
    by: 'typing' | 'notification',
    pid: number | undefined,
  ): Target {
    return { ...base, carrier, rung: by, route: undefined, key: by, isLine: false, terminal: { by, pid } };
  }

  /** Where its person is most likely to sit. */
  private nearestWindow(chat: ChatRecord): CarryingWindow | undefined {
    const all = this.parts.windows.all();
    const isHere = ({ home }: CarryingWindow): boolean => this.parts.agentOf(home).workspace === chat.workspace;
    return all.findLast(isHere) ?? all.at(-1);
  }
}

function inWindow(agent: number, window: CarryingWindow, chat: ChatRecord | undefined): Target {
  const [rung] = window.rungs;
  return { agent, carrier: window, chat, rung, route: undefined, key: 'window', asker: window, isLine: false };
}
