import { CodexControl } from './codexControl.ts';
import type { SessionState, WakeRoute } from './route.ts';

/** What Codex says of a thread, as far as it matters here. */
interface Thread {
  id: string;
  cwd: string;
  /** Its first prompt, or empty before that. */
  preview?: string;
  status: { type: string; activeFlags?: readonly string[] };
  canAcceptDirectInput?: boolean | null;
  /** Codex's own side questions. */
  ephemeral?: boolean;
  /** Of a helper, the thread that has started it. */
  parentThreadId?: string | null;
  /** Which program of Codex's has begun it. */
  originator?: string;
}

const proofItems = 20;

/**
 * Sessions of Codex that run in its server: it knows what each is doing, begins a turn in an idle one beside whatever the
 * person has half written, and shows that the turn has begun, whether our hooks are approved there or not.
 */
export class CodexSocketRoute implements WakeRoute {
  readonly name = 'Codex’s control socket';
  private readonly codexHome: string;
  private readonly version: string;
  private control: Promise<CodexControl> | undefined;
  /** Each change of what a session does, as soon as Codex tells; `gone` when it has ended. */
  onState: (chat: string, state: SessionState | 'gone') => void = () => undefined;

  constructor(codexHome: string, version: string) {
    this.codexHome = codexHome;
    this.version = version;
  }

  async detect(): Promise<boolean> {
    return (await this.serverPid()) !== undefined;
  }

  /** The process that the sessions which can be reached run in; undefined while there is none. */
  async serverPid(): Promise<number | undefined> {
    try {
      const { process } = (await (await this.link()).ask('server/diagnostics', {})) as { process?: { id?: unknown } };
      return typeof process?.id === 'number' ? process.id : undefined;
    } catch {
      return undefined;
    }
  }

  /** The sessions of people that run in this folder and have begun a turn. */
  async sessionsIn(folder: string): Promise<{ chat: string; state: SessionState }[]> {
    return (await this.threads()).flatMap((thread) => {
      const state = isOf(folder, thread) ? stateOf(thread.status) : undefined;
      return state ? [{ chat: thread.id, state }] : [];
    });
  }

  /** All sessions of terminals in this folder, also those without a turn, the newest last. */
  async terminalSessionsIn(folder: string): Promise<{ chat: string; state: SessionState }[]> {
    const own = (await this.threads()).filter((thread) => {
      return isPersons(folder, thread) && thread.originator === 'codex-tui';
    });
    // Their ids begin with the time of their making.
    const sorted = own.sort((a, b) => (a.id < b.id ? -1 : 1));
    return sorted.map(({ id, status }) => ({ chat: id, state: stateOf(status) ?? 'unknown' }));
  }

  /** Whether it is one of those. */
  async isIn(folder: string, chat: string): Promise<boolean> {
    return isOf(folder, await this.thread(chat));
  }

  async canReach(chat: string): Promise<SessionState | undefined> {
    try {
      const thread = await this.thread(chat);
      return thread.canAcceptDirectInput === false ? undefined : stateOf(thread.status);
    } catch {
      return undefined;
    }
  }

  async deliver(chat: string, text: string): Promise<void> {
    const input = [{ type: 'text', text, text_elements: [] }];
    await (await this.link()).ask('turn/start', { threadId: chat, input });
  }

  async prove(chat: string, mark: string): Promise<boolean> {
    const query = { threadId: chat, limit: proofItems, sortDirection: 'desc' };
    const answer = (await (await this.link()).ask('thread/items/list', query)) as { data?: { item?: unknown }[] };
    return (answer.data ?? []).some(({ item }) => isPromptWith(item, mark));
  }

  close(): void {
    this.control?.then(
      (control) => control.close(),
      () => undefined,
    );
    this.control = undefined;
  }

  private async threads(): Promise<Thread[]> {
    const { data } = (await (await this.link()).ask('thread/loaded/list', {})) as { data: string[] };
    const threads = await Promise.all(data.map((id) => this.thread(id).catch(() => undefined)));
    return threads.filter((thread) => thread !== undefined);
  }

  private async thread(id: string): Promise<Thread> {
    return ((await (await this.link()).ask('thread/read', { threadId: id })) as { thread: Thread }).thread;
  }

  private link(): Promise<CodexControl> {
    this.control ??= this.open();
    return this.control;
  }

  private async open(): Promise<CodexControl> {
    try {
      const client = { name: 'agent-bus', version: this.version };
      const control = await CodexControl.open(this.codexHome, client, (method, params) => this.notice(method, params));
      control.onClose = () => (this.control = undefined);
      if (!control.isOpen) throw new Error('the control socket was closed at once');
      return control;
    } catch (error) {
      this.control = undefined;
      throw error;
    }
  }

  private notice(method: string, params: unknown): void {
    if (method !== 'thread/status/changed') return;
    const { threadId, status } = (params ?? {}) as { threadId?: unknown; status?: Thread['status'] };
    if (typeof threadId === 'string' && status) this.onState(threadId, stateOf(status) ?? 'gone');
  }
}

/** Undefined for a thread that is only on disk. */
function stateOf({ type, activeFlags = [] }: Thread['status']): SessionState | undefined {
  if (type === 'active') return activeFlags.length > 0 ? 'approval' : 'working';
  return type === 'idle' || type === 'systemError' ? 'idle' : undefined;
}

function isOf(folder: string, thread: Thread): boolean {
  return isPersons(folder, thread) && (thread.status.type === 'active' || thread.preview !== '');
}

function isPersons(folder: string, { cwd, ephemeral, parentThreadId }: Thread): boolean {
  return cwd === folder && !ephemeral && !parentThreadId;
}

function isPromptWith(item: unknown, mark: string): boolean {
  const { type, content } = (item ?? {}) as { type?: unknown; content?: unknown };
  if (type !== 'userMessage' || !Array.isArray(content)) return false;
  return content.some((part: { text?: unknown } | null) => typeof part?.text === 'string' && part.text.includes(mark));
}
