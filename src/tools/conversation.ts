import { z } from 'zod';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { cleanLine } from '../core/envelope.ts';
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
    id: z.string().max(20).optional().describe('conversation or message id'),
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
    if (input.id?.startsWith('m')) {
      const view = bus.views.message(bus.visibility.message(caller, input.id));
      const offset = pairStart(view.text, input.offset ?? 0);
      const end = reader === 'model' ? pairStart(view.text, offset + excerptLength) : view.text.length;
      return {
        messages: [{ ...view, text: view.text.slice(offset, end) }],
        ...(end < view.text.length && { rest: end }),
      };
    }
    if ((input.id === undefined) === (input.with === undefined)) {
      throw new BusError('invalid-input', 'Give either `id` or `with`.', { next: 'Call conversations to see yours.' });
    }
    const record =
      input.id === undefined
        ? bus.reading.conversationWith(caller, input.with ?? '')
        : bus.visibility.conversation(caller, input.id);
    const { before, after, limit } = input;
    return bus.reading.history(caller, { conversation: record, before, after, limit, budget: budget[reader] });
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
