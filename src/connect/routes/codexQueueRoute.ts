import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Process } from './ancestors.ts';
import type { SessionState, WakeRoute } from './route.ts';

const run = promisify(execFile);
const queueMs = 60_000;
const threadForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Sessions of Codex that run without its server: they look into a queue on disk within seconds, once they are idle. That
 * queue takes messages for sessions that are long gone, so one that is not known to run here is left alone.
 */
export class CodexQueueRoute implements WakeRoute {
  readonly name = 'codex queue';
  private readonly codexHome: string;
  private readonly program: string | undefined;
  private readonly session: Process | undefined;

  /**
   * @param above who has started the bridge, the nearest first
   * @param onPath Codex, where the one that runs can't be told
   */
  constructor(codexHome: string, above: readonly Process[], onPath: string | undefined) {
    this.codexHome = codexHome;
    this.session = above.find(({ program }) => isCodex(program));
    this.program = this.session?.program ?? onPath;
  }

  /** A run that ends by itself never looks into the queue. */
  async detect(): Promise<boolean> {
    return this.program !== undefined && !/\s(exec|e|review)(\s|$)/.test(this.session?.command ?? '');
  }

  async canReach(chat: string): Promise<SessionState | undefined> {
    if (!threadForm.test(chat) || !(await this.detect())) return undefined;
    return this.runsHere(chat) ? 'unknown' : undefined;
  }

  /** Arguments are for all users of the machine to see: the text is one that says nothing of a message. */
  async deliver(chat: string, text: string): Promise<void> {
    if (this.program === undefined) throw new Error('the program of Codex is not known');
    const env = { ...process.env, CODEX_HOME: this.codexHome };
    const args = ['queue', '--thread', chat, '--message', text];
    await run(this.program, args, { env, timeout: queueMs, windowsHide: true });
  }

  /** The session that has begun last in the process above. Each starts a bridge of its own, at its beginning. */
  newest(): string | undefined {
    const began = (chat: string): number => statSync(this.lockOf(chat), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return this.heldAbove()
      ?.sort((a, b) => began(a) - began(b))
      .at(-1);
  }

  /** Codex holds a lock for each session that it runs; one that was killed leaves its lock lying there. */
  private runsHere(chat: string): boolean {
    return existsSync(this.lockOf(chat)) && (this.heldAbove()?.includes(chat) ?? true);
  }

  private lockOf(chat: string): string {
    return join(this.codexHome, 'thread-writer-locks', `${chat}.lock`);
  }

  /** The sessions whose locks the process above has; undefined where the system does not tell. */
  private heldAbove(): string[] | undefined {
    if (!this.session || process.platform !== 'linux') return undefined;
    const files = `/proc/${this.session.pid}/fd`;
    try {
      const held = readdirSync(files).map((file) => linkOf(join(files, file)));
      return held.flatMap((path) => /[\\/]thread-writer-locks[\\/]([^\\/]+)\.lock$/.exec(path)?.[1] ?? []);
    } catch {
      return undefined;
    }
  }
}

export function isCodex(program: string): boolean {
  return /^codex([-.]|$)/i.test(basename(program.replaceAll('\\', '/')));
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
