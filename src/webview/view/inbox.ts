import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { OverviewFilter } from '../../protocol/storyMessages.ts';
import { newMessage } from '../stores/drafts.ts';
import type { Observable } from '../stores/observable.ts';
import './agentStrip.ts';
import './conversationList.ts';
import { LightElement } from './lightElement.ts';
import { emptyState, errorText, icon, iconButton } from './pieces.ts';
import './searchResults.ts';

const filters: readonly { value: OverviewFilter; label: string; long: string }[] = [
  { value: 'all', label: 'All', long: 'All conversations' },
  { value: 'unread', label: 'Unread', long: 'Conversations with unread messages' },
  { value: 'waiting', label: 'For you', long: 'Conversations in which you were asked something' },
];

const searchFrom = 2;

/** What is going on: who is here, which conversations there are, which of them need the person. */
class Inbox extends LightElement {
  static override properties = { ...LightElement.properties, shown: { attribute: false } };
  declare shown: boolean;

  protected override watched(): Observable[] {
    return [this.page, this.page.inbox];
  }

  protected override updated(_changed: PropertyValues): void {
    if (!this.shown || this.page.focusWish !== 'search') return;
    this.page.focusWish = undefined;
    this.find('.search input')?.focus();
  }

  protected override render(): TemplateResult {
    const { page } = this;
    const searching = page.search.trim().length >= searchFrom;
    return html`<h1 class="hidden-text">Inbox</h1>
      <div class="inbox-head">
        <div class="inbox-bar">
          <div class="search">
            ${icon('search')}
            <input
              type="text"
              role="searchbox"
              aria-label="Search in all messages"
              placeholder="Search messages"
              spellcheck="false"
              .value=${page.search}
              @input=${(event: InputEvent) => page.setSearch((event.target as HTMLInputElement).value)}
              @keydown=${(event: KeyboardEvent) => this.searchKey(event)}
            />
            ${
              page.search
                ? iconButton('close', 'Clear the search', () => this.clear(), { className: 'search-clear' })
                : nothing
            }
          </div>
          <button
            type="button"
            class="button button-new"
            title="New message"
            ?disabled=${!page.canAct}
            @click=${() => page.compose()}
          >
            ${icon(page.drafts.has(newMessage) ? 'edit' : 'add')}<span class="wide-only">New message</span
            ><span class="hidden-text narrow-only">New message</span>
          </button>
        </div>
        ${searching ? nothing : this.filterBar()}
      </div>
      ${searching ? nothing : html`<ab-agent-strip .page=${page}></ab-agent-strip>`}
      ${searching ? html`<ab-search-results .page=${page}></ab-search-results>` : this.list()}`;
  }

  private filterBar(): TemplateResult {
    const { inbox } = this.page;
    return html`<div class="filters" role="radiogroup" aria-label="Which conversations">
      ${filters.map(({ value, label, long }) => {
        const count = value === 'all' ? 0 : inbox.counts[value];
        return html`<label class="filter" title=${long}>
          <input
            type="radio"
            name="filter"
            class="hidden-text"
            .value=${value}
            .checked=${inbox.filter === value}
            @change=${() => this.page.setFilter(value)}
          />
          <span class="filter-face"
            >${label}${
              count > 0
                ? html` <span class="count ${value === 'waiting' ? 'count-waiting' : ''}">${count}</span>`
                : nothing
            }</span
          >
        </label>`;
      })}
    </div>`;
  }

  private list(): TemplateResult {
    const { page } = this;
    const { inbox } = page;
    if (inbox.failed && inbox.rows.length === 0) {
      return emptyState(
        'warning',
        'The conversations could not be read',
        errorText(inbox.failed),
        html`<button type="button" class="button" @click=${() => void inbox.load()}>Try again</button>`,
      );
    }
    if (inbox.loaded && inbox.rows.length === 0) return this.nothingHere();
    return html`<ab-conversation-list .page=${page} .shown=${this.shown}></ab-conversation-list>`;
  }

  private nothingHere(): TemplateResult {
    const { page } = this;
    const all = html`<button type="button" class="button button-secondary" @click=${() => page.setFilter('all')}>
      Show all conversations
    </button>`;
    if (page.inbox.filter === 'unread')
      return emptyState('check-all', 'All read', 'Nothing new since you last looked.', all);
    if (page.inbox.filter === 'waiting') {
      return emptyState('pass', 'Nobody waits for you', 'When an agent asks you for a decision, it shows here.', all);
    }
    return emptyState(
      'comment-discussion',
      'No conversations yet',
      page.agents.agents.length > 1
        ? 'Your agents are here, but nobody has said anything. Write to one of them, or let one ask another.'
        : 'As soon as an agent is connected and says something, it shows here.',
      html`<button type="button" class="button" ?disabled=${!page.canAct} @click=${() => page.compose()}>
        Write the first message
      </button>`,
    );
  }

  private clear(): void {
    this.page.setSearch('');
    this.find('.search input')?.focus();
  }

  private searchKey(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this.page.search) {
      event.preventDefault();
      this.clear();
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      this.find('[role=listbox]')?.focus();
    }
  }
}

customElements.define('ab-inbox', Inbox);
