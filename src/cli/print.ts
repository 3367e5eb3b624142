import { BusError, type ErrorShape } from '../core/errors.ts';
import { cliAdvice } from './cliAdvice.ts';
import { visibleLine } from './terminalText.ts';

/** Resolves when it has been handed to whoever reads us, so that a message counts as shown only then. */
export function print(text: string | Uint8Array, stream: NodeJS.WriteStream = process.stdout): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

export function printLine(text: string): Promise<void> {
  return print(`${text}\n`);
}

export function printJson(value: unknown): Promise<void> {
  return print(`${safeJson(value)}\n`);
}

export function printError(error: unknown, json: boolean): Promise<void> {
  const shape = error instanceof BusError ? error.toShape() : ownFault(error);
  const next = cliAdvice(shape.next);
  if (json) return print(`${safeJson({ error: { ...shape, next } })}\n`, process.stderr);
  const lines = [`agent-bus: ${visibleLine(shape.message, 1_000)}`, `${visibleLine(next, 1_000)} (${shape.code})`];
  return print(`${lines.join('\n')}\n`, process.stderr);
}

// JSON may hold these as they are, but a terminal would obey them; escaped they mean the same.
const obeyed = /[\x7F-\x9F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    obeyed,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Here it was this program that failed, not the hub, and its reader is the one who can look into it. */
function ownFault(error: unknown): ErrorShape {
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message, next: 'Try again; if it stays so, please report it.' };
}
