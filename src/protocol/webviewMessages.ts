import type { ConversationSummary } from '../core/reading.ts';

/** What the extension tells its page. The page answers with "ready" and "start", nothing else. */
export interface InboxState {
  hub: 'off' | 'connecting' | 'connected';
  conversations: ConversationSummary[];
}
