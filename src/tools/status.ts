import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import { BusError } from '../core/errors.ts';
import type { ReceiptView } from '../core/model.ts';
import type { MessageStatus, RequestSummary } from '../core/progress.ts';
import { defineTool } from './defineTool.ts';
import { messagesText, taskText } from './messageText.ts';
import { page } from './schemas.ts';

export interface RequestsPage {
  requests: RequestSummary[];
  next?: string;
}

export const status = defineTool({
  name: 'status',
  title: 'How far a message got',
  effect: 'changes',
  about:
    "With id: which step the message reached with each recipient and when (stored, offered, shown, acked, replied), and a request's state, progress and answer; cancel ends your own pending request. Without: your requests, newest first.",
  input: z.strictObject({
    id: z.string().max(20).optional(),
    cancel: z.boolean().optional(),
    state: z.enum(['pending', 'answered', 'failed', 'cancelled', 'expired']).optional(),
    role: z.enum(['sent', 'received']).optional(),
    order: z.enum(['newest', 'oldest']).optional(),
    ...page,
  }),
  run(
    { id, cancel, state, role, order, limit, cursor },
    { bus, caller },
  ): Promise<MessageStatus> | MessageStatus | RequestsPage {
    if (id === undefined && cancel) {
      throw new BusError('invalid-input', 'To cancel a request, name it.', {
        next: 'Give its `id`; status with state "pending" lists your open requests.',
      });
    }
    if (id === undefined) {
      return bus.progress.requests(caller, { role: role ?? 'sent', state, order: order ?? 'newest', limit, cursor });
    }
    if ([state, role, order, cursor].some((filter) => filter !== undefined)) {
      throw new BusError(
        'invalid-input',
        '`id` asks for one message; `state`, `role`, `order` and `cursor` are for the list.',
        {
          next: 'Give `id` alone, or leave it out to list requests.',
        },
      );
    }
    return cancel ? bus.cancel(caller, id) : bus.status(caller, id);
  },
  shown: (result) => ('answer' in result && result.answer ? [result.answer.id] : []),
  render: (result) => ('requests' in result ? pageText(result) : statusText(result)),
});

function pageText({ requests, next }: RequestsPage): string {
  const lines = requests.map((request) => {
    const to = request.to.length > 5 ? `${request.to.slice(0, 5).join(', ')} …` : request.to.join(', ');
    const note = request.note ? `: "${cleanLine(request.note, 200)}"` : '';
    const task = request.task ? `; ${taskText(request.task)}` : '';
    return `- ${request.id} ${request.state}${note}, ${request.from} to ${to}, ${request.sent_at}${task}: "${cleanLine(request.line, 100)}"`;
  });
  if (lines.length === 0) lines.push('None.');
  if (next) lines.push(`More: cursor "${next}".`);
  return lines.join('\n');
}

function statusText(result: MessageStatus): string {
  const lines = [`${result.id}, ${result.kind} from ${result.from}, stored ${result.sent_at}`];
  if (result.request) {
    const note = result.request.note ? `: "${cleanLine(result.request.note, 300)}"` : '';
    lines.push(`Request: ${result.request.state}${note}`);
  }
  if (result.task) lines.push(taskText(result.task));
  for (const recipient of result.recipients) {
    const steps = recipient.steps.map(stepText).join(' → ');
    lines.push(`- ${recipient.agent}: ${recipient.step}${steps ? ` (${steps})` : ''}`);
  }
  if (result.answer) lines.push('The answer:', messagesText([result.answer]));
  return lines.join('\n');
}

function stepText(step: ReceiptView): string {
  const by = step.route ? ` by ${step.route}` : '';
  const outcome = step.outcome ? ` ${step.outcome}` : '';
  const note = step.note ? ` "${cleanLine(step.note, 200)}"` : '';
  return `${step.step}${outcome}${by} ${step.at}${note}`;
}
