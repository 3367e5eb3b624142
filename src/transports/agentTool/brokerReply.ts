/** The lines that agent-tool's broker answers with: keys in its order, empty fields left out. Without the newline. */
import { errorShape } from '../../core/errors.ts';
import { pairStart } from '../../core/text.ts';

/** A message as a reader gets it. */
export interface Letter {
  /** What a post back has to name in `to`. */
  from: string;
  msg: string;
  /** RFC 3339. */
  ts: string;
}

/** What a client looks for to know that a broker, and no other program, has the port. */
export const brokerMark = 'agent-tool-ipc-broker';

/** Clients give up on a line of 4 MiB; this leaves room for what stands around the letters. */
export const lettersBytes = 4 * 1_048_576 - 4_096;

export const queuedReply = '{"ok":true,"info":"queued"}';

export function statusReply(mailboxes: ReadonlyMap<string, number>): string {
  const names = [...mailboxes.keys()].map((name) => ({ name, bytes: Buffer.from(name) }));
  names.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  // Written by hand: an object would put names that look like numbers first.
  const counts = names.map(({ name }) => `${JSON.stringify(name)}:${mailboxes.get(name) ?? 0}`);
  const listed = counts.length > 0 ? `"mailboxes":{${counts.join(',')}},` : '';
  return `{"ok":true,${listed}"info":"${brokerMark}"}`;
}

/** Of letters that are JSON already. */
export function fetchReply(letters: readonly string[]): string {
  return letters.length > 0 ? `{"ok":true,"messages":[${letters.join(',')}]}` : '{"ok":true}';
}

export function waitReply(letter: string): string {
  return `{"ok":true,"message":${letter}}`;
}

/** What happened and what to do about it, in the one string that there is for it. */
export function errorReply(error: unknown): string {
  const { message, next } = errorShape(error);
  return JSON.stringify({ ok: false, error: `${message}${/[.!?]$/.test(message) ? '' : ';'} ${next}` });
}

/** A letter as JSON. One that would not fit into any reply is given as its beginning, with a note in place of the rest. */
export function encodeLetter(letter: Letter, note: string): { json: string; bytes: number } {
  const whole = jsonOf(letter);
  if (whole.bytes <= lettersBytes) return whole;
  // No character takes more than six bytes in JSON for each of its UTF-16 units.
  const room = Math.floor((lettersBytes - jsonOf({ ...letter, msg: note }).bytes) / 6);
  return jsonOf({ ...letter, msg: letter.msg.slice(0, pairStart(letter.msg, room)) + note });
}

function jsonOf({ from, msg, ts }: Letter): { json: string; bytes: number } {
  const json = JSON.stringify({ from, msg, ts });
  return { json, bytes: Buffer.byteLength(json) };
}
