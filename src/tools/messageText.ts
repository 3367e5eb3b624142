import type { RemoteTaskView } from '../core/couriers.ts';
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

/** How far an agent elsewhere is, in its own words, which are peer text. */
export function taskText({ state, progress, updated_at }: RemoteTaskView): string {
  return `the agent says: ${cleanLine(state, 40)}${progress ? `, "${cleanLine(progress, 300)}"` : ''} (${updated_at})`;
}
