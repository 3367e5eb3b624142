/**
 * A hook's stdin and stdout, read and written as they are: the streams of `process` take longer to set up than a hook has to
 * say. Where a pipe can't be waited on this way, they stand in.
 */
import { readSync, writeSync } from 'node:fs';

const inputBytes = 16 * 1024 * 1024;

/** All of it is taken off the pipe, since whoever writes may not bear a closed one; too much of it counts as nothing. */
export async function readInput(): Promise<string> {
  const input = new Input();
  try {
    readAtOnce(input);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // So the end of a pipe is told on Windows.
    if (code === 'EOF') return input.text;
    if (code !== 'EAGAIN') return '';
    try {
      for await (const chunk of process.stdin as AsyncIterable<Buffer>) input.add(chunk);
    } catch {
      return '';
    }
  }
  return input.text;
}

class Input {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes <= inputBytes) this.chunks.push(chunk);
  }

  get text(): string {
    return this.bytes <= inputBytes ? Buffer.concat(this.chunks).toString('utf8') : '';
  }
}

function readAtOnce(input: Input): void {
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    const length = readSync(0, chunk);
    if (length === 0) return;
    input.add(chunk.subarray(0, length));
  }
}

/** Resolves when whoever reads us has been handed all of it; rejects if they have left. */
export async function writeOutput(text: string): Promise<void> {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    await new Promise<void>((resolve, reject) => {
      process.stdout.on('error', reject).write(rest, (failed) => (failed ? reject(failed) : resolve()));
    });
  }
}
