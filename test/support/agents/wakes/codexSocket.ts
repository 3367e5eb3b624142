/** Codex's control socket: JSON-RPC in WebSocket frames over a Unix socket. Only as much of WebSocket as that needs. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

type Answer = { id?: number; method?: string; result?: unknown; error?: { message: string } };

export class CodexSocket {
  private readonly socket: Socket;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private received = Buffer.alloc(0);
  private lastId = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  static async open(path: string): Promise<CodexSocket> {
    const socket = connect(path);
    await once(socket, 'connect');
    const key = randomBytes(16).toString('base64');
    const headers = ['Host: localhost', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
    socket.write(`GET / HTTP/1.1\r\n${headers.join('\r\n')}\r\nSec-WebSocket-Key: ${key}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    if (!head.toString('latin1').startsWith('HTTP/1.1 101'))
      throw new Error(`no WebSocket: ${head.toString('latin1')}`);
    const control = new CodexSocket(socket);
    socket.on('data', (chunk) => control.take(chunk));
    const clientInfo = { name: 'agent-bus-test', version: '0.0.0' };
    await control.ask('initialize', { clientInfo, capabilities: null });
    control.tell({ method: 'initialized' });
    return control;
  }

  async ask(method: string, params: object): Promise<unknown> {
    const id = ++this.lastId;
    const answered = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    this.tell({ id, method, params });
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  close(): void {
    this.socket.destroy();
  }

  /** One masked text frame, as a client has to send it. */
  private tell(message: object): void {
    const body = Buffer.from(JSON.stringify(message));
    const mask = randomBytes(4);
    const length = body.length < 126 ? [body.length] : [126, body.length >> 8, body.length & 255];
    length[0] = (length[0] ?? 0) | 0x80;
    this.socket.write(
      Buffer.concat([Buffer.from([0x81, ...length]), mask, body.map((byte, at) => byte ^ (mask[at % 4] ?? 0))]),
    );
  }

  private take(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    for (;;) {
      const short = (this.received[1] ?? 0) & 127;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (this.received.length < head) return;
      const length =
        short < 126 ? short : short === 126 ? this.received.readUInt16BE(2) : Number(this.received.readBigUInt64BE(2));
      if (this.received.length < head + length) return;
      const isText = ((this.received[0] ?? 0) & 15) === 1;
      const body = this.received.subarray(head, head + length);
      this.received = this.received.subarray(head + length);
      if (isText) this.hear(JSON.parse(body.toString()) as Answer);
    }
  }

  private hear(answer: Answer): void {
    if (answer.id === undefined || answer.method !== undefined) return;
    this.waiting.get(answer.id)?.(answer);
    this.waiting.delete(answer.id);
  }
}
