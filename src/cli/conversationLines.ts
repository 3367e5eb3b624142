import type { ToolOutput } from '../client/toolTypes.ts';
import { messageList } from './messageLines.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

/** The person's conversations, or what a search in them has found. */
export function conversationsLines(page: ToolOutput<'conversations'>): string {
  const more = page.next ? [`There are more: --cursor ${page.next}`] : [];
  if ('hits' in page) {
    const hits = page.hits.map(
      (hit) =>
        `${hit.id}  ${hit.from}  ${shortTime(hit.sent_at)}  in ${hit.conversation}\n    ${visibleLine(hit.snippet)}`,
    );
    return [...hits, ...(hits.length === 0 ? ['Nothing was found.'] : []), ...more].join('\n');
  }
  const lines = page.conversations.map((entry) => {
    const unread = entry.unread > 0 ? `, ${entry.unread} unread` : '';
    const last = entry.last ? `\n    ${entry.last.id} ${entry.last.from}: ${visibleLine(entry.last.line, 100)}` : '';
    return `${entry.id}  ${entry.kind}: ${visibleLine(entry.title)}${unread}  ${shortTime(entry.last_at)}${last}`;
  });
  return [...lines, ...(lines.length === 0 ? ['There is no conversation yet.'] : []), ...more].join('\n');
}

export function conversationLines(page: ToolOutput<'conversation'>): string {
  if (!('conversation' in page)) return messageList(page.messages);
  const { conversation, before, after, messages } = page;
  return [
    `${conversation.id}  ${conversation.kind}: ${visibleLine(conversation.title)}`,
    ...(before ? [`Older: --before ${before}`] : []),
    messages.length > 0 ? messageList(messages) : 'No message yet.',
    ...(after ? [`Newer: --after ${after}`] : []),
  ].join('\n\n');
}
