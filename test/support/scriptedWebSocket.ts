/** The other side of a WebSocket on a Unix socket, byte for byte as the test wants it. */
import { createHash } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';

export interface Scripted {
  /** What it says to the request for an upgrade; a good answer unless told. Undefined: nothing at all. */
  greet?: (good: string) => string | undefined;
  /** Each whole text that comes in. */
  onText?: (text: string, socket: ScriptedWebSocket) => void;
}

export class ScriptedWebSocket {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** Opcode and body of everything that came in. */
  readonly frames: { code: number; masked: boolean; body: Buffer }[] = [];
  opened = 0;

  private constructor(scripted: Scripted) {
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
      let received = Buffer.alloc(0);
      let isUp = false;
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (!isUp) {
          const end = received.indexOf('\r\n\r\n');
          if (end < 0) return;
          const key = /sec-websocket-key: (.+)\r\n/i.exec(received.toString('latin1'))?.[1] ?? '';
          received = received.subarray(end + 4);
          const said = (scripted.greet ?? ((good) => good))(greeting(key));
          if (said !== undefined) socket.write(said);
          isUp = true;
          this.opened++;
        }
        received = this.take(received, scripted);
      });
    });
  }

  static async listen(path: string, scripted: Scripted = {}): Promise<ScriptedWebSocket> {
    const one = new ScriptedWebSocket(scripted);
    await new Promise<void>((resolve) => one.server.listen(path, resolve));
    return one;
  }

  say(text: string): void {
    this.write(frame(0x81, Buffer.from(text)));
  }

  write(bytes: Buffer): void {
    for (const socket of this.sockets) socket.write(bytes);
  }

  /** Cuts everybody off. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take(bytes: Buffer, { onText }: Scripted): Buffer<ArrayBuffer> {
    let left = Buffer.from(bytes);
    for (;;) {
      const [first = 0, second = 0] = left;
      const short = second & 127;
      const head = (short < 126 ? 2 : short === 126 ? 4 : 10) + (second & 128 ? 4 : 0);
      if (left.length < Math.max(2, head)) return left;
      const size = short < 126 ? short : short === 126 ? left.readUInt16BE(2) : Number(left.readBigUInt64BE(2));
      if (left.length < head + size) return left;
      const mask = left.subarray(head - 4, head);
      const body = Buffer.from(left.subarray(head, head + size).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
      left = left.subarray(head + size);
      this.frames.push({ code: first & 15, masked: (second & 128) !== 0, body });
      if ((first & 15) === 1) onText?.(body.toString(), this);
    }
  }
}

/** A frame of a server; the first byte says whether it is the last of its message, and of which kind. */
export function frame(first: number, body: Buffer): Buffer {
  const size = body.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = size < 126 ? size : size < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, body]);
}

function greeting(key: string): string {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return [...lines, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n');
}
