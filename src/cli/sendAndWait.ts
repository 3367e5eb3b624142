import { randomBytes } from 'node:crypto';
import type { ToolInput, ToolOutput } from '../client/toolTypes.ts';
import { limits } from '../core/limits.ts';
import type { Invocation } from './command.ts';
import { ExitCode } from './exitCode.ts';
import { messageLines, toText } from './messageLines.ts';
import { Session, type Answer } from './session.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

type Sent = ToolOutput<'send'>;

/**
 * Sends, and waits for the answer if that is wanted. One call waits only so long, so the same message is sent again with
 * the same key: nothing is sent twice, and the hub goes on waiting, also after it was restarted.
 */
export async function sendAndWait(
  invocation: Invocation,
  message: ToolInput<'send'>,
  waitSeconds: number,
): Promise<ExitCode> {
  const deadline = performance.now() + waitSeconds * 1000;
  const session = await Session.open(invocation, { reconnect: true });
  const keyed = { ...message, key: message.key ?? `cli-${randomBytes(12).toString('base64url')}` };
  const ask = (): Promise<Answer<'send'>> => {
    const left = Math.max(0, (deadline - performance.now()) / 1000);
    return session.ask('send', { ...keyed, wait_seconds: Math.min(left, limits.waitSeconds) });
  };
  const first = await ask();
  // Without a time to wait the hub would take the repetition for another kind of message.
  keyed.kind = first.data.kind;
  let answer = first;
  while (answer.data.request === 'pending' && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    answer = await ask();
  }
  // With a key of our own every repetition was ours: whoever sent once shall not read that it was sent before.
  const repeated = first.data.duplicate && message.key !== undefined;
  await session.tell(repeated ? answer : asFirst(answer), sentLines);
  if (waitSeconds <= 0 || answer.data.request === undefined || answer.data.request === 'answered') return ExitCode.ok;
  return answer.data.request === 'pending' ? ExitCode.nothing : ExitCode.failure;
}

function asFirst(answer: Answer<'send'>): Answer<'send'> {
  const { duplicate: _, ...data } = answer.data;
  return { ...answer, data, text: answer.text?.replace(/^Already sent as/, 'Stored as') };
}

function sentLines(sent: Sent): string {
  const lines = [
    `${sent.duplicate ? 'Sent before as' : 'Sent as'} ${sent.id} to ${toText(sent.to)}, in ${sent.conversation}.`,
  ];
  if (sent.answer) return [...lines, '', messageLines(sent.answer)].join('\n');
  for (const { agent, presence, reach, last_seen } of sent.recipients) {
    const since = last_seen ? ` since ${shortTime(last_seen)}` : '';
    lines.push(`  ${agent} is ${presence}${since}; hears by ${reach.join(', then ')}`);
  }
  const note = sent.note ? ` (${visibleLine(sent.note, 300)})` : '';
  if (sent.request === 'pending') {
    lines.push(`No answer yet${note}: it will come to your inbox. How far it got: agent-bus show ${sent.id}`);
  } else if (sent.request) lines.push(`The request is ${sent.request}${note}.`);
  return lines.join('\n');
}
