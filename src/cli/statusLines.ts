import type { ToolOutput } from '../client/toolTypes.ts';
import type { RemoteTaskView } from '../core/couriers.ts';
import type { ReceiptView } from '../core/model.ts';
import type { MessageStatus, RequestSummary } from '../core/progress.ts';
import type { TellView } from '../core/tells.ts';
import { toText } from './messageLines.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

type AgentWatch = Extract<ToolOutput<'status'>, { idle: boolean }>;

/** How far a message got, one line for each recipient; or a page of requests. */
export function statusLines(status: ToolOutput<'status'>): string {
  if ('idle' in status) return watchLine(status);
  if (!('requests' in status)) return messageStatusLines(status);
  const { requests, next, tells } = status;
  return [
    ...(requests.length > 0 ? requests.map(requestLines) : ['No request of that kind.']),
    ...(next ? [`There are more: --cursor ${next}`] : []),
    ...(tells ?? []).map(tellLine),
  ].join('\n');
}

export function tellLine({ idle, ended, until }: TellView): string {
  return `to be told when ${idle === undefined ? `${ended} has ended` : `${idle} is idle`}, until ${shortTime(until)}`;
}

function watchLine({ agent, presence, idle, telling }: AgentWatch): string {
  if (idle) return `${agent} is idle now.`;
  return `${agent} is ${presence}. ${telling ? 'A notice comes to your inbox once it is idle.' : 'You will not be told when it is idle.'}`;
}

function messageStatusLines(status: MessageStatus & { tell_note?: string }): string {
  const note = status.request?.note ? ` (${visibleLine(status.request.note, 300)})` : '';
  const request = status.request ? [`request ${status.id} is ${status.request.state}${note}`] : [];
  const task = status.task && status.request?.state === 'pending' ? [taskLine(status.task)] : [];
  const answer = status.answer ? [`answered by ${status.answer.from}: agent-bus show ${status.answer.id}`] : [];
  const told = status.telling ? ['a notice comes to your inbox once it has ended'] : [];
  const untold = status.tell_note ? [status.tell_note] : [];
  return [...request, ...task, ...status.recipients.map(recipientLine), ...answer, ...told, ...untold].join('\n');
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
