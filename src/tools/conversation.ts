import { z } from 'zod';
import type { Bus } from '../core/bus.ts';
import { cleanLine } from '../core/envelope.ts';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Caller, ConversationRecord, MessageRecord } from '../core/model.ts';
import { conversationId, messageId } from '../core/model.ts';
import { pairStart } from '../core/text.ts';
import { defineTool } from './defineTool.ts';
import { messagesText } from './messageText.ts';
import { budget, excerptLength } from './schemas.ts';

export const conversation = defineTool({
  name: 'conversation',
  title: 'Read one conversation',
  effect: 'reads',
  about:
    'One history, oldest first, its newest page unless before or after is given. With a message id: that message, from character offset on.',
  input: z.strictObject({
    id: z
      .string()
      .max(limits.nameLength + 1)
      .optional()
      .describe('conversation or message id'),
    with: z
      .string()
      .max(limits.nameLength + 1)
      .optional()
      .describe('or: agent or #channel'),
    before: z.string().max(20).optional().describe('message id'),
    after: z.string().max(20).optional(),
    offset: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).max(limits.page).default(20),
  }),
  run(input, { bus, caller, reader }) {
    if ((input.id === undefined) === (input.with === undefined)) {
      throw new BusError('invalid-input', 'Give either `id` or `with`.', { next: 'Call conversations to see yours.' });
    }
    const found = find(bus, caller, input);
    if ('seq' in found) {
      const view = bus.views.message(found);
      const offset = pairStart(view.text, input.offset ?? 0);
      const end = reader === 'model' ? pairStart(view.text, offset + excerptLength) : view.text.length;
      return {
        messages: [{ ...view, text: view.text.slice(offset, end) }],
        ...(end < view.text.length && { rest: end }),
      };
    }
    const { before, after, limit } = input;
    return bus.reading.history(caller, { conversation: found, before, after, limit, budget: budget[reader] });
  },
  shown: (result) =>
    'rest' in result && result.rest !== undefined ? [] : result.messages.map((message) => message.id),
  render(result) {
    const lines: string[] = [];
    if ('conversation' in result) {
      lines.push(
        `${result.conversation.id}: ${result.conversation.kind} with ${cleanLine(result.conversation.title, 200)}`,
      );
      if (result.before) lines.push(`Older: before "${result.before}".`);
    }
    lines.push(messagesText(result.messages));
    if ('after' in result && result.after) lines.push(`Newer: after "${result.after}".`);
    if ('rest' in result && result.rest !== undefined) lines.push(`The text goes on: offset ${result.rest}.`);
    return lines.join('\n');
  },
});

/** An id comes first; what is none of the caller's ids may still be a name, such as "claude" or "mary". */
function find(
  bus: Bus,
  caller: Caller,
  { id, with: other }: { id?: string | undefined; with?: string | undefined },
): MessageRecord | ConversationRecord {
  if (id === undefined) return bus.reading.conversationWith(caller, other ?? '');
  const isMessage = messageId.parse(id) !== undefined;
  if (!isMessage && conversationId.parse(id) === undefined) return bus.reading.conversationWith(caller, id);
  try {
    return isMessage ? bus.visibility.message(caller, id) : bus.visibility.conversation(caller, id);
  } catch (error) {
    if (!bus.roster.find(id)) throw error;
    return bus.reading.conversationWith(caller, id);
  }
}
