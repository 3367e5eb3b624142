/** The body of a request that the guard has let in: bounded in size and depth, UTF-8, JSON. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { parseJson } from '../protocol/depth.ts';

/** A text of 1 MiB made of control characters is 6 MiB once JSON has escaped it. */
export const bodyBytes = 8 * 1_048_576;
/** The data of a message may use its full depth inside the protocol's own wrapping. */
export const bodyDepth = limits.jsonDepth + 8;

/** The request went away before its body was complete: nobody is left to answer. */
export class RequestGone extends Error {}

/**
 * Chunks past the limit are never kept. How long a body may take is the server's requestTimeout: it destroys the
 * request, which ends the reading here too.
 */
export async function readBody(req: IncomingMessage, { mayBeEmpty = false } = {}): Promise<unknown> {
  const bytes = await collect(req);
  return mayBeEmpty && bytes.length === 0 ? undefined : parseBody(bytes);
}

export function parseBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new BusError('invalid-input', 'The body is not UTF-8.', { next: 'Send JSON in UTF-8.' });
  return parseJson(bytes.toString('utf8'), bodyDepth);
}

function collect(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= bodyBytes) return void chunks.push(chunk);
      settle();
      reject(
        new BusError('too-large', `The body is larger than ${bodyBytes} bytes.`, {
          next: 'Send less, or name a file.',
        }),
      );
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    };
    const onGone = (): void => {
      settle();
      reject(new RequestGone('the request ended before its body'));
    };
    const settle = (): void => {
      req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
    };
    req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}
