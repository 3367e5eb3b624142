import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Invocation } from './command.ts';
import { usageError } from './usageError.ts';

/** The text to send, byte for byte: an argument as it is, stdin or a file without touching a single line end. */
export async function messageText(
  invocation: Pick<Invocation, 'args' | 'literalFrom'>,
  position: number,
  file: string | undefined,
): Promise<string> {
  const { args, literalFrom } = invocation;
  const given = args[position];
  if (given !== undefined && file !== undefined) {
    throw usageError('There are two texts: an argument and --file.', 'Give one of them.');
  }
  if (file !== undefined) return decode(await read(createReadStream(file), file), file);
  if (given === undefined) {
    throw usageError('There is no text to send.', 'Give it in quotes, or "-" to read it from stdin, or --file PATH.');
  }
  if (given !== '-' || position >= literalFrom) return given;
  return decode(await read(process.stdin, 'stdin'), 'stdin');
}

async function read(stream: AsyncIterable<Buffer>, source: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limits.textBytes) throw tooLarge(source);
    }
  } catch (error) {
    if (error instanceof BusError) throw error;
    throw usageError(`${source} can't be read: ${(error as Error).message}.`, 'Nothing was sent. Check the path.');
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, source: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw usageError(
    `What came from ${source} is not UTF-8.`,
    'Nothing was sent. Send text; put other data into a file and --attach its path.',
  );
}

function tooLarge(source: string): BusError {
  return new BusError('too-large', `What came from ${source} is larger than ${limits.textBytes} bytes.`, {
    next: 'Nothing was sent. Split it, or --attach the path of a file.',
  });
}
