import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { defineTool } from './defineTool.ts';
import { messagesText, reminderText } from './messageText.ts';
import { budget, page, waitSeconds } from './schemas.ts';

export const inbox = defineTool({
  name: 'inbox',
  title: 'Read your mail',
  effect: 'reads',
  about:
    'Your mail, oldest first. filter: "new" (not shown to you yet), "open" (also shown but neither acked nor answered), "done", "all". With wait_seconds it blocks, at no cost, until something new comes. Reading removes nothing: ack or answer what you are done with.',
  always: true,
  input: z.strictObject({
    wait_seconds: waitSeconds,
    filter: z.enum(['new', 'open', 'done', 'all']).default('new'),
    from: z.string().max(limits.nameLength).optional(),
    kind: z.enum(['request', 'inform', 'reply']).optional(),
    conversation: z.string().max(20).optional(),
    ...page,
  }),
  run: ({ wait_seconds, ...input }, context) =>
    context.bus.inbox(context.caller, { ...input, budget: budget[context.reader] }, wait_seconds, context),
  shown: (result) => result.messages.map((message) => message.id),
  render(result) {
    const lines: string[] = [];
    if (result.messages.length === 0)
      lines.push(result.waited ? 'Nothing came yet; call again to go on waiting.' : 'No mail of that kind.');
    else lines.push(messagesText(result.messages));
    if (result.next) lines.push(`More: cursor "${result.next}".`);
    else if (result.unread_left > 0) lines.push(`${result.unread_left} more unread.`);
    if (result.unanswered) {
      lines.push('Shown to you before and still without an answer (reply with send, or ack):');
      lines.push(...result.unanswered.map((reminder) => `- ${reminderText(reminder)}`));
    }
    return lines.join('\n');
  },
});
