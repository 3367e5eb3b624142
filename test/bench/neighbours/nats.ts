import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort, onPath, start, stop, temporaryFolder } from '../support/processes.ts';
import { nextText } from '../support/texts.ts';
import { reach } from './reach.ts';

export interface Nats {
  publish: () => Promise<void>;
  /** Whether it syncs before it answers: versions before 2.10 can't. */
  synced: boolean;
  version: string;
}

/** NATS JetStream with a stream in a file, and the little of its protocol that is needed to publish to it. */
export async function openNats(owned: AsyncDisposableStack): Promise<Nats | undefined> {
  const program = onPath('nats-server');
  if (program === undefined) return undefined;
  const version = /(\d+)\.(\d+)\.\d+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }));
  const synced = Number(version?.[1]) > 2 || Number(version?.[2]) >= 10;
  const port = await freePort();
  const folder = temporaryFolder('nats');
  const sync = synced ? 'sync_interval: always' : '';
  const config = join(folder, 'nats.conf');
  writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}"\n ${sync} }\n`);
  const server = start(program, ['-c', config]);
  owned.defer(() => stop(server));
  const socket = await reach(() => connect({ port, host: '127.0.0.1', noDelay: true }));
  owned.defer(() => void socket.destroy());
  const stream = new NatsStream(socket);
  await stream.request(
    '$JS.API.STREAM.CREATE.bus',
    JSON.stringify({ name: 'bus', subjects: ['bus'], storage: 'file' }),
  );
  return { publish: () => stream.request('bus', nextText()), synced, version: version?.[0] ?? '' };
}

class NatsStream {
  private readonly socket: Socket;
  private readonly waiting = new Map<string, (answer: string) => void>();
  private queue = 'CONNECT {"verbose":false,"pedantic":false,"headers":false}\r\nSUB in.* 1\r\n';
  private rest = '';
  private sent = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.read(String(chunk)));
    this.flush();
  }

  async request(subject: string, body: string): Promise<void> {
    const inbox = `in.${this.sent++}`;
    if (this.queue === '') process.nextTick(() => this.flush());
    this.queue += `PUB ${subject} ${inbox} ${Buffer.byteLength(body)}\r\n${body}\r\n`;
    const answer = await new Promise<string>((resolve) => this.waiting.set(inbox, resolve));
    if (answer.includes('"error"')) throw new Error(answer);
  }

  private flush(): void {
    this.socket.write(this.queue);
    this.queue = '';
  }

  /** `MSG subject sid bytes`, then the answer, each ended by a line break; INFO and PING come in between. */
  private read(chunk: string): void {
    let text = this.rest + chunk;
    for (;;) {
      const end = text.indexOf('\r\n');
      if (end < 0) break;
      const [verb, subject, , bytes] = text.slice(0, end).split(' ');
      if (verb === 'MSG') {
        const length = Number(bytes);
        if (text.length < end + 2 + length + 2) break;
        const inbox = subject ?? '';
        this.waiting.get(inbox)?.(text.slice(end + 2, end + 2 + length));
        this.waiting.delete(inbox);
        text = text.slice(end + 2 + length + 2);
        continue;
      }
      if (verb === 'PING') this.socket.write('PONG\r\n');
      text = text.slice(end + 2);
    }
    this.rest = text;
  }
}
