import { cleanLine, fence, fenceNote, fitsExcerpt } from './envelope.ts';
import type { MessageView } from './model.ts';

/** What one submitted turn, or one held-up end of a turn, carries. */
export const pushBudget = { messages: 5, length: 8_000 } as const;

/** What a wake is recognised by in the prompt that it became. */
const tokenForm = /(?<![A-Za-z0-9_-])wake-[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])/g;

export interface Push {
  text: string;
  /** The messages whose whole text is in it. */
  whole: string[];
}

/** The prompt of a turn that is submitted for these messages. The first line is what a person sees in lists. */
export function wakePrompt(reader: string, messages: readonly MessageView[], token: string, more: number): Push {
  const { text, whole } = fenced(messages, more);
  return {
    text: [heading(messages), '', text, '', howToAnswer(reader, messages), `(${token})`].join('\n'),
    whole,
  };
}

/**
 * One line that points to the inbox, for ways that put it there as if the person had typed it: no text of others, which
 * a model might take for the person's wish.
 */
export function wakeLine(_reader: string, messages: readonly MessageView[], token: string, more: number): Push {
  const count = messages.length + more;
  const what = count === 1 ? '1 message waits for you' : `${count} messages wait for you`;
  const then = messages.every(({ notice }) => notice) ? '' : ', then answer';
  const text = `[Agent Bus] ${what}, from ${senders(messages, senderName)}: read with the bus tool inbox${then}. (${token})`;
  return { text, whole: [] };
}

/** Why a turn must not end yet. */
export function stopReason(reader: string, messages: readonly MessageView[], more: number): Push {
  const { text, whole } = fenced(messages, more);
  return { text: ['Before you end: this waits for you.', text, '', howToAnswer(reader, messages)].join('\n'), whole };
}

/** The tokens that stand in a prompt; whether they mean anything is for those who gave them out to say. */
export function wakeTokens(prompt: string): string[] {
  return [...new Set(prompt.match(tokenForm) ?? [])].slice(0, 20);
}

function fenced(messages: readonly MessageView[], more: number): Push {
  const lines = messages.map((message) => fence(message, { excerpt: pushBudget.length, brief: true }));
  if (more > 0) lines.push(`${more} more ${more === 1 ? 'waits' : 'wait'}: call inbox.`);
  return {
    text: [fenceNote, ...lines].join('\n'),
    whole: messages.filter((message) => fitsExcerpt(message, pushBudget.length)).map(({ id }) => id),
  };
}

function heading(messages: readonly MessageView[]): string {
  const named = senders(messages, sender);
  if (messages.every(({ notice }) => notice))
    return messages.length === 1 ? 'A notice of Agent Bus' : 'Notices of Agent Bus';
  if (messages.length === 1) return `${isAnswer(messages[0]) ? 'Answer' : 'Message'} from ${named} via Agent Bus`;
  return `${messages.length} messages from ${named} via Agent Bus`;
}

function senders(messages: readonly MessageView[], named: (message: MessageView) => string): string {
  const all = [...new Map(messages.map((message) => [message.from, named(message)])).values()];
  return all.slice(0, 3).join(', ') + (all.length > 3 ? ' and others' : '');
}

function senderName({ from, notice }: MessageView): string {
  if (notice) return 'the bus itself';
  return from === 'person' ? 'the person' : cleanLine(from, 60);
}

function sender(message: MessageView): string {
  const { from, workspace } = message;
  return senderName(message) + (from !== 'person' && workspace ? ` (${cleanLine(workspace, 60)})` : '');
}

function howToAnswer(reader: string, messages: readonly MessageView[]): string {
  const ids = messages.filter((message) => !isAnswer(message) && !message.notice).map(({ id }) => `"${id}"`);
  const notices = messages.filter(({ notice }) => notice).map(({ id }) => id);
  const asked = messages.filter(isAnswer).map(({ reply_to }) => reply_to ?? '');
  return [
    `You are "${cleanLine(reader, 60)}".`,
    ...(asked.length > 0
      ? [`What you had asked (${asked.join(', ')}) is answered here: go on with what you needed it for.`]
      : []),
    ...(notices.length > 0
      ? [
          `${notices.join(', ')} ${notices.length === 1 ? 'is' : 'are'} from the bus itself: decide what to do about it; nobody reads an answer.`,
        ]
      : []),
    ...(ids.length > 0
      ? [`Answer with the bus tool send (reply_to ${ids.join(' or ')}; text), or ack with a note.`]
      : []),
  ].join(' ');
}

function isAnswer(message: MessageView | undefined): boolean {
  return message?.kind === 'reply';
}
