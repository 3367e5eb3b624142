import type { ChatRecord } from '../core/model.ts';
import type { SessionCarrier } from './carrier.ts';

/** What a chat outside of all windows is known by. */
export type TerminalChat = Pick<ChatRecord, 'id' | 'workspace' | 'product' | 'window'> & { agentName: string };

/**
 * Which sessions outside of windows have somebody who carries them. The nearer it is to the session, the sooner it is
 * asked: one that names the very chat, then one of the same agent, then one of the product in that workspace.
 */
export class Sessions {
  private readonly byId = new Map<string, SessionCarrier>();

  /** @returns the end of it; false when it had gone already. */
  add(carrier: SessionCarrier): () => boolean {
    const { chat, route } = carrier.session;
    // A product may start another one at the end of each turn: one is enough.
    for (const other of chat === undefined ? [] : this.all()) {
      if (other.session.chat === chat && other.session.route === route) this.dismiss(other, 'another one has come');
    }
    this.byId.delete(carrier.id);
    this.byId.set(carrier.id, carrier);
    return () => this.byId.get(carrier.id) === carrier && this.byId.delete(carrier.id);
  }

  get(id: string): SessionCarrier | undefined {
    return this.byId.get(id);
  }

  all(): SessionCarrier[] {
    return [...this.byId.values()];
  }

  /** Nearest first; of equals the one that came last. */
  of(chat: TerminalChat): SessionCarrier[] {
    if (chat.window !== '') return [];
    const near = this.all()
      .reverse()
      .map((carrier) => ({ carrier, distance: distance(carrier, chat) }));
    return near
      .filter(({ distance: far }) => far < Infinity)
      .sort((a, b) => a.distance - b.distance)
      .map(({ carrier }) => carrier);
  }

  /** Its session is over: those who waited for this one alone may go. */
  ended(chat: string): void {
    for (const carrier of this.all()) if (carrier.session.chat === chat) this.dismiss(carrier, 'the session is over');
  }

  private dismiss(carrier: SessionCarrier, why: string): void {
    this.byId.delete(carrier.id);
    carrier.leave(why);
  }
}

function distance({ session }: SessionCarrier, chat: TerminalChat): number {
  if (session.chat !== undefined) return session.chat === chat.id ? 0 : Infinity;
  if (session.product !== chat.product || session.workspace !== chat.workspace) return Infinity;
  if (session.agent !== undefined) return session.agent === chat.agentName ? 1 : Infinity;
  return 2;
}
