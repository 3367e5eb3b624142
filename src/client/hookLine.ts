import { lstatSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { BusHome } from '../hub/home.ts';
import { encodeFrame, FrameDecoder } from '../protocol/frames.ts';
import type { HubMethod, HubRequests, LoginParams } from '../protocol/messages.ts';
import type { HookParams, HookResult } from '../protocol/reachMessages.ts';
import { dial } from './dial.ts';

interface Answer {
  id?: number;
  result?: unknown;
}

/**
 * One hook's talk with the hub, in as few turns of the wire and with as little code as there can be: an agent waits for it at
 * each of its steps. It starts no hub, asks none to make room and does not come back: whatever is amiss, the talk is over.
 */
export class HookLine {
  private readonly socket: Socket;
  private readonly waiting: ((result: unknown) => void)[] = [];
  private fail: (error: unknown) => void = () => undefined;
  private readonly failed: Promise<never>;
  /** What the hub is shown where the line itself proves nothing. */
  proof: string | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.failed = new Promise((_, reject) => (this.fail = reject));
    // Whoever waits hears of it; at other times it is nobody's trouble.
    this.failed.catch(() => undefined);
    const decoder = new FrameDecoder((text) => this.receive(text));
    socket.on('data', (chunk: Buffer) => {
      try {
        decoder.push(chunk);
      } catch (error) {
        this.fail(error);
      }
    });
    socket.on('error', this.fail);
    socket.on('close', () => this.fail(new Error('the hub hung up')));
  }

  /** By the socket in the owner's folder, where neither side has to prove anything; else by the port. */
  static async open(home: BusHome): Promise<HookLine | undefined> {
    const socket = isOwn(home.socket) ? await dial({ path: home.socket }) : undefined;
    if (socket) return new HookLine(socket);
    const { openByPort } = await import('./hookByPort.ts');
    return openByPort(home);
  }

  /** The hub takes what follows a login in the name that it gives: its answer need not be waited for. */
  async tell(attach: NonNullable<LoginParams['attach']>, params: HookParams): Promise<HookResult> {
    const { proof } = this;
    const login = this.request('login', { attach, via: 'cli', passing: true, ...(proof !== undefined && { proof }) });
    const [, result] = await Promise.all([login, this.request('hook', params)]);
    return result;
  }

  /** Resolves when the hub has it: this process is about to end. */
  async shown(ids: readonly string[]): Promise<void> {
    this.send({ method: 'shown', params: { ids, route: 'hook' } });
    await this.request('presence', { state: 'working' });
  }

  request<Method extends HubMethod>(
    method: Method,
    params: HubRequests[Method]['params'],
  ): Promise<HubRequests[Method]['result']> {
    const answered = new Promise<HubRequests[Method]['result']>((resolve) => {
      this.waiting.push(resolve);
    });
    this.send({ id: this.waiting.length - 1, method, params });
    return Promise.race([answered, this.failed]);
  }

  private send(message: object): void {
    this.socket.write(encodeFrame(JSON.stringify({ jsonrpc: '2.0', ...message })));
  }

  private receive(text: string): void {
    const { id, result } = JSON.parse(text) as Answer;
    const answered = id === undefined ? undefined : this.waiting[id];
    if (result === undefined || !answered) this.fail(new Error('the hub refused'));
    else answered(result);
  }
}

/** What is another user's, or leads somewhere else, is not where our hub listens. */
function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isSocket() && found.uid === process.geteuid?.();
}
