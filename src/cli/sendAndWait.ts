import { randomBytes } from 'node:crypto';
import type { ToolInput, ToolOutput } from '../client/toolTypes.ts';
import { limits } from '../core/limits.ts';
import type { ReceiptView } from '../core/model.ts';
import { outlookText } from '../tools/outlookText.ts';
import type { Invocation } from './command.ts';
import { ExitCode } from './exitCode.ts';
import { messageLines, toText } from './messageLines.ts';
import { Session, type Answer } from './session.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

type Sent = ToolOutput<'send'>;
type StepWords = Partial<Record<ReceiptView['step'], string>>;

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
  if (reachedNobody(answer.data)) return ExitCode.failure;
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
  const note = sent.note ? ` (${visibleLine(sent.note, 300)})` : '';
  if (sent.answer) {
    // What came back may be the reason why there is no answer.
    if (sent.request === 'failed') lines.push(`The request failed${note}.`);
    return [...lines, '', messageLines(sent.answer)].join('\n');
  }
  if (sent.notice) {
    lines.push(`The request is ${sent.request ?? 'over'}${note}.`);
    return [...lines, '', messageLines(sent.notice)].join('\n');
  }
  lines.push(...sent.recipients.map(recipientLine));
  if (sent.request === 'pending') {
    const wayBack = sent.recipients.every(isTcp)
      ? 'agent-tool brings none back, one can only come as a message of its own.'
      : 'it will come to your inbox.';
    lines.push(`No answer yet${note}: ${wayBack} How far it got: agent-bus show ${sent.id}`);
  } else if (sent.request) lines.push(`The request is ${sent.request}${note}.`);
  return lines.join('\n');
}

/** Whoever is no client of this bus was tried at once, and how that went is known. */
function recipientLine({ agent, step, note, ...outlook }: Sent['recipients'][number]): string {
  const { reach, last_seen } = outlook;
  if (step !== undefined) {
    const how = (isTcp({ reach }) ? tcpWords[step] : undefined) ?? stepWords[step] ?? step;
    return `  ${agent}: ${how}${note ? ` (${visibleLine(note, 300)})` : ''}`;
  }
  const seen = { ...outlook, ...(last_seen !== undefined && { last_seen: shortTime(last_seen) }) };
  return `  ${agent} ${visibleLine(outlookText(seen), 400)}`;
}

/** agent-tool's frames are a way out and no way back. */
function isTcp({ reach }: Pick<Sent['recipients'][number], 'reach'>): boolean {
  return reach[0]?.startsWith('TCP') ?? false;
}

const tcpWords: StepWords = {
  offered: 'the bytes were taken; this wire tells no more',
  held: 'not delivered yet, to be tried again',
};

const stepWords: StepWords = {
  stored: 'stored, not handed over yet',
  offered: 'on its way',
  shown: 'the agent there has it',
  held: 'not delivered yet',
  undeliverable: 'could not be delivered',
};

/** Every one of them is beyond reach for good. */
function reachedNobody({ to, recipients }: Sent): boolean {
  return to.length === recipients.length && recipients.every(({ step }) => step === 'undeliverable');
}
