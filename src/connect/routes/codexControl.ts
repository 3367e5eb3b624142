import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { UnixWebSocket } from './unixWebSocket.ts';

const openMs = 5_000;
/** A machine under load may take long; a question without an answer leaves open whether it was heard. */
const answerMs = 60_000;

interface Answer {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: { message?: unknown };
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Codex itself has said no: what was asked has not happened. */
export class CodexRefused extends Error {}

/**
 * The control socket of Codex's server for a person's sessions: JSON-RPC in WebSocket messages. This side looks and
 * begins turns; it never subscribes to a thread, which would keep it loaded, and so is never asked to approve anything.
 */
export class CodexControl {
  private socket: UnixWebSocket | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private readonly onNotice: (method: string, params: unknown) => void;
  private lastId = 0;
  onClose: () => void = () => undefined;

  private constructor(onNotice: (method: string, params: unknown) => void) {
    this.onNotice = onNotice;
  }

  static async open(
    codexHome: string,
    client: { name: string; version: string },
    onNotice: (method: string, params: unknown) => void = () => undefined,
  ): Promise<CodexControl> {
    const control = new CodexControl(onNotice);
    // What stands there may be a link: the real path is one that fits into the address of a socket.
    const path = realpathSync(join(codexHome, 'app-server-control', 'app-server-control.sock'));
    const socket = await UnixWebSocket.open(path, openMs, {
      onText: (text) => control.hear(text),
      onClose: (why) => control.over(why),
    });
    control.socket = socket;
    try {
      const capabilities = { experimentalApi: true, requestAttestation: false };
      await control.ask('initialize', { clientInfo: client, capabilities }, openMs);
      control.tell({ method: 'initialized' });
    } catch (error) {
      control.close();
      throw error;
    }
    return control;
  }

  get isOpen(): boolean {
    return this.socket?.isOpen === true;
  }

  async ask(method: string, params: object, timeoutMs = answerMs): Promise<unknown> {
    const id = ++this.lastId;
    let late: NodeJS.Timeout | undefined;
    try {
      return await new Promise<unknown>((resolve, reject) => {
        if (!this.isOpen) return reject(new Error('the control socket is closed'));
        this.waiting.set(id, { resolve, reject });
        late = setTimeout(() => reject(new Error(`Codex does not answer to ${method}`)), timeoutMs);
        this.tell({ id, method, params });
      });
    } finally {
      clearTimeout(late);
      this.waiting.delete(id);
    }
  }

  close(): void {
    this.socket?.close();
  }

  private tell(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }

  private hear(text: string): void {
    const { id, method, params, result, error } = parsed(text);
    if (typeof method === 'string') {
      // A question to its clients is for whoever sits before the session.
      if (id === undefined) this.onNotice(method, params);
      return;
    }
    const asked = typeof id === 'number' ? this.waiting.get(id) : undefined;
    if (error) asked?.reject(new CodexRefused(typeof error.message === 'string' ? error.message : 'no reason given'));
    else asked?.resolve(result);
  }

  private over(why: Error | undefined): void {
    const error = new Error(`the control socket was closed${why ? `: ${why.message}` : ''}`);
    for (const asked of this.waiting.values()) asked.reject(error);
    this.onClose();
  }
}

/** What is no answer says nothing. */
function parsed(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
