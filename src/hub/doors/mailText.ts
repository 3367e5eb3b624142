import type { MessageRecord } from '../../core/model.ts';
import { messageId } from '../../core/model.ts';
import type { Reads } from '../../core/ports.ts';
import { isoTime } from '../../core/views.ts';
import { encodeLetter } from '../../transports/agentTool/brokerReply.ts';

/** A message as a broker's reader gets it: its text unchanged, and below it what the protocol has no field for. */
export function mailText(reads: Reads, message: MessageRecord, from: string): { json: string; bytes: number } {
  const conversation = reads.conversation(message.conversation);
  const beside = [
    ...(conversation?.kind === 'channel' ? [`in ${conversation.key}`] : []),
    ...(message.options.length > 0 ? [`answers to choose from: ${JSON.stringify(message.options)}`] : []),
    ...(message.files.length > 0 ? [`files: ${JSON.stringify(message.files)}`] : []),
    ...(message.data === null ? [] : [`data: ${message.data}`]),
  ];
  const msg = [message.text, ...(beside.length > 0 ? ['', ...beside.map((line) => `[${line}]`)] : [])].join('\n');
  const id = messageId.format(message.seq);
  return encodeLetter(
    { from, msg, ts: isoTime(message.sentAt) },
    `…\n\n[Agent Bus: only the beginning of this message of ${msg.length} characters fits into a reply. ` +
      `The whole is on the bus: agent-bus show ${id} --raw]`,
  );
}
