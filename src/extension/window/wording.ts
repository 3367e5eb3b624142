/** What the person is told and asked in notifications. Names and texts of agents go through `plainLine`. */
import type { AskParams, Verdict, WakeParams } from '../../protocol/reachMessages.ts';
import { placeName, plainLine } from './plainLine.ts';

export interface Question {
  text: string;
  answers: Record<string, Verdict>;
}

export function question(params: AskParams): Question {
  const from = naming(params.from);
  const to = naming(params.to);
  const line = `“${plainLine(params.message.line)}”`;
  const more = params.waiting > 1 ? `, and ${params.waiting - 1} more` : '';
  if (params.kind === 'hops') {
    return {
      text: `${from} and ${to} have answered each other ${params.hops} times in a row without you. Next: ${line}${more}. Shall they go on?`,
      answers: { Continue: 'once', Stop: 'never' },
    };
  }
  const here = placeName(params.to.workspace) ?? 'this workspace';
  const there = placeName(params.from.workspace) ?? 'no workspace';
  return {
    text: `${from} wants to wake ${to}: ${line}${more}. May agents of ${there} start turns of agents in ${here}?`,
    answers: { 'Allow once': 'once', 'Always allow': 'always', Never: 'never' },
  };
}

export function waitingText(
  { ids, agent, by }: Pick<WakeParams, 'ids' | 'agent' | 'by'>,
  sender: string | undefined,
): string {
  const from = sender === undefined ? '' : ` from ${plainLine(sender, 40)}`;
  const what = ids.length === 1 ? 'A message' : `${ids.length} messages`;
  const waits = ids.length === 1 ? 'waits' : 'wait';
  const name = plainLine(agent, 40);
  if (by === undefined) return `${what}${from} ${waits} for Copilot (${name}).`;
  return `${what}${from} ${waits} for ${name}, which is idle in a terminal and can’t be woken from here. It hears of it with your next prompt there.`;
}

function naming({ agent, workspace }: AskParams['from']): string {
  const place = placeName(workspace);
  return place === undefined ? plainLine(agent, 40) : `${plainLine(agent, 40)} (workspace ${place})`;
}
