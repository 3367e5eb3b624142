import type { ToolOutput } from '../client/toolTypes.ts';
import type { ReceiptView } from '../core/model.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

/** How far a message got, one line for each recipient. */
export function statusLines(status: ToolOutput<'status'>): string {
  const note = status.request?.note ? ` (${visibleLine(status.request.note, 300)})` : '';
  const request = status.request ? [`request ${status.id} is ${status.request.state}${note}`] : [];
  const answer = status.answer ? [`answered by ${status.answer.from}: agent-bus show ${status.answer.id}`] : [];
  return [...request, ...status.recipients.map(recipientLine), ...answer].join('\n');
}

function recipientLine({ agent, step, steps }: ToolOutput<'status'>['recipients'][number]): string {
  return `${agent}: ${step}${steps.length > 0 ? ` (${steps.map(stepText).join(', ')})` : ''}`;
}

function stepText(step: ReceiptView): string {
  const note = step.note ? ` "${visibleLine(step.note, 200)}"` : '';
  return `${step.step}${step.outcome ? ` ${step.outcome}` : ''} ${shortTime(step.at)}${note}`;
}
