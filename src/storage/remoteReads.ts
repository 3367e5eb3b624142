import type { RemoteRecord, RemoteTaskRecord } from '../core/model.ts';
import { BulkReads } from './bulkReads.ts';
import { remoteRow, remoteTaskRow } from './rows.ts';

/** What is known of agents elsewhere, and of what they were given to do. */
export class RemoteReads extends BulkReads {
  remotes(): RemoteRecord[] {
    return this.sql.all('SELECT * FROM remotes ORDER BY agent').map(remoteRow);
  }

  remoteTasks(): RemoteTaskRecord[] {
    return this.sql.all("SELECT * FROM remote_tasks WHERE stage <> 'over' ORDER BY seq").map(remoteTaskRow);
  }

  remoteTasksOf(seq: number): RemoteTaskRecord[] {
    return this.sql.all('SELECT * FROM remote_tasks WHERE seq = ? ORDER BY agent', seq).map(remoteTaskRow);
  }

  remoteContext(conversation: number, agent: number): string | undefined {
    const row = this.sql.get(
      'SELECT context FROM remote_contexts WHERE conversation = ? AND agent = ?',
      conversation,
      agent,
    );
    return row?.['context'] as string | undefined;
  }
}
