import { connect, type Socket } from 'node:net';
import { BusError } from '../../core/errors.ts';
import { encodeFrame, FrameReader, FrameType } from './frames.ts';
import { isLoopback } from './peerAddresses.ts';

/** An address that was looked up and may be connected to. */
export interface Destination {
  ip: string;
  port: number;
  /** As the person wrote it, for texts. */
  shown: string;
}

const connectMs = 5_000;
const pongMs = 5_000;
const takeMs = 10_000;

/** How long a peer that has died is given to show it. Here its reset comes at once; elsewhere it has to travel. */
const resetMs = (ip: string): number => (isLoopback(ip) ? 250 : 2_000);

/** Whether an agent-tool session answers there. */
export async function pingPeer(to: Destination, signal: AbortSignal): Promise<void> {
  await call(to, (line) => line.greet(signal));
}

/**
 * Gives a message to a session that waits in `receive`. Such a session takes one connection only, so that the question
 * whether it is there and the message go over the same one. Resolves when the bytes were taken: nothing more is known.
 * The signal counts until the message is begun; a message that is begun is seen to its end.
 */
export async function sendMessage(to: Destination, text: string, signal: AbortSignal): Promise<void> {
  const message = encodeFrame(FrameType.message, Buffer.from(text));
  await call(to, async (line) => {
    await line.greet(signal);
    await line.give(message);
  });
}

async function call(to: Destination, talk: (line: Line) => Promise<void>): Promise<void> {
  const line = new Line(to);
  try {
    await talk(line);
  } catch (error) {
    line.cut();
    throw error;
  }
  line.hangUp();
}

/** One outgoing connection. Whatever happens on it is noted, and whoever waits looks again. */
class Line {
  private readonly to: Destination;
  private readonly socket: Socket;
  private readonly reader = new FrameReader();
  private connected = false;
  private ponged = false;
  private ended = false;
  private fault: BusError | undefined;
  private look: () => void = () => undefined;

  constructor(to: Destination) {
    this.to = to;
    this.socket = connect({ host: to.ip, port: to.port, noDelay: true, allowHalfOpen: true });
    this.socket.on('connect', () => {
      this.connected = true;
      this.look();
    });
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('end', () => {
      this.ended = true;
      this.look();
    });
    this.socket.on('error', (error) => this.fail(unreachable(to, error)));
  }

  /** Connects, asks with PING and waits for PONG. */
  async greet(signal: AbortSignal): Promise<void> {
    const giveUp = (): void => this.fail(silent(this.to, 'nobody answered in time'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      if (!(await this.until(() => this.connected, connectMs))) throw silent(this.to, 'nobody took the connection');
      this.socket.write(encodeFrame(FrameType.ping));
      if (!(await this.until(() => this.ponged || this.ended, pongMs))) throw silent(this.to, 'PING got no PONG');
      if (this.ended) throw silent(this.to, 'the connection was closed');
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async give(frame: Buffer): Promise<void> {
    await this.write(frame);
    await this.until(() => this.ended, resetMs(this.to.ip));
    if (!this.ended) return;
    // It hung up: after the message, or before it came. In the second case its side has answered the message with a
    // reset, which shows only when something is written once more.
    await this.until(() => false, resetMs(this.to.ip) / 10);
    await this.write(encodeFrame(FrameType.ping));
  }

  hangUp(): void {
    this.socket.end();
    this.socket.destroySoon();
  }

  /** What is still on its way must not arrive. */
  cut(): void {
    if (this.connected) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  private async write(frame: Buffer): Promise<void> {
    let written = false;
    this.socket.write(frame, (error) => {
      written = !error;
      this.look();
    });
    if (!(await this.until(() => written, takeMs))) throw silent(this.to, 'the message was not taken');
  }

  private read(chunk: Buffer): void {
    try {
      this.reader.push(chunk);
      for (let frame = this.reader.next(); frame; frame = this.reader.next()) {
        if (frame.type === FrameType.pong) this.ponged = true;
      }
      this.look();
    } catch {
      this.fail(silent(this.to, 'what came back is not agent-tool’s protocol'));
    }
  }

  private fail(fault: BusError): void {
    this.fault ??= fault;
    this.look();
  }

  /** True when it is so, false when the time is over; a connection that fails rejects. */
  private until(isSo: () => boolean, ms: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const settle = (done: () => void): void => {
        clearTimeout(timer);
        this.look = () => undefined;
        done();
      };
      const timer = setTimeout(() => settle(() => resolve(false)), ms);
      this.look = () => {
        const { fault } = this;
        if (fault) settle(() => reject(fault));
        else if (isSo()) settle(() => resolve(true));
      };
      this.look();
    });
  }
}

function unreachable({ shown }: Destination, error: NodeJS.ErrnoException): BusError {
  const what: Record<string, string> = {
    ECONNREFUSED: `Nobody listens at ${shown}.`,
    ECONNRESET: `The connection to ${shown} was reset.`,
    EPIPE: `The connection to ${shown} was reset.`,
  };
  return new BusError(
    'unreachable',
    what[error.code ?? ''] ?? `${shown} can’t be reached (${error.code ?? 'error'}).`,
    {
      next: 'Let the session there call ipc with operation "receive" on that port, then try again.',
      cause: error,
    },
  );
}

function silent({ shown }: Destination, why: string): BusError {
  return new BusError('unreachable', `No agent-tool session answers at ${shown}: ${why}.`, {
    next: 'Check that this is the port of a session that waits in ipc "receive".',
  });
}
