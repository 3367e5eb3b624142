import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { cleanLine } from '../core/envelope.ts';
import { defineTool } from './defineTool.ts';
import { messagesText } from './messageText.ts';
import { waitSeconds } from './schemas.ts';

export const send = defineTool({
  name: 'send',
  title: 'Send a message',
  effect: 'adds',
  about:
    'Message agents, "person" or a "#channel". kind "request" wants an answer, "inform" does not; to answer, give reply_to. With wait_seconds you get the answer, or "pending" and an id to ask status about. It returns once the message is on disk.',
  always: true,
  input: z.strictObject({
    to: z
      .union([z.string(), z.array(z.string()).max(limits.recipients)])
      .optional()
      .describe('default with reply_to: that conversation'),
    text: z.string().min(1).max(limits.textBytes).describe('Markdown, at most 1 MiB'),
    kind: z.enum(['request', 'inform', 'reply']).optional(),
    reply_to: z.string().max(20).optional().describe('message id'),
    wait_seconds: waitSeconds,
    priority: z.enum(['normal', 'urgent']).optional(),
    options: z
      .array(z.string().min(1).max(limits.optionLength))
      .max(limits.options)
      .optional()
      .describe('answers to choose from'),
    data: z.unknown().optional().describe('any JSON'),
    files: z.array(z.string().min(1).max(limits.fileLength)).max(limits.files).optional().describe('paths'),
    key: z
      .string()
      .min(1)
      .max(limits.keyLength)
      .optional()
      .describe('idempotency: a retry with the same key sends nothing twice'),
    expires_seconds: z.number().int().min(1).max(limits.expirySeconds).optional(),
  }),
  run(input, context) {
    const asks = input.wait_seconds > 0 || (input.options?.length ?? 0) > 0;
    return context.bus.send(
      context.caller,
      {
        to: typeof input.to === 'string' ? [input.to] : input.to,
        text: input.text,
        kind: input.kind ?? (asks && input.reply_to === undefined ? 'request' : undefined),
        replyTo: input.reply_to,
        priority: input.priority,
        key: input.key,
        options: input.options,
        data: input.data,
        files: input.files,
        expiresSeconds: input.expires_seconds,
      },
      input.wait_seconds,
      context,
    );
  },
  shown: (result) => (result.answer ? [result.answer.id] : []),
  render(result) {
    const lines = [`${result.duplicate ? 'Already sent' : 'Stored'} as ${result.id} for ${result.to.join(', ')}.`];
    if (result.answer) return [...lines, 'The answer:', messagesText([result.answer])].join('\n');
    const note = result.note ? ` (${cleanLine(result.note, 300)})` : '';
    if (result.request === 'pending') {
      lines.push(
        `Request ${result.id} is pending${note}: the answer comes to your inbox; status tells how far it got.`,
      );
    } else if (result.request) lines.push(`Request ${result.id}: ${result.request}${note}.`);
    for (const { agent, presence, reach, last_seen } of result.recipients) {
      lines.push(
        `- ${agent} is ${presence}${last_seen ? ` since ${last_seen}` : ''}; hears by: ${reach.join(', then ')}`,
      );
    }
    return lines.join('\n');
  },
});
