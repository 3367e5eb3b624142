import type { ChatRecord, ConsentRecord, DeliveryPhase, TellRecord } from '../core/model.ts';
import { SqliteReads } from './sqliteReads.ts';

/** The changes that are about reaching an agent: its chats, the person's consents, marks on deliveries, what to tell. */
export class ChatWrites extends SqliteReads {
  /** Grows with every change, so that the group commit can tell a work that failed before it changed anything. */
  mutations = 0;

  turnDelivery(seq: number, agent: number, phase: DeliveryPhase): boolean {
    this.mutations++;
    this.recount(agent);
    return this.sql.run('UPDATE deliveries SET phase = ? WHERE seq = ? AND agent = ?', phase, seq, agent) > 0;
  }

  markDelivery(seq: number, agent: number, mark: 'heldBack' | 'released'): void {
    this.mutations++;
    const column = mark === 'heldBack' ? 'held_back' : 'released';
    this.sql.run(`UPDATE deliveries SET ${column} = 1 WHERE seq = ? AND agent = ?`, seq, agent);
  }

  putChat(chat: ChatRecord): void {
    this.mutations++;
    this.sql.run(
      `INSERT OR REPLACE INTO chats (id, agent, workspace, product, window, home, state, tools, asking, waking, hop, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      chat.id,
      chat.agent,
      chat.workspace,
      chat.product,
      chat.window,
      chat.home,
      chat.state,
      chat.tools.length > 0 ? JSON.stringify(chat.tools) : null,
      chat.asking ? 1 : 0,
      chat.waking ? 1 : 0,
      chat.hop,
      chat.at,
    );
  }

  deleteChat(id: string): void {
    this.mutations++;
    this.sql.run('DELETE FROM chats WHERE id = ?', id);
  }

  putConsent(consent: ConsentRecord): void {
    this.mutations++;
    this.sql.run(
      'INSERT OR REPLACE INTO consents (sender, recipient, verdict, at) VALUES (?, ?, ?, ?)',
      consent.from,
      consent.to,
      consent.verdict,
      consent.at,
    );
  }

  deleteConsent(from: string, to: string): boolean {
    this.mutations++;
    return this.sql.run('DELETE FROM consents WHERE sender = ? AND recipient = ?', from, to) > 0;
  }

  putTell(tell: Omit<TellRecord, 'id'>): void {
    this.mutations++;
    this.sql.run(
      'INSERT OR REPLACE INTO tells (agent, what, about, hop, at, until) VALUES (?, ?, ?, ?, ?, ?)',
      tell.agent,
      tell.what,
      tell.about,
      tell.hop,
      tell.at,
      tell.until,
    );
  }

  deleteTell(id: number): boolean {
    this.mutations++;
    return this.sql.run('DELETE FROM tells WHERE id = ?', id) > 0;
  }

  setMeta(key: string, value: string): void {
    this.mutations++;
    this.sql.run('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, value);
  }
}
