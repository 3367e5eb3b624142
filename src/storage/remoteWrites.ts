import type { RemoteRecord, RemoteTaskRecord } from '../core/model.ts';
import { ChatWrites } from './chatWrites.ts';

/** The changes that are about agents elsewhere. */
export class RemoteWrites extends ChatWrites {
  putRemote(remote: RemoteRecord): void {
    this.mutations++;
    this.sql.run(
      `INSERT OR REPLACE INTO remotes (agent, url, card, secret, added_by, health, trouble, checked_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      remote.agent,
      remote.url,
      remote.card,
      remote.secret && JSON.stringify(remote.secret),
      remote.addedBy,
      remote.health,
      remote.trouble,
      remote.checkedAt,
    );
  }

  deleteRemote(agent: number): void {
    this.mutations++;
    this.sql.run('DELETE FROM remotes WHERE agent = ?', agent);
  }

  putRemoteTask(task: RemoteTaskRecord): void {
    this.mutations++;
    this.sql.run(
      `INSERT OR REPLACE INTO remote_tasks
         (seq, agent, conversation, stage, task, state, progress, question, updated_at, unreachable_since)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      task.seq,
      task.agent,
      task.conversation,
      task.stage,
      task.task,
      task.state,
      task.progress,
      task.question,
      task.updatedAt,
      task.unreachableSince,
    );
  }

  putRemoteContext(conversation: number, agent: number, context: string): void {
    this.mutations++;
    this.sql.run(
      'INSERT OR REPLACE INTO remote_contexts (conversation, agent, context) VALUES (?, ?, ?)',
      conversation,
      agent,
      context,
    );
  }
}
