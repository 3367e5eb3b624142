/** HTTP written by hand, for requests that no HTTP client would send. */
import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  head: string;
  body: string;
  raw: string;
}

export interface Parts {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[] | undefined>;
  body?: string;
}

export class RawHttp {
  readonly port: number;
  private readonly token: string;

  constructor(port: number, token: string) {
    this.port = port;
    this.token = token;
  }

  /** A good request, with the given parts in place of its own. */
  request({ method = 'POST', path = '/mcp', headers = {}, body = '{}' }: Parts = {}): string {
    const all: Record<string, string | string[] | undefined> = {
      Host: `127.0.0.1:${this.port}`,
      Authorization: `Bearer ${this.token}`,
      'Content-Type': 'application/json',
      'Content-Length': method === 'POST' ? String(Buffer.byteLength(body)) : undefined,
      ...headers,
    };
    const lines = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`),
    );
    return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${method === 'POST' ? body : ''}`;
  }

  async status(parts: Parts = {}): Promise<number> {
    return (await this.talk(this.request(parts))).status;
  }

  /** What the door sends until the first answer is complete or the connection ends. */
  talk(bytes: string | Buffer, onSocket?: (socket: Socket) => void): Promise<Answer> {
    const isWhole = (raw: string): boolean => {
      const end = raw.indexOf('\r\n\r\n');
      const length = bytes.toString().startsWith('HEAD') ? '0' : /content-length: (\d+)/i.exec(raw)?.[1];
      const counted = end >= 0 && length !== undefined && raw.length >= end + 4 + Number(length);
      return counted || raw.endsWith('\r\n0\r\n\r\n');
    };
    return this.exchange(bytes, isWhole, 5_000, onSocket);
  }

  /** Everything the door sends until the connection ends or has been silent for a second. */
  async all(bytes: string): Promise<string> {
    return (await this.exchange(bytes, () => false, 1_000)).raw;
  }

  private exchange(
    bytes: string | Buffer,
    isWhole: (raw: string) => boolean,
    silenceMs: number,
    onSocket?: (socket: Socket) => void,
  ): Promise<Answer> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      let raw = '';
      const finish = (): void => {
        socket.destroy();
        const [head = '', ...rest] = raw.split('\r\n\r\n');
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(raw)?.[1] ?? 0);
        resolve({ status, head, body: rest.join('\r\n\r\n'), raw });
      };
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        raw += chunk;
        if (isWhole(raw)) finish();
      });
      socket.on('error', () => {}).on('close', finish);
      socket.setTimeout(silenceMs, finish);
      socket.write(bytes);
      onSocket?.(socket);
    });
  }
}
