import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import type { ReceiptView } from '../core/model.ts';
import { defineTool } from './defineTool.ts';
import { messagesText } from './messageText.ts';

export const status = defineTool({
  name: 'status',
  title: 'How far a message got',
  effect: 'changes',
  about:
    "For a message: which step it reached with each recipient and when (stored, offered, shown, acked, replied), and a request's state and answer. cancel ends your own pending request.",
  input: z.strictObject({ id: z.string().max(20), cancel: z.boolean().optional() }),
  run: ({ id, cancel }, { bus, caller }) => (cancel ? bus.cancel(caller, id) : bus.status(caller, id)),
  shown: (result) => (result.answer ? [result.answer.id] : []),
  render(result) {
    const lines = [`${result.id}, ${result.kind} from ${result.from}, stored ${result.sent_at}`];
    if (result.request) {
      const note = result.request.note ? `: "${cleanLine(result.request.note, 300)}"` : '';
      lines.push(`Request: ${result.request.state}${note}`);
    }
    for (const recipient of result.recipients) {
      const steps = recipient.steps.map(stepText).join(' → ');
      lines.push(`- ${recipient.agent}: ${recipient.step}${steps ? ` (${steps})` : ''}`);
    }
    if (result.answer) lines.push('The answer:', messagesText([result.answer]));
    return lines.join('\n');
  },
});

function stepText(step: ReceiptView): string {
  const by = step.route ? ` by ${step.route}` : '';
  const outcome = step.outcome ? ` ${step.outcome}` : '';
  const note = step.note ? ` "${cleanLine(step.note, 200)}"` : '';
  return `${step.step}${outcome}${by} ${step.at}${note}`;
}
