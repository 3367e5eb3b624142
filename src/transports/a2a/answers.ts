/** Writing answers of the A2A door: whole ones and streams, and knowing when they have really left. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Beat } from '../mcp/beat.ts';

/** Aborted when the client leaves before it has the whole answer. */
export function leavingSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

export function answerJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  { type = 'application/json', headers = {}, handedOver }: AnswerOptions = {},
): void {
  const text = JSON.stringify(body);
  const { socket } = res;
  // First in line: Node's own listener may destroy the socket, and a destroyed one says 'finish' as well.
  if (handedOver) {
    res.prependListener('finish', () => {
      if (socket && !socket.destroyed) handedOver();
    });
  }
  res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers });
  res.end(text);
}

interface AnswerOptions {
  type?: string;
  headers?: Record<string, string>;
  /** Runs once the last byte went out to a client that was still there. */
  handedOver?: () => void;
}

/** An event, and what to do once it went out. */
export interface StreamItem {
  event: unknown;
  handedOver: () => void;
}

/**
 * Server-sent events. Nothing is written before the first event is there, so that an error before it can be an answer
 * of its own; a slow reader holds the stream up and not our memory.
 */
export async function answerStream(
  res: ServerResponse,
  items: AsyncGenerator<StreamItem, void, undefined>,
  beat: Beat,
  errors: { early: (error: unknown) => void; late: (error: unknown) => unknown },
): Promise<void> {
  let first;
  try {
    first = await items.next();
  } catch (error) {
    return errors.early(error);
  }
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  // Between events something passes now and then, so that nobody on the way takes the silence for the end.
  const quiet = beat.add(() => {
    if (!res.writableNeedDrain) res.write(': still working\n\n');
  });
  try {
    for (let next = first; !next.done && !res.destroyed; next = await items.next()) {
      await write(res, `data: ${JSON.stringify(next.value.event)}\n\n`, next.value.handedOver);
    }
  } catch (error) {
    await write(res, `event: error\ndata: ${JSON.stringify(errors.late(error))}\n\n`);
  } finally {
    quiet();
    await items.return();
    res.end();
  }
}

async function write(res: ServerResponse, text: string, handedOver?: () => void): Promise<void> {
  const hasRoom = res.write(text, (error) => {
    if (!error && !res.destroyed) handedOver?.();
  });
  if (hasRoom || res.destroyed) return;
  await new Promise<void>((resolve) => {
    const over = (): void => {
      res.off('drain', over).off('close', over);
      resolve();
    };
    res.on('drain', over).on('close', over);
  });
}

/** One value, also where a header came more than once. */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
