import type { ToolOutput } from '../client/toolTypes.ts';
import { messageList } from './messageLines.ts';
import { visibleLine } from './terminalText.ts';

/** The person's mail, and what could be done about it. */
export function inboxLines(page: ToolOutput<'inbox'>): string {
  const { messages, unanswered, next, unread_left } = page;
  const parts = messages.length > 0 ? [messageList(messages)] : ['No mail of that kind.'];
  if (next) parts.push(`There is more: --cursor ${next}`);
  else if (unread_left > 0) parts.push(`${unread_left} more unread.`);
  if (unanswered) {
    const lines = unanswered.map(({ id, from, line }) => `  ${id} from ${from}: ${visibleLine(line, 100)}`);
    parts.push(['Read before and still without an answer:', ...lines].join('\n'));
  }
  const question = messages.find((message) => message.kind === 'request') ?? unanswered?.[0];
  if (question) parts.push(`Answer with: agent-bus reply ${question.id} "…"   or: agent-bus ack ${question.id}`);
  return parts.join('\n\n');
}
