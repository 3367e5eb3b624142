import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import { defineTool } from './defineTool.ts';
import { reminderText } from './messageText.ts';
import { page } from './schemas.ts';

export const conversations = defineTool({
  name: 'conversations',
  title: 'List or search conversations',
  effect: 'reads',
  about: 'Your conversations by last activity; with query, full-text search in their messages, newest first.',
  input: z.strictObject({
    query: z.string().min(1).max(200).optional(),
    conversation: z.string().max(20).optional().describe('search only there'),
    ...page,
  }),
  run({ query, conversation, limit, cursor }, { bus, caller }) {
    if (query !== undefined) return { query, ...bus.reading.search(caller, { query, conversation, limit, cursor }) };
    return bus.reading.conversations(caller, { limit, cursor });
  },
  render(result) {
    const lines =
      'hits' in result
        ? result.hits.map(
            (hit) =>
              `- ${hit.id} in ${hit.conversation}, ${hit.from}, ${hit.sent_at}: "${cleanLine(hit.snippet, 170)}"`,
          )
        : result.conversations.map(
            (entry) =>
              `- ${entry.id} ${entry.kind} with ${entry.title}${entry.unread > 0 ? `, ${entry.unread} unread` : ''}, ${entry.last_at}${entry.last ? `; last: ${reminderText(entry.last)}` : ''}`,
          );
    if (lines.length === 0) lines.push('None.');
    if ('next' in result && result.next) lines.push(`More: cursor "${result.next}".`);
    return lines.join('\n');
  },
});
