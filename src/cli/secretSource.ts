import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { usageError } from './usageError.ts';

const mostBytes = 8_192;

/**
 * A secret from a file, from stdin ("-") or from the environment ("env:NAME"). Never from the command line itself: that
 * stays in the shell's history, and every user of the machine can see it while the command runs.
 */
export async function secretFrom(source: string, option: string): Promise<string> {
  const text = await read(source, option);
  const where = source === '-' ? 'stdin' : source.startsWith('env:') ? 'the environment' : 'the file';
  // A file that an editor or `echo` made ends with a line end that is no part of the secret.
  const secret = text.replace(/\r?\n$/, '');
  if (secret.trim() === '') {
    throw usageError(`What came from ${where} is empty.`, `Nothing was added. --${option} needs a secret.`);
  }
  if (/[^\x20-\x7E]/.test(secret)) {
    throw usageError(
      `What came from ${where} can't be a secret: it has several lines or unusual characters.`,
      'Nothing was added. Give nothing but the secret, on one line.',
    );
  }
  return secret;
}

async function read(source: string, option: string): Promise<string> {
  if (source.startsWith('env:')) {
    const value = process.env[source.slice('env:'.length)];
    if (value !== undefined) return value;
    throw usageError(
      `There is no variable ${source.slice('env:'.length, 64)} in the environment.`,
      'Nothing was added.',
    );
  }
  if (source === '-' && process.stdin.isTTY) return ask();
  try {
    return await collect(source === '-' ? process.stdin : createReadStream(source));
  } catch (error) {
    // Somebody may have given the secret itself: it is not repeated.
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageError(
      `What --${option} names can't be read: ${code === 'ENOENT' ? 'there is no such file' : (code ?? message)}.`,
      `Nothing was added. --${option} takes a file, "-" for stdin, or env:NAME; never the secret itself.`,
    );
  }
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** At a terminal the secret is asked for and not shown while it is typed. */
async function ask(): Promise<string> {
  process.stderr.write('Secret (not shown while you type): ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
