import { z } from 'zod';
import type { SendResult, WaitingCall } from '../core/bus.ts';
import { cleanLine } from '../core/envelope.ts';
import { limits } from '../core/limits.ts';
import { defineTool, type ToolContext } from './defineTool.ts';
import { messagesText, taskText } from './messageText.ts';
import { outlookText } from './outlookText.ts';
import { waitSeconds } from './schemas.ts';

const recipient = z.string().max(limits.addressLength);

export const send = defineTool({
  name: 'send',
  title: 'Send a message',
  effect: 'adds',
  about:
    'Message agents, "person", a "#channel", an A2A agent (name or https://…) or tcp://host:port. kind "request" wants an answer, "inform" does not; to answer, give reply_to. With wait_seconds you get the answer, or "pending" and an id to ask status about. It returns once the message is on disk.',
  always: true,
  input: z.strictObject({
    to: z
      .union([recipient, z.array(recipient).max(limits.recipients)])
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
    key: z.string().min(1).max(limits.keyLength).optional().describe('a retry with the same key sends nothing twice'),
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
      waitingCall(context),
    );
  },
  shown: ({ answer, notice }) => [answer, notice].flatMap((message) => message?.id ?? []),
  failed: (result) => result.request === 'failed' || reachedNobody(result),
  render(result) {
    const lines = [`${result.duplicate ? 'Already sent' : 'Stored'} as ${result.id} for ${result.to.join(', ')}.`];
    const note = result.note ? cleanLine(result.note, 300) : '';
    if (result.request === 'failed') lines.push(`Request ${result.id} failed${note ? `: ${note}` : '.'}`);
    if (result.answer) return [...lines, 'The answer:', messagesText([result.answer])].join('\n');
    if (result.notice) return [...lines, messagesText([result.notice])].join('\n');
    const remark = note ? ` (${note})` : '';
    if (result.request === 'pending') {
      lines.push(
        `Request ${result.id} is pending${remark}: the answer comes to your inbox; status tells how far it got.`,
      );
    } else if (result.request && result.request !== 'failed') {
      lines.push(`Request ${result.id}: ${result.request}${remark}.`);
    }
    return [...lines, ...result.recipients.map(recipientLine)].join('\n');
  },
});

/** Every one of them is beyond reach for good: nobody will ever read it. */
function reachedNobody({ to, recipients }: SendResult): boolean {
  return to.length === recipients.length && recipients.every(({ step }) => step === 'undeliverable');
}

function recipientLine({ agent, step, note, ...outlook }: SendResult['recipients'][number]): string {
  if (step === undefined) return `- ${agent} ${outlookText(outlook)}`;
  return `- ${agent}: ${step}${note ? ` ("${cleanLine(note, 300)}")` : ''}; hears by: ${outlook.reach.join(', then ')}`;
}

/** While the caller waits it hears what an agent elsewhere says, if it wants to hear anything. */
function waitingCall(context: ToolContext): WaitingCall {
  const { progress } = context;
  if (!progress) return context;
  return {
    get signal() {
      return context.signal;
    },
    onTask: (task) => progress(taskText(task)),
  };
}
