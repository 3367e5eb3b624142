import { cleanLine, fence, fenceNote } from '../core/envelope.ts';
import type { MessageView } from '../core/model.ts';
import type { Reminder } from '../core/reading.ts';
import { excerptLength } from './schemas.ts';

/** Messages as a model reads them: the note once, then each in its fence. */
export function messagesText(messages: readonly MessageView[]): string {
  return [fenceNote, ...messages.map((message) => fence(message, { excerpt: excerptLength }))].join('\n');
}

export function reminderText(reminder: Reminder): string {
  return `${reminder.id} from ${reminder.from}: "${cleanLine(reminder.line, 100)}"`;
}
