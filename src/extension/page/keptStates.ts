import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Tabs come and go; their states are small, but not for ever. */
const mostPages = 50;
const delayMs = 200;

/**
 * What pages want to find again after a reload, half-written messages above all. VS Code keeps that as well, but writes
 * it now and then: in a browser a reload right after typing loses it. Here it is on disk a moment later.
 */
export class KeptStates {
  private readonly file: string;
  private states: Map<string, string> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(file: string) {
    this.file = file;
  }

  of(page: string): string | undefined {
    return this.loaded().get(page);
  }

  keep(page: string, state: string): void {
    const states = this.loaded();
    states.delete(page);
    states.set(page, state);
    for (const oldest of states.keys()) {
      if (states.size <= mostPages) break;
      states.delete(oldest);
    }
    this.timer ??= setTimeout(() => this.write(), delayMs);
  }

  dispose(): void {
    if (this.timer) this.write();
  }

  private loaded(): Map<string, string> {
    if (this.states) return this.states;
    this.states = new Map();
    try {
      const saved = JSON.parse(readFileSync(this.file, 'utf8')) as Record<string, unknown>;
      for (const [page, state] of Object.entries(saved)) if (typeof state === 'string') this.states.set(page, state);
    } catch {
      // Nothing was kept, or nothing that can be read: the pages begin anew.
    }
    return this.states;
  }

  private write(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      mkdirSync(dirname(this.file), { recursive: true });
      const draft = `${this.file}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(Object.fromEntries(this.loaded())), { mode: 0o600 });
      renameSync(draft, this.file);
    } catch {
      // A full disk: VS Code's own copy has to do.
    }
  }
}
