/** Codex's server as its control socket shows it, with threads that do what the test says. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedWebSocket } from './scriptedWebSocket.ts';

type Status = { type: 'idle' } | { type: 'notLoaded' } | { type: 'active'; activeFlags: string[] };

export const working: Status = { type: 'active', activeFlags: [] };
export const asking: Status = { type: 'active', activeFlags: ['waitingOnApproval'] };
export const idle: Status = { type: 'idle' };

interface Thread {
  id: string;
  cwd: string;
  preview: string;
  ephemeral: boolean;
  status: Status;
  prompts: string[];
}

interface Asked {
  id: number;
  method: string;
  params: { threadId?: string; input?: { text: string }[] };
}

export class ScriptedCodex {
  readonly threads = new Map<string, Thread>();
  readonly asked: string[] = [];
  /** What it says instead; undefined: what Codex would. Null: nothing at all. */
  instead: (asked: Asked) => object | null | undefined = () => undefined;
  private socket: ScriptedWebSocket | undefined;

  static async listen(codexHome: string): Promise<ScriptedCodex> {
    const codex = new ScriptedCodex();
    const folder = join(codexHome, 'app-server-control');
    mkdirSync(folder, { recursive: true });
    codex.socket = await ScriptedWebSocket.listen(join(folder, 'app-server-control.sock'), {
      onText: (text) => codex.hear(JSON.parse(text) as Asked),
    });
    return codex;
  }

  thread(id: string, cwd: string, rest: Partial<Thread> = {}): void {
    this.threads.set(id, { id, cwd, preview: 'hi', ephemeral: false, status: idle, prompts: [], ...rest });
  }

  become(id: string, status: Status): void {
    const thread = this.threads.get(id);
    if (thread) thread.status = status;
    this.tell({ method: 'thread/status/changed', params: { threadId: id, status } });
  }

  prompts(id: string): string[] {
    return this.threads.get(id)?.prompts ?? [];
  }

  cut(): void {
    this.socket?.cut();
  }

  async close(): Promise<void> {
    await this.socket?.close();
  }

  private tell(message: object): void {
    this.socket?.say(JSON.stringify(message));
  }

  private hear(asked: Asked): void {
    this.asked.push(asked.method);
    const said = this.instead(asked);
    if (asked.id === undefined || said === null) return;
    this.tell({ id: asked.id, ...(said ?? this.answer(asked)) });
  }

  private answer({ method, params }: Asked): object {
    const thread = this.threads.get(params.threadId ?? '');
    switch (method) {
      case 'initialize':
        return { result: { userAgent: 'scripted' } };
      case 'server/diagnostics':
        // The bridge is ours, so whoever has started it is this process.
        return { result: { process: { id: process.pid }, gauges: [] } };
      case 'thread/loaded/list':
        return { result: { data: [...this.threads.keys()], nextCursor: null } };
      case 'thread/read':
        return thread ? { result: { thread } } : { error: { code: -32600, message: 'no such thread' } };
      case 'thread/items/list': {
        const items = thread?.prompts.map((text) => ({ item: { type: 'userMessage', content: [{ text }] } }));
        return { result: { data: items?.reverse() ?? [] } };
      }
      case 'turn/start':
        thread?.prompts.push(params.input?.[0]?.text ?? '');
        setImmediate(() => this.become(params.threadId ?? '', working));
        return { result: { turn: { id: 'turn' } } };
      default:
        return { error: { code: -32601, message: `no ${method}` } };
    }
  }
}
