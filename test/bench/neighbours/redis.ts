import { connect, type Socket } from 'node:net';
import { freePort, onPath, start, stop, temporaryFolder } from '../support/processes.ts';
import { nextText } from '../support/texts.ts';
import { reach } from './reach.ts';

/** Redis that syncs its log before every answer, and the little of its protocol that is needed to append to a stream. */
export async function openRedis(owned: AsyncDisposableStack): Promise<(() => Promise<void>) | undefined> {
  const program = onPath('redis-server');
  if (program === undefined) return undefined;
  const port = await freePort();
  const durable = [
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--save',
    '',
    '--auto-aof-rewrite-percentage',
    '0',
  ];
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', temporaryFolder('redis')];
  const server = start(program, [...place, ...durable]);
  owned.defer(() => stop(server));
  const socket = await reach(() => connect({ port, host: '127.0.0.1', noDelay: true }));
  owned.defer(() => void socket.destroy());
  const redis = new RedisStream(socket);
  return () => redis.append(nextText());
}

class RedisStream {
  private readonly socket: Socket;
  private readonly waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  private queue = '';
  private rest = '';
  private sent = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.read(String(chunk)));
  }

  /** The same that a message of ours holds: who, to whom, its key, its text. */
  append(text: string): Promise<void> {
    const command = [
      'XADD',
      'bus',
      '*',
      'from',
      'alice',
      'to',
      'bob',
      'key',
      `auto-${this.sent++}-4fG7kQ2mX9`,
      'text',
      text,
    ];
    // Like our own client: everything of one turn leaves in one write.
    if (this.queue === '') process.nextTick(() => this.flush());
    this.queue += `*${command.length}\r\n${command.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}`;
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  private flush(): void {
    this.socket.write(this.queue, 'latin1');
    this.queue = '';
  }

  /** Each answer is a bulk string, the id of the entry: two lines. An error is one line. */
  private read(chunk: string): void {
    const lines = (this.rest + chunk).split('\r\n');
    let at = 0;
    while (at < lines.length - 1) {
      const isError = lines[at]?.startsWith('-');
      if (!isError && at + 2 >= lines.length) break;
      const caller = this.waiting.shift();
      if (isError) caller?.reject(new Error(lines[at]));
      else caller?.resolve();
      at += isError ? 1 : 2;
    }
    this.rest = lines.slice(at).join('\r\n');
  }
}
