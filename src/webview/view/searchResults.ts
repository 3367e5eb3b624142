import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { SearchHit } from '../../core/reading.ts';
import { PageError } from '../api.ts';
import type { ErrorShape } from '../stores/errorShape.ts';
import type { Observable } from '../stores/observable.ts';
import { highlight } from '../text/highlight.ts';
import { plainLine } from '../text/lines.ts';
import { LightElement } from './lightElement.ts';
import { emptyState, errorText, icon, shownText } from './pieces.ts';
import './timeAgo.ts';

const pauseInTyping = 200;
const longestQuery = 200;

/** Messages that have the words searched for; each opens its conversation at that place. */
class SearchResults extends LightElement {
  private query = '';
  private hits: SearchHit[] = [];
  private next: string | undefined;
  private state: 'typing' | 'loading' | 'done' = 'typing';
  private failed: ErrorShape | undefined;
  private active = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  protected override watched(): Observable[] {
    return [this.page];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  protected override willUpdate(): void {
    const query = this.page.search.trim().slice(0, longestQuery);
    if (query === this.query) return;
    this.query = query;
    this.state = 'typing';
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), pauseInTyping);
  }

  protected override updated(_changed: PropertyValues): void {
    if (this.page.screen === 'inbox' && this.page.focusWish === 'list' && this.state === 'done') {
      this.page.focusWish = undefined;
      this.find('.results')?.focus();
    }
  }

  private async ask(cursor?: string): Promise<void> {
    const { query } = this;
    this.state = 'loading';
    this.requestUpdate();
    try {
      const found = await this.page.ask('search', { query, ...(cursor && { cursor }) });
      if (query !== this.query) return;
      this.hits = cursor ? [...this.hits, ...found.hits] : found.hits;
      if (!cursor) this.active = 0;
      this.next = found.next;
      this.failed = undefined;
      const count = `${this.hits.length}${this.next ? ' or more' : ''}`;
      if (!cursor) this.page.announce(this.hits.length === 0 ? 'Nothing found' : `${count} messages found`);
    } catch (error) {
      if (query !== this.query) return;
      const { code, message, next } = PageError.from(error);
      this.failed = { code, message, next };
    }
    this.state = 'done';
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    if (this.failed) return emptyState('warning', 'The search failed', errorText(this.failed));
    if (this.hits.length === 0) {
      if (this.state !== 'done') return html`<p class="list-note" aria-busy="true">Searching…</p>`;
      return emptyState(
        'search',
        'Nothing found',
        'No message has all of these words. Try fewer, or only their beginnings.',
      );
    }
    return html`<div
        class="results"
        role="listbox"
        tabindex="0"
        aria-label="Messages found"
        aria-activedescendant="hit-${this.active}"
        @keydown=${(event: KeyboardEvent) => this.key(event)}
        @scroll=${(event: Event) => this.scrolled(event.target as HTMLElement)}
      >
        ${repeat(
          this.hits,
          (hit) => hit.id,
          (hit, i) => this.hit(hit, i),
        )}
      </div>
      ${this.state === 'loading' && this.next ? html`<p class="list-note">Searching on…</p>` : nothing}`;
  }

  private hit(hit: SearchHit, index: number): TemplateResult {
    const row = this.page.inbox.row(hit.conversation);
    return html`<div
      class="hit ${index === this.active ? 'row-active' : ''}"
      role="option"
      id="hit-${index}"
      aria-selected=${index === this.active}
      @click=${() => this.choose(index)}
    >
      <span class="row-top">
        <span class="row-title"
          >${hit.from === this.page.me ? 'You' : hit.from}${
            row && row.title !== hit.from
              ? html`<span class="hit-place">${icon('chevron-right')}${row.title}</span>`
              : nothing
          }</span
        >
        <ab-time class="row-time" .at=${hit.sent_at}></ab-time>
      </span>
      <span class="hit-text" dir="auto"
        >${highlight(plainLine(hit.snippet), this.query).map(({ text, hit: marked }) =>
          marked ? html`<mark>${shownText(text)}</mark>` : shownText(text),
        )}</span
      >
    </div>`;
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5, Home: -1e6, End: 1e6 };
    const step = steps[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.choose(this.active);
    else if (event.key === 'Escape') this.page.setSearch('');
    else if (step !== undefined) {
      this.active = Math.max(0, Math.min(this.active + step, this.hits.length - 1));
      this.requestUpdate();
      void this.updateComplete.then(() => this.find(`#hit-${this.active}`)?.scrollIntoView({ block: 'nearest' }));
    } else return;
    event.preventDefault();
  }

  private scrolled(list: HTMLElement): void {
    const nearEnd = list.scrollTop + list.clientHeight > list.scrollHeight - 200;
    if (nearEnd && this.next && this.state === 'done') void this.ask(this.next);
  }

  private choose(index: number): void {
    const hit = this.hits[index];
    if (!hit) return;
    this.active = index;
    this.page.open(hit.conversation, { message: hit.id });
  }
}

customElements.define('ab-search-results', SearchResults);
