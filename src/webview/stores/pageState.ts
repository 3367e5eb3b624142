import type { OverviewFilter } from '../../protocol/storyMessages.ts';
import type { SavedDraft } from './drafts.ts';

/** Where the person was in a history, if not at its end: this message, so many pixels below the upper edge. */
export interface Anchor {
  message: string;
  offset: number;
}

/** What outlives a hidden or reloaded page. `conversation` is what a restored tab is opened with. */
export interface SavedState {
  screen?: 'inbox' | 'conversation' | 'compose';
  conversation?: string;
  picture?: boolean;
  filter?: OverviewFilter;
  search?: string;
  /** The row that was in front, and how far the list was scrolled. */
  row?: string;
  scroll?: number;
  agentsOpen?: boolean;
  anchor?: Anchor | undefined;
  drafts?: Record<string, SavedDraft>;
  /** Counts the writes, so that the newer of two copies is known. */
  saves?: number;
}

export interface StateHost {
  getState(): unknown;
  setState(state: unknown): void;
}

/** Writes at most a few times a second; `flush` before the page may go. */
export class PageState {
  private readonly host: StateHost;
  private state: SavedState;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Where a second copy goes. VS Code writes its own only now and then. */
  keep: (state: string) => void = () => undefined;

  constructor(host: StateHost) {
    this.host = host;
    const saved = host.getState();
    this.state = typeof saved === 'object' && saved !== null ? saved : {};
  }

  get value(): Readonly<SavedState> {
    return this.state;
  }

  set(change: Partial<SavedState>): void {
    this.state = { ...this.state, ...change };
    // Another screen is worth a write of its own: a page that is hidden right after it has no time for a last one.
    if ('screen' in change) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), 150);
  }

  /** The second copy, if it is the newer one. */
  adopt(kept: string): boolean {
    try {
      const state = JSON.parse(kept) as SavedState;
      if ((state.saves ?? 0) <= (this.state.saves ?? 0)) return false;
      this.state = state;
      return true;
    } catch {
      return false;
    }
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.state = { ...this.state, saves: (this.state.saves ?? 0) + 1 };
    this.host.setState(this.state);
    this.keep(JSON.stringify(this.state));
  }
}
