import type { ToolOutput } from '../client/toolTypes.ts';
import type { RemoteTaskView } from '../core/couriers.ts';
import type { ReceiptView } from '../core/model.ts';
import type { MessageStatus, RequestSummary } from '../core/progress.ts';
import { toText } from './messageLines.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

/** How far a message got, one line for each recipient; or a page of requests. */
export function statusLines(status: ToolOutput<'status'>): string {
  if (!('requests' in status)) return messageStatusLines(status);
  const { requests, next } = status;
  if (requests.length === 0) return 'No request of that kind.';
  return [...requests.map(requestLines), ...(next ? [`There are more: --cursor ${next}`] : [])].join('\n');
}

function messageStatusLines(status: MessageStatus): string {
  const note = status.request?.note ? ` (${visibleLine(status.request.note, 300)})` : '';
  const request = status.request ? [`request ${status.id} is ${status.request.state}${note}`] : [];
  const task = status.task && status.request?.state === 'pending' ? [taskLine(status.task)] : [];
  const answer = status.answer ? [`answered by ${status.answer.from}: agent-bus show ${status.answer.id}`] : [];
  return [...request, ...task, ...status.recipients.map(recipientLine), ...answer].join('\n');
}

function requestLines({ id, from, to, line, sent_at, state, ended_at, note, task }: RequestSummary): string {
  const ended = ended_at ? ` ${shortTime(ended_at)}` : '';
  const why = note ? ` (${visibleLine(note, 200)})` : '';
  return [
    `${id}  ${state}${ended}${why}  ${from} → ${toText(to)}  ${shortTime(sent_at)}`,
    `    ${visibleLine(line, 100)}`,
    ...(task && state === 'pending' ? [`    · ${taskLine(task)}`] : []),
  ].join('\n');
}

/** In the other side's own words, so nobody takes them for ours. */
function taskLine({ state, progress, updated_at }: RemoteTaskView): string {
  const said = progress ? `, "${visibleLine(progress, 200)}"` : '';
  return `the agent there says: ${visibleLine(state, 40)}${said} (${shortTime(updated_at)})`;
}

function recipientLine({ agent, step, steps }: MessageStatus['recipients'][number]): string {
  return `${agent}: ${step}${steps.length > 0 ? ` (${steps.map(stepText).join(', ')})` : ''}`;
}

function stepText(step: ReceiptView): string {
  const note = step.note ? ` "${visibleLine(step.note, 200)}"` : '';
  const by = step.route ? ` by ${step.route}` : '';
  return `${step.step}${step.outcome ? ` ${step.outcome}` : ''}${by} ${shortTime(step.at)}${note}`;
}
