import { html, nothing, type TemplateResult } from 'lit';
import type { Presence } from '../../core/model.ts';
import type { Observable } from '../stores/observable.ts';
import { LightElement } from './lightElement.ts';
import { icon, presenceDot } from './pieces.ts';

const mostSuggestions = 8;

interface Suggestion {
  name: string;
  about: string;
  presence?: Presence;
}

/** To whom: chosen ones as chips, further ones by typing, from the agents and channels that are known. */
class Recipients extends LightElement {
  static override properties = { ...LightElement.properties, chosen: { attribute: false } };
  declare chosen: string[];
  private typed = '';
  private active = 0;
  private open = false;

  protected override watched(): Observable[] {
    return [this.page.agents, this.page.inbox];
  }

  private suggestions(): Suggestion[] {
    const { agents, inbox, me } = this.page;
    const words = this.typed.trim().toLowerCase();
    const channels = inbox.rows.filter(({ kind }) => kind === 'channel').map(({ title }) => title);
    const all: Suggestion[] = [
      ...agents.agents
        .filter(({ name }) => name !== me)
        .map(({ name, about, workspace, presence }) => ({ name, about: about ?? workspace ?? '', presence })),
      ...[...new Set(channels)].map((name) => ({ name, about: 'channel' })),
    ];
    return all
      .filter(({ name }) => !this.chosen.includes(name) && name.includes(words))
      .sort((a, b) => Number(b.name.startsWith(words)) - Number(a.name.startsWith(words)))
      .slice(0, mostSuggestions);
  }

  protected override render(): TemplateResult {
    const found = this.open ? this.suggestions() : [];
    this.active = Math.min(this.active, Math.max(0, found.length - 1));
    return html`<div class="recipients">
      <span class="recipients-label" id="recipients-label">To</span>
      <div class="recipients-field" @click=${() => this.find('input')?.focus()}>
        ${this.chosen.map(
          (name) =>
            html`<span class="chip chip-chosen"
              ><span class="chip-name">${name}</span
              ><button type="button" class="chip-remove" aria-label="Remove ${name}" @click=${() => this.drop(name)}>
                ${icon('close')}
              </button></span
            >`,
        )}
        <input
          type="text"
          role="combobox"
          aria-labelledby="recipients-label"
          aria-autocomplete="list"
          aria-expanded=${found.length > 0}
          aria-controls="recipients-list"
          aria-activedescendant=${found.length > 0 ? `recipient-${this.active}` : nothing}
          autocomplete="off"
          spellcheck="false"
          placeholder=${this.chosen.length === 0 ? 'Agent or #channel' : ''}
          .value=${this.typed}
          @input=${(event: InputEvent) => this.type((event.target as HTMLInputElement).value)}
          @keydown=${(event: KeyboardEvent) => this.key(event, found)}
          @focus=${() => this.show(true)}
          @blur=${() => this.leave()}
        />
      </div>
      <div
        class="suggestions"
        role="listbox"
        id="recipients-list"
        aria-label="Suggestions"
        ?hidden=${found.length === 0}
      >
        ${found.map(
          ({ name, about, presence }, i) =>
            html`<div
              class="suggestion ${i === this.active ? 'row-active' : ''}"
              role="option"
              id="recipient-${i}"
              aria-selected=${i === this.active}
              @pointerdown=${(event: Event) => {
                event.preventDefault();
                this.take(name);
              }}
            >
              ${presence ? presenceDot(presence, presence) : icon('comment-discussion')}<span class="suggestion-name"
                >${name}</span
              ><span class="suggestion-about">${about}</span>
            </div>`,
        )}
      </div>
    </div>`;
  }

  private type(text: string): void {
    this.typed = text;
    this.active = 0;
    this.show(true);
  }

  private show(open: boolean): void {
    this.open = open;
    this.requestUpdate();
  }

  /** A name that was typed in full counts, chosen from the list or not. */
  private leave(): void {
    const name = this.typed.trim().toLowerCase();
    if (name !== '' && (this.page.agents.get(name) || /^#[a-z0-9][a-z0-9-]*$/.test(name))) this.take(name);
    this.show(false);
  }

  private key(event: KeyboardEvent, found: readonly Suggestion[]): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[this.active];
    if (step !== undefined) {
      if (!this.open) this.show(true);
      else if (found.length > 0) this.active = (this.active + step + found.length) % found.length;
    } else if ((event.key === 'Enter' || event.key === ',' || event.key === ' ') && !event.ctrlKey && !event.metaKey) {
      if (this.typed.trim().startsWith('#') && !chosen) this.take(this.typed.trim().toLowerCase());
      else if (chosen && (this.typed !== '' || event.key === 'Enter')) this.take(chosen.name);
    } else if (event.key === 'Backspace' && this.typed === '') {
      const last = this.chosen.at(-1);
      if (last !== undefined) this.drop(last);
      return;
    } else if (event.key === 'Escape' && this.open && found.length > 0) this.show(false);
    else return;
    event.preventDefault();
    this.requestUpdate();
  }

  private take(name: string): void {
    this.typed = '';
    this.active = 0;
    if (!this.chosen.includes(name)) this.tell([...this.chosen, name]);
    this.requestUpdate();
  }

  private drop(name: string): void {
    this.tell(this.chosen.filter((one) => one !== name));
    this.find('input')?.focus();
  }

  private tell(chosen: string[]): void {
    this.dispatchEvent(new CustomEvent('change', { detail: chosen }));
  }
}

customElements.define('ab-recipients', Recipients);
