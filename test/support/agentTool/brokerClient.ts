/** A client of agent-tool's broker as the unchanged one is: a socket per call, one JSON object in, one line out. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { HubProcess } from '../hubProcess.ts';

export interface BrokerMessage {
  from: string;
  msg: string;
  ts: string;
}

export interface BrokerReplyView {
  ok: boolean;
  error?: string;
  messages?: BrokerMessage[];
  message?: BrokerMessage;
  mailboxes?: Record<string, number>;
  info?: string;
}

/** What it reads at most, as agent-tool's scanner does. */
export const longestLine = 4 * 1_048_576;

export class BrokerClient {
  private readonly port: () => number;

  constructor(port: number | (() => number)) {
    this.port = typeof port === 'number' ? () => port : port;
  }

  async call(request: object): Promise<BrokerReplyView> {
    return JSON.parse(await this.line(`${JSON.stringify(request)}\n`)) as BrokerReplyView;
  }

  post(from: string, to: string, msg: string): Promise<BrokerReplyView> {
    return this.call({ op: 'post', to, from, msg });
  }

  /** Posts that must be taken. */
  async tell(from: string, to: string, ...texts: string[]): Promise<void> {
    for (const text of texts) {
      const reply = await this.post(from, to, text);
      if (!reply.ok) throw new Error(reply.error);
    }
  }

  async fetch(mailbox: string): Promise<BrokerMessage[]> {
    const reply = await this.call({ op: 'fetch', mailbox });
    if (!reply.ok) throw new Error(reply.error);
    return reply.messages ?? [];
  }

  async texts(mailbox: string): Promise<string[]> {
    return (await this.fetch(mailbox)).map(({ msg }) => msg);
  }

  wait(mailbox: string, timeout: number): Promise<BrokerReplyView> {
    return this.call({ op: 'wait', mailbox, timeout });
  }

  async status(): Promise<Record<string, number>> {
    return (await this.call({ op: 'status' })).mailboxes ?? {};
  }

  /** Sends the bytes, reads one line, hangs up: the first line, without its newline. */
  async line(bytes: string | Buffer): Promise<string> {
    const socket = await this.open();
    socket.write(bytes);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestLine) throw new Error('token too long');
      if (!chunk.includes(0x0a)) continue;
      socket.resume().end();
      return Buffer.concat(chunks).toString('utf8').split('\n', 1)[0] ?? '';
    }
    throw new Error('broker closed connection without response');
  }

  /** Everything that comes back until the other side ends, byte for byte. */
  async transcript(pieces: (string | Buffer)[], shut?: 'half-close'): Promise<string> {
    const socket = await this.open();
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, () => setImmediate(resolve)));
    if (shut === 'half-close') socket.end();
    await once(socket, 'end');
    socket.end();
    return Buffer.concat(chunks).toString('utf8');
  }

  async open(): Promise<Socket> {
    const socket = connect({ port: this.port(), host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }
}

/** Switches the broker's door of a hub on, at any free port, or finds where it is open. */
export async function brokerPort(hub: HubProcess): Promise<number> {
  const open = (await hub.status()).doors.find(({ door }) => door === 'broker');
  if (open?.open) return open.port;
  const person = await hub.client();
  try {
    const view = await person.request('door', { door: 'broker', on: true, port: 0 });
    if (!view.open) throw new Error(view.trouble?.message);
    return view.port;
  } finally {
    hub.close(person);
  }
}
