/**
 * What the editor writes down about its chats, as far as hooks do not tell it: that the person cancelled a turn, and that
 * a confirmation is open. The files are the editor's own and may change with any release or not be there at all (a
 * window whose disk is elsewhere), so this only ever adds to what the hooks say.
 */
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import type { ObserveParams } from '../../protocol/reachMessages.ts';
import { chatStates } from './contract.ts';

/** So much of the end of a file is read: what it says of the last turn's state is near it. */
const tailBytes = 1024 * 1024;
const settleMs = 50;
const firstLookMs = 2_000;
const rarestLookMs = 60_000;

export class ChatFiles {
  private readonly folder: string;
  private readonly report: (seen: ObserveParams) => void;
  private readonly last = new Map<string, string>();
  private readonly due = new Map<string, NodeJS.Timeout>();
  private watcher: fs.FSWatcher | undefined;
  private looking: NodeJS.Timeout | undefined;

  constructor(folder: string, report: (seen: ObserveParams) => void) {
    this.folder = folder;
    this.report = report;
    this.look(firstLookMs);
  }

  /** Whether some chat of this window asks its person something, as far as was seen since the window is open. */
  get isAsking(): boolean {
    return [...this.last.values()].includes('approval');
  }

  dispose(): void {
    clearTimeout(this.looking);
    this.watcher?.close();
    for (const timer of this.due.values()) clearTimeout(timer);
    this.due.clear();
  }

  /** The folder comes with the first chat of a workspace. */
  private look(delay: number): void {
    try {
      this.watcher = fs.watch(this.folder, { persistent: false }, (_event, name) => {
        if (name?.endsWith('.jsonl')) this.readSoon(name);
      });
      this.watcher.on('error', () => this.watcher?.close());
    } catch {
      this.looking = setTimeout(() => this.look(Math.min(delay * 2, rarestLookMs)), delay).unref();
    }
  }

  private readSoon(name: string): void {
    if (this.due.has(name)) return;
    const timer = setTimeout(() => {
      this.due.delete(name);
      this.read(name);
    }, settleMs).unref();
    this.due.set(name, timer);
  }

  private read(name: string): void {
    const file = readTail(join(this.folder, name));
    const seen = file && lastState(file.text, file.changedAt);
    if (!seen) return;
    const mark = seen.state === 'idle' ? `idle ${seen.at}` : seen.state;
    if (this.last.get(name) === mark) return;
    this.last.set(name, mark);
    this.report({ chat: basename(name, '.jsonl'), ...seen });
  }
}

function readTail(path: string): { text: string; changedAt: number } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = fs.openSync(path, 'r');
    const { size, mtimeMs } = fs.fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, tailBytes));
    const length = fs.readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    return { text: buffer.toString('utf8', 0, length), changedAt: Math.round(mtimeMs) };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** In a line of its own, or within one that holds a whole turn; a quote inside somebody's text would be escaped. */
const statePattern = /(?<!\\)"modelState"(?:\],"v")?:(\{[^{}]*\})/g;

/** The state of the last turn that the text speaks of. */
export function lastState(text: string, changedAt: number): Omit<ObserveParams, 'chat'> | undefined {
  const found = [...text.matchAll(statePattern)].at(-1)?.[1];
  if (found === undefined) return undefined;
  const { value, completedAt } = JSON.parse(found) as { value?: unknown; completedAt?: unknown };
  const state = typeof value === 'number' ? chatStates[value] : undefined;
  return state && { state, at: typeof completedAt === 'number' ? completedAt : changedAt };
}
