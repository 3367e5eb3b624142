import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const mostBytes = 16 * 1024 * 1024;
const opcode = { more: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

export interface SocketListener {
  onText(text: string): void;
  /** Once, with what went wrong, if anything did. */
  onClose(why?: Error): void;
}

interface Frame {
  final: boolean;
  code: number;
  body: Buffer;
  /** What it took of the bytes that have come. */
  size: number;
}

/**
 * Text messages over WebSocket on a Unix socket, which Node's own WebSocket cannot open. Anything that this side has not
 * asked for (other frames, compression, masks) is a fault of the other side, and ends the connection.
 */
export class UnixWebSocket {
  private readonly socket: Duplex;
  private received: Buffer = Buffer.alloc(0);
  private parts: Buffer[] = [];
  private partBytes = 0;
  private isOver = false;
  private readonly listener: SocketListener;

  private constructor(socket: Duplex, listener: SocketListener) {
    this.socket = socket;
    this.listener = listener;
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('error', (error) => this.end(error));
    socket.on('close', () => this.end());
  }

  static open(path: string, timeoutMs: number, listener: SocketListener): Promise<UnixWebSocket> {
    const key = randomBytes(16).toString('base64');
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': key,
    };
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: path, host: 'localhost', path: '/', headers, agent: false });
      const late = setTimeout(() => asked.destroy(new Error('the other side does not answer')), timeoutMs);
      asked.on('upgrade', (response, socket, head) => {
        clearTimeout(late);
        const proof = createHash('sha1')
          .update(key + magic)
          .digest('base64');
        if (response.headers['sec-websocket-accept'] !== proof) {
          socket.destroy();
          return reject(new Error('the other side speaks no WebSocket'));
        }
        if (head.length > 0) socket.unshift(head);
        resolve(new UnixWebSocket(socket, listener));
      });
      asked.on('response', (response) => {
        asked.destroy();
        reject(new Error(`the other side refuses a WebSocket (${response.statusCode})`));
      });
      asked.on('error', reject);
      asked.on('close', () => clearTimeout(late));
      asked.end();
    });
  }

  get isOpen(): boolean {
    return !this.isOver;
  }

  send(text: string): void {
    this.write(opcode.text, Buffer.from(text));
  }

  close(): void {
    this.write(opcode.close, Buffer.alloc(0));
    this.end();
  }

  /** One whole frame, masked as a client's have to be. */
  private write(code: number, body: Buffer): void {
    if (this.isOver) return;
    const mask = randomBytes(4);
    const size = body.length;
    const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
    head[0] = 0x80 | code;
    head[1] = 0x80 | (size < 126 ? size : size < 65_536 ? 126 : 127);
    if (head.length === 4) head.writeUInt16BE(size, 2);
    if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
    const masked = Buffer.from(body);
    for (let at = 0; at < size; at++) masked[at] = (masked[at] ?? 0) ^ (mask[at % 4] ?? 0);
    this.socket.write(Buffer.concat([head, mask, masked]));
  }

  private take(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    try {
      for (let frame = readFrame(this.received); frame && !this.isOver; frame = readFrame(this.received)) {
        this.received = this.received.subarray(frame.size);
        this.hear(frame);
      }
    } catch (error) {
      this.end(error as Error);
    }
  }

  private hear({ final, code, body }: Frame): void {
    if (code >= opcode.close && (!final || body.length > 125)) throw new Error('a broken control frame');
    switch (code) {
      case opcode.ping:
        return this.write(opcode.pong, body);
      case opcode.pong:
        return;
      case opcode.close:
        this.write(opcode.close, body.subarray(0, 2));
        return this.end();
      case opcode.text:
      case opcode.more:
        if ((code === opcode.more) !== this.parts.length > 0) throw new Error('a frame out of order');
        this.parts.push(body);
        this.partBytes += body.length;
        if (this.partBytes > mostBytes) throw new Error('a message that is too long');
        return final ? this.whole() : undefined;
      default:
        throw new Error(`a frame of the unknown kind ${code}`);
    }
  }

  private whole(): void {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(this.parts));
    this.parts = [];
    this.partBytes = 0;
    this.listener.onText(text);
  }

  private end(why?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.received = Buffer.alloc(0);
    this.parts = [];
    this.socket.destroy();
    this.listener.onClose(why);
  }
}

/** The first frame, once all of it is there. */
function readFrame(bytes: Buffer): Frame | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  if ((first & 0x70) !== 0) throw new Error('a frame with an extension that was not agreed on');
  if ((second & 0x80) !== 0) throw new Error('a masked frame');
  const short = second & 0x7f;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head) return undefined;
  const size = head === 2 ? short : head === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (size > mostBytes) throw new Error('a frame that is too long');
  if (bytes.length < head + size) return undefined;
  return {
    final: (first & 0x80) !== 0,
    code: first & 0x0f,
    body: bytes.subarray(head, head + size),
    size: head + size,
  };
}
