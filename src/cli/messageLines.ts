import type { MessageView } from '../core/model.ts';
import { indented, visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

/** A message as the person reads it: our line about it first, all that came from the sender set in below. */
export function messageLines(message: MessageView): string {
  const about = [message.notice ? 'notice' : message.kind, ...(message.priority === 'urgent' ? ['urgent'] : [])].join(
    ', ',
  );
  const answers = message.reply_to ? ` to ${message.reply_to}` : '';
  const where = message.workspace ? ` (${visibleLine(message.workspace, 60)})` : '';
  const head = `${message.id}  ${message.from}${where} → ${toText(message.to)}  ${about}${answers}  ${shortTime(message.sent_at)}  in ${message.conversation}`;
  const extras = [
    ...(message.data === undefined ? [] : [`data: ${JSON.stringify(message.data)}`]),
    ...(message.files ?? []).map((file) => `file: ${visibleLine(file, 1_000)}`),
    ...(message.options
      ? [`answers to choose from: ${message.options.map((option) => visibleLine(option)).join(' | ')}`]
      : []),
    ...(message.expires_at ? [`expires ${shortTime(message.expires_at)}`] : []),
  ];
  return [head, indented(message.text), ...extras.map((line) => indented(line, '    · '))].join('\n');
}

export function messageList(messages: readonly MessageView[]): string {
  return messages.map(messageLines).join('\n\n');
}

export function toText(to: readonly string[]): string {
  return to.length <= 4 ? to.join(', ') : `${to.slice(0, 3).join(', ')} and ${to.length - 3} more`;
}
