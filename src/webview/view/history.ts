import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { StoryMessage } from '../../protocol/storyMessages.ts';
import type { Observable } from '../stores/observable.ts';
import { lineOf } from '../text/lines.ts';
import { dayName, daysBetween } from '../text/time.ts';
import { LightElement } from './lightElement.ts';
import './message.ts';
import { icon, lang } from './pieces.ts';
import { SeenWatch } from './seenWatch.ts';

const atEnd = 32;
const nearTop = 300;
const sameBreath = 5 * 60_000;

/** Where the view stood before new content came. */
type Hold = { end: true } | { end: false; id: string; offset: number };

/** The messages of a conversation. It stays at its end while the person is there, and stays still while not. */
class History extends LightElement {
  private active: string | undefined;
  private hold: Hold = { end: true };
  private placedFor: string | undefined;
  /** Where the view was when we last knew; what is scrolled from there, the person scrolled. */
  private known = -1;
  private news = 0;
  private lastKnown: string | undefined;
  private seen: SeenWatch | undefined;
  private flashed: string | undefined;
  private readonly grows = new ResizeObserver(() => this.settle());
  private readonly becameVisible = () => this.seen?.restart();

  protected override watched(): Observable[] {
    return [this.page, this.page.story];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.grows.disconnect();
    this.seen?.stop();
    document.removeEventListener('visibilitychange', this.becameVisible);
  }

  private get box(): HTMLElement | undefined {
    return this.find('.history');
  }

  protected override firstUpdated(): void {
    const { box } = this;
    if (!box) return;
    this.seen = new SeenWatch(box, (ids) => this.page.seen(ids));
    document.addEventListener('visibilitychange', this.becameVisible);
    this.grows.observe(box);
    const inner = this.find('.history-inner');
    if (inner) this.grows.observe(inner);
  }

  protected override willUpdate(): void {
    const { messages, id } = this.page.story;
    const last = messages.at(-1)?.id;
    if (id !== this.placedFor) this.news = 0;
    else if (last !== this.lastKnown && !this.hold.end && this.lastKnown !== undefined) {
      const from = messages.findIndex((message) => message.id === this.lastKnown);
      const fresh = messages.slice(from + 1);
      if (from >= 0 && this.page.story.loading === undefined) this.news += fresh.length;
    }
    this.lastKnown = last;
    if (this.active === undefined || !this.page.story.message(this.active)) this.active = last;
  }

  protected override render(): TemplateResult {
    const { story, me } = this.page;
    const { messages } = story;
    const now = Date.now();
    return html`<div class="history-frame">
      <div
        class="history"
        role="log"
        aria-live="off"
        aria-label="Messages"
        aria-busy=${story.loading === 'open'}
        @scroll=${() => this.scrolled()}
        @keydown=${(event: KeyboardEvent) => this.key(event)}
        @focusin=${(event: FocusEvent) => this.focused(event)}
      >
        <div class="history-inner">
          ${this.beginning()}
          ${repeat(
            messages,
            (message) => message.id,
            (message, i) => this.item(message, messages[i - 1], me, now),
          )}
          ${story.loading === 'newer' ? html`<p class="history-note">${icon('loading codicon-modifier-spin')}</p>` : nothing}
        </div>
      </div>
      ${this.pill()}
    </div>`;
  }

  private beginning(): TemplateResult {
    const { story } = this.page;
    if (story.messages.length === 0) {
      if (story.loading) {
        return html`<p class="history-note">${icon('loading codicon-modifier-spin')}<span>Loading…</span></p>`;
      }
      return html`<p class="history-note">Nothing has been said here yet.</p>`;
    }
    if (story.hasOlder) {
      return html`<p class="history-note">
        ${
          story.loading === 'older'
            ? html`${icon('loading codicon-modifier-spin')}<span>Loading older messages…</span>`
            : html`<button type="button" class="link-button" @click=${() => void this.loadOlder()}>
                Load older messages
              </button>`
        }
      </p>`;
    }
    return html`<p class="history-note">The conversation begins here.</p>`;
  }

  private item(message: StoryMessage, before: StoryMessage | undefined, me: string, now: number): TemplateResult {
    const { page } = this;
    const at = Date.parse(message.sent_at);
    const newDay = !before || daysBetween(Date.parse(before.sent_at), at) !== 0;
    const unreadLine = page.story.unreadFrom === message.id && before !== undefined;
    const follows =
      !newDay &&
      !unreadLine &&
      before.from === message.from &&
      at - Date.parse(before.sent_at) < sameBreath &&
      before.to.join() === message.to.join() &&
      message.reply_to === undefined &&
      message.kind !== 'request' &&
      before.kind !== 'request';
    const quoted = message.reply_to === undefined ? undefined : page.story.message(message.reply_to);
    const answer = message.answer === undefined ? undefined : page.story.message(message.answer);
    return html`${newDay ? html`<h2 class="day"><span>${dayName(at, now, lang())}</span></h2>` : nothing}${
        unreadLine
          ? html`<div class="unread-line" role="separator" aria-label="Unread from here"><span>New</span></div>`
          : nothing
      }<ab-message
        data-message=${message.id}
        class=${this.flashed === message.id ? 'flash' : ''}
        .page=${page}
        .message=${message}
        .follows=${follows}
        .active=${message.id === this.active}
        .toAll=${this.isToAll(message, me)}
        .answeredBy=${answer?.from}
        .quoted=${quoted && quote(quoted)}
        .canAct=${page.canAct}
      ></ab-message>`;
  }

  private isToAll({ channel, to, from }: StoryMessage, me: string): boolean {
    const members = this.page.story.conversation?.members ?? [];
    if (channel !== undefined) return true;
    if (members.length === 2 && members.includes(me)) return true;
    return members.every((name) => name === from || to.includes(name));
  }

  private pill(): TemplateResult | typeof nothing {
    const { story } = this.page;
    if (this.hold.end && !story.hasNewer) return nothing;
    return html`<button type="button" class="pill" @click=${() => void this.toEnd()}>
      ${this.news > 0 ? html`<span>${this.news} new</span>` : html`<span class="hidden-text">To the newest message</span>`}
      ${icon('arrow-down')}
    </button>`;
  }

  protected override updated(_changed: PropertyValues): void {
    const { page } = this;
    const { story } = page;
    if (story.messages.length > 0 && story.loading !== 'open') {
      if (this.placedFor !== story.id) this.placeFirst();
      else this.settle();
      this.goToTarget();
    }
    const unread = story.messages.filter((message) => message.unread).map((message) => message.id);
    this.seen?.watch(unread.flatMap((id) => this.elementOf(id) ?? []));
    if (page.focusWish === 'history' && story.messages.length > 0 && story.loading !== 'open') {
      page.focusWish = undefined;
      // Messages may come late: whoever writes already is left alone, or what they type would be taken for commands.
      if (!document.activeElement?.closest('ab-composer')) void this.focusActive();
    }
  }

  /** Where a conversation opens: at what is unread, where it was left before a reload, or at its end. */
  private placeFirst(): void {
    const { story, saved } = this.page;
    this.placedFor = story.id;
    const { anchor } = saved.value;
    if (anchor && story.message(anchor.message)) {
      this.hold = { end: false, id: anchor.message, offset: anchor.offset };
      this.active = anchor.message;
    } else if (story.unreadFrom && story.messages[0]?.id !== story.unreadFrom) {
      this.hold = { end: false, id: story.unreadFrom, offset: 48 };
      this.active = story.unreadFrom;
    } else this.hold = { end: true };
    this.settle();
    // The messages draw themselves after us; only then is it known whether they fill the view.
    setTimeout(() => this.scrolled(), 100);
    this.requestUpdate();
  }

  private goToTarget(): void {
    const { page } = this;
    const id = page.target;
    if (id === undefined || !page.story.message(id)) return;
    page.target = undefined;
    this.active = id;
    this.flashed = id;
    setTimeout(() => this.flashed === id && ((this.flashed = undefined), this.requestUpdate()), 2000);
    this.hold = { end: false, id, offset: Math.round((this.box?.clientHeight ?? 0) / 4) };
    this.settle();
    this.requestUpdate();
  }

  /** Puts the view back to where it is held. */
  private settle(): void {
    const { box } = this;
    if (!box || this.placedFor === undefined) return;
    this.follow(box);
    if (this.hold.end) {
      if (!this.page.story.hasNewer) box.scrollTop = box.scrollHeight;
    } else {
      const element = this.elementOf(this.hold.id);
      if (!element) return;
      const by = element.getBoundingClientRect().top - box.getBoundingClientRect().top - this.hold.offset;
      if (Math.abs(by) >= 1) box.scrollTop += by;
    }
    this.known = box.scrollTop;
  }

  /** The person may have scrolled without our having heard of it yet. */
  private follow(box: HTMLElement): void {
    const by = this.known < 0 ? 0 : box.scrollTop - this.known;
    if (Math.abs(by) < 1) return;
    if (this.hold.end) this.heldByPerson(box);
    else this.hold = { ...this.hold, offset: this.hold.offset - by };
  }

  private scrolled(): void {
    const { box, page } = this;
    if (!box || this.placedFor !== page.story.id) return;
    // Put there by us or not: at the end is at the end.
    if (Math.abs(box.scrollTop - this.known) >= 1 || (!this.hold.end && this.isAtEnd(box))) this.heldByPerson(box);
    if (box.scrollTop < nearTop && page.story.hasOlder) void this.loadOlder();
    else if (box.scrollHeight - box.scrollTop - box.clientHeight < nearTop && page.story.hasNewer)
      void page.story.newer();
  }

  private isAtEnd(box: HTMLElement): boolean {
    return box.scrollHeight - box.scrollTop - box.clientHeight < atEnd && !this.page.story.hasNewer;
  }

  private heldByPerson(box: HTMLElement): void {
    const { page } = this;
    this.known = box.scrollTop;
    const wasEnd = this.hold.end;
    const end = this.isAtEnd(box);
    if (end) this.hold = { end: true };
    else {
      const top = box.getBoundingClientRect().top;
      const first = [...this.querySelectorAll<HTMLElement>('ab-message')].find(
        (element) => element.getBoundingClientRect().bottom > top + 1,
      );
      const id = first?.dataset['message'];
      if (first && id) this.hold = { end: false, id, offset: first.getBoundingClientRect().top - top };
    }
    page.saved.set({ anchor: this.hold.end ? undefined : { message: this.hold.id, offset: this.hold.offset } });
    if (end) this.news = 0;
    if (end !== wasEnd) this.requestUpdate();
  }

  private loadOlder(): Promise<void> {
    return this.page.story.older();
  }

  private async toEnd(): Promise<void> {
    const { story } = this.page;
    if (story.hasNewer && story.id !== undefined) await story.open(story.id);
    this.hold = { end: true };
    this.news = 0;
    this.active = story.messages.at(-1)?.id;
    this.settle();
    void this.focusActive();
    this.requestUpdate();
  }

  private elementOf(id: string): HTMLElement | undefined {
    return this.find(`ab-message[data-message="${id}"]`);
  }

  private async focusActive(): Promise<void> {
    await this.updateComplete;
    const element = this.active === undefined ? undefined : this.elementOf(this.active);
    element?.querySelector<HTMLElement>('article')?.focus({ preventScroll: true });
  }

  private focused(event: FocusEvent): void {
    const id = (event.target as HTMLElement).closest<HTMLElement>('ab-message')?.dataset['message'];
    if (id === undefined || id === this.active) return;
    this.active = id;
    this.requestUpdate();
  }

  private key(event: KeyboardEvent): void {
    if (!(event.target as HTMLElement).matches('article')) return;
    const { messages } = this.page.story;
    const at = messages.findIndex((message) => message.id === this.active);
    const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, Home: -messages.length, End: messages.length };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.active = messages[Math.max(0, Math.min(at + step, messages.length - 1))]?.id;
    this.requestUpdate();
    void this.focusActive().then(() => {
      if (this.active) this.elementOf(this.active)?.scrollIntoView({ block: 'nearest' });
    });
  }
}

const quotes = new WeakMap<StoryMessage, { from: string; line: string }>();

/** The same object for the same message, so that nothing is drawn again for it. */
function quote(message: StoryMessage): { from: string; line: string } {
  let made = quotes.get(message);
  if (!made) quotes.set(message, (made = { from: message.from, line: lineOf(message.text, 100) }));
  return made;
}

customElements.define('ab-history', History);
