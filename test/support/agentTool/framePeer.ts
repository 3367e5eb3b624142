/** agent-tool's side of its point-to-point protocol on plain sockets: `send`, `ping` and the one-shot `receive`. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { until } from '../hubProcess.ts';

export const pingBytes = '000000000000';
export const pongBytes = '000100000000';

export function frame(type: number, payload: string | Uint8Array = ''): Buffer {
  const body = Buffer.from(payload as string);
  const head = Buffer.alloc(6);
  head.writeUInt16BE(type);
  head.writeUInt32BE(body.length, 2);
  return Buffer.concat([head, body]);
}

export const message = (text: string): Buffer => frame(2, text);

/** A connection, with all that came over it. */
export class FramePeer {
  readonly socket: Socket;
  received: Buffer = Buffer.alloc(0);
  /** How it ended: closed in order or reset; undefined while it is open. */
  end: 'closed' | 'reset' | undefined;
  private taken = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => (this.received = Buffer.concat([this.received, chunk])));
    socket.on('end', () => (this.end ??= 'closed'));
    socket.on('error', () => (this.end = 'reset'));
    socket.on('close', () => (this.end ??= 'closed'));
  }

  static async connect(port: number, host = '127.0.0.1', localAddress?: string): Promise<FramePeer> {
    const socket = connect({ port, host, ...(localAddress !== undefined && { localAddress }) });
    await once(socket, 'connect');
    return new FramePeer(socket);
  }

  /** The local port, which is how the other side sees this one. */
  get port(): number {
    return this.socket.localPort ?? 0;
  }

  /** Resolves when the bytes were handed to the system: all that agent-tool's `send` waits for. */
  async write(bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()));
  }

  send(text: string): Promise<void> {
    return this.write(message(text));
  }

  async ping(): Promise<void> {
    await this.write(frame(0));
    const answer = await this.next();
    if (answer.type !== 1) throw new Error(`expected PONG, got ${answer.type}`);
  }

  /** The next frame that comes. */
  async next(): Promise<{ type: number; text: string }> {
    return until('a frame came', () => {
      const rest = this.received.subarray(this.taken);
      if (rest.length < 6 || rest.length < 6 + rest.readUInt32BE(2)) {
        if (this.end) throw new Error(`the connection is ${this.end}`);
        return undefined;
      }
      const end = 6 + rest.readUInt32BE(2);
      this.taken += end;
      return { type: rest.readUInt16BE(0), text: rest.toString('utf8', 6, end) };
    });
  }

  gone(): Promise<'closed' | 'reset'> {
    return until('the connection is gone', () => this.end);
  }

  close(): void {
    this.socket.destroy();
  }
}

/** A port with a listener that takes one connection and then listens no more, as `receive` does. */
export class OneShotReceiver {
  readonly port: number;
  private readonly server: Server;
  private peer: FramePeer | undefined;

  private constructor(server: Server) {
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
    server.once('connection', (socket) => {
      server.close();
      this.peer = new FramePeer(socket);
    });
  }

  static async listen(port = 0): Promise<OneShotReceiver> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new OneShotReceiver(server);
  }

  get address(): string {
    return `tcp://127.0.0.1:${this.port}`;
  }

  /** The connection that came. */
  connection(): Promise<FramePeer> {
    return until('somebody connected', () => this.peer);
  }

  /** Answers PING until a MESSAGE comes; the connection stays open afterwards, as in agent-tool's pool. */
  async receive(): Promise<string> {
    const peer = await this.connection();
    for (;;) {
      const { type, text } = await peer.next();
      if (type === 0) await peer.write(frame(1));
      else if (type === 2) return text;
    }
  }

  close(): void {
    this.server.close();
    this.peer?.close();
  }
}

/** A port of this machine at which nobody listens. */
export async function quietPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
