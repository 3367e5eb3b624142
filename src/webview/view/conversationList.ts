import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { OverviewEntry } from '../../protocol/storyMessages.ts';
import type { Observable } from '../stores/observable.ts';
import { plainLine } from '../text/lines.ts';
import { LightElement } from './lightElement.ts';
import { busAvatar, conversationAvatar, icon, presenceDot, shownText } from './pieces.ts';
import './timeAgo.ts';

/** Of the font's size: two lines and their air. */
const rowEms = 56 / 13;
const spare = 8;

/**
 * The conversations as a list of any length: only the rows in view (and a few more, and the active one) are in the page.
 * The focus stays on the list itself, which names the active row; so rows may come and go under it.
 */
class ConversationList extends LightElement {
  static override properties = { ...LightElement.properties, shown: { attribute: false } };
  declare shown: boolean;
  private active: string | undefined;
  private activeIndex = 0;
  private rowHeight = 56;
  private top = 0;
  private height = 600;
  /** The first row in view: it stays where it is when rows above it come or go. */
  private anchor: { id: string; offset: number } | undefined;
  private indexes = new Map<string, number>();
  private indexed: readonly OverviewEntry[] = [];
  private restored = false;
  private painted = false;
  private readonly resizes = new ResizeObserver(() => this.measure());

  protected override watched(): Observable[] {
    return [this.page, this.page.inbox, this.page.agents];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resizes.observe(this);
    this.active = this.page.saved.value.row;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes.disconnect();
  }

  private get scroller(): HTMLElement | undefined {
    return this.find('.list');
  }

  private measure(): void {
    const { scroller } = this;
    if (!scroller || scroller.clientHeight === 0) return;
    this.height = scroller.clientHeight;
    this.rowHeight = Math.round(Number.parseFloat(getComputedStyle(this).fontSize) * rowEms);
    this.requestUpdate();
  }

  protected override shouldUpdate(): boolean {
    return this.shown;
  }

  protected override willUpdate(): void {
    const { rows, total } = this.page.inbox;
    if (rows !== this.indexed) {
      this.indexed = rows;
      this.indexes = new Map(rows.map((row, i) => [row.id, i]));
      const index = this.active === undefined ? undefined : this.indexes.get(this.active);
      if (index !== undefined) this.activeIndex = index;
    }
    this.activeIndex = Math.max(0, Math.min(this.activeIndex, total - 1));
    this.active = rows[this.activeIndex]?.id ?? this.active;
  }

  protected override render(): TemplateResult {
    const { inbox } = this.page;
    const { total } = inbox;
    const first = Math.max(0, Math.floor(this.top / this.rowHeight) - spare);
    const last = Math.min(total - 1, Math.ceil((this.top + this.height) / this.rowHeight) + spare);
    const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
    if (total > 0 && (this.activeIndex < first || this.activeIndex > last)) shown.push(this.activeIndex);
    return html`<div
      class="list"
      role="listbox"
      tabindex="0"
      aria-label="Conversations"
      aria-busy=${!inbox.loaded}
      aria-activedescendant=${total > 0 ? `row-${this.activeIndex}` : nothing}
      @scroll=${() => this.scrolled()}
      @keydown=${(event: KeyboardEvent) => this.key(event)}
    >
      <div class="list-inner" role="presentation" .style=${`height:${total * this.rowHeight}px`}>
        ${repeat(
          shown,
          (index) => inbox.rows[index]?.id ?? index,
          (index) => this.row(index, total),
        )}
      </div>
    </div>`;
  }

  private row(index: number, total: number): TemplateResult {
    const row = this.page.inbox.rows[index];
    const place = `transform:translateY(${index * this.rowHeight}px);height:${this.rowHeight}px`;
    if (!row) {
      return html`<div
        class="row row-loading"
        role="option"
        id="row-${index}"
        aria-label="Loading"
        aria-disabled="true"
        aria-selected="false"
        aria-setsize=${total}
        aria-posinset=${index + 1}
        .style=${place}
      >
        <span class="avatar avatar-large avatar-plain"></span>
        <span class="bones"><span></span><span></span></span>
      </div>`;
    }
    const { me, inbox, agents } = this.page;
    const between = !row.members.includes(me) && row.kind === 'direct';
    const other = row.kind === 'direct' && !between ? agents.get(row.title) : undefined;
    const line = row.last ? plainLine(row.last.line) : '';
    return html`<div
      class="row ${row.unread > 0 ? 'row-unread' : ''} ${inbox.fresh.has(row.id) ? 'row-fresh' : ''} ${
        index === this.activeIndex ? 'row-active' : ''
      }"
      role="option"
      id="row-${index}"
      aria-selected=${index === this.activeIndex}
      aria-setsize=${total}
      aria-posinset=${index + 1}
      data-id=${row.id}
      .style=${place}
      @click=${() => this.choose(index)}
    >
      <span class="row-avatar"
        >${
          row.notices !== undefined && !between ? busAvatar('large') : conversationAvatar(row.kind, row.title, between)
        }${other ? html`<span class="row-presence">${presenceDot(other.presence)}</span>` : nothing}</span
      >
      <span class="row-main">
        <span class="row-top">
          <span class="row-title">${row.title}</span>
          <ab-time class="row-time" .at=${row.last_at}></ab-time>
        </span>
        <span class="row-bottom">
          <span class="row-line" dir="auto"
            >${
              row.last
                ? html`${
                    row.kind === 'direct' && row.last.from === row.title
                      ? nothing
                      : html`<span class="row-from">${row.last.from === me ? 'You' : row.last.from}:</span> `
                  }${shownText(line)}`
                : 'No messages yet'
            }</span
          >
          ${
            row.waiting > 0
              ? html`<span class="mark-waiting" title="Waiting for you">${icon('question')}<span>For you</span></span>`
              : nothing
          }
          ${row.unread > 0 ? html`<span class="badge">${row.unread > 99 ? '99+' : row.unread}<span class="hidden-text"> unread</span></span>` : nothing}
        </span>
      </span>
    </div>`;
  }

  /** Once: how long the first rows took from their data to the screen, for whoever measures. */
  private markPainted(): void {
    if (this.painted) return;
    this.painted = true;
    const start = this.page.inbox.arrivedAt;
    requestAnimationFrame(() => setTimeout(() => performance.measure('agent-bus inbox painted', { start })));
  }

  protected override updated(changed: PropertyValues): void {
    const { scroller, page } = this;
    if (!scroller) return;
    if (changed.has('shown') && this.restored) scroller.scrollTop = this.top;
    if (this.height !== scroller.clientHeight && scroller.clientHeight > 0) this.measure();
    this.restore(scroller);
    this.keepAnchor(scroller);
    const last = Math.ceil((this.top + this.height) / this.rowHeight) + 4 * spare;
    if (last >= page.inbox.rows.length && page.inbox.rows.length < page.inbox.total) page.inbox.reach(last);
    if (page.inbox.rows.length > 0) this.markPainted();
    if (page.focusWish === 'list' && page.inbox.loaded) {
      page.focusWish = undefined;
      scroller.focus({ preventScroll: true });
    }
  }

  private restore(scroller: HTMLElement): void {
    if (this.restored || !this.page.inbox.loaded) return;
    this.restored = true;
    scroller.scrollTop = this.page.saved.value.scroll ?? 0;
    this.top = scroller.scrollTop;
  }

  private keepAnchor(scroller: HTMLElement): void {
    if (!this.anchor || this.top <= 0) return;
    const index = this.indexes.get(this.anchor.id);
    if (index === undefined) return;
    const wanted = index * this.rowHeight - this.anchor.offset;
    if (Math.abs(wanted - scroller.scrollTop) < 1) return;
    scroller.scrollTop = wanted;
    this.top = scroller.scrollTop;
    this.requestUpdate();
  }

  private scrolled(): void {
    const { scroller } = this;
    if (!scroller || !this.shown) return;
    this.top = scroller.scrollTop;
    const index = Math.floor(this.top / this.rowHeight);
    const row = this.page.inbox.rows[index];
    this.anchor = row && { id: row.id, offset: index * this.rowHeight - this.top };
    this.page.saved.set({ scroll: this.top });
    this.requestUpdate();
  }

  private key(event: KeyboardEvent): void {
    const { total } = this.page.inbox;
    const page = Math.max(1, Math.floor(this.height / this.rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -total,
      End: total,
    };
    const step = steps[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.choose(this.activeIndex);
    else if (step !== undefined) this.moveTo(this.activeIndex + step);
    else return;
    event.preventDefault();
  }

  private moveTo(index: number): void {
    const { scroller } = this;
    const { inbox, saved } = this.page;
    this.activeIndex = Math.max(0, Math.min(index, inbox.total - 1));
    this.active = inbox.rows[this.activeIndex]?.id;
    saved.set({ row: this.active ?? '' });
    const at = this.activeIndex * this.rowHeight;
    if (scroller) {
      if (at < scroller.scrollTop) scroller.scrollTop = at;
      else if (at + this.rowHeight > scroller.scrollTop + this.height)
        scroller.scrollTop = at + this.rowHeight - this.height;
      this.scrolled();
    }
    this.requestUpdate();
  }

  private choose(index: number): void {
    const row = this.page.inbox.rows[index];
    if (!row) return;
    this.activeIndex = index;
    this.active = row.id;
    this.page.open(row.id);
  }
}

customElements.define('ab-conversation-list', ConversationList);
