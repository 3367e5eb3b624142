import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { StoryMessage } from '../../protocol/storyMessages.ts';
import { folded, slices } from '../text/fold.ts';
import { plainFragment, safeFragment } from '../text/safeFragment.ts';
import { LightElement } from './lightElement.ts';

/**
 * The text of a message. A long one is folded; all of it is put into the page in slices, a few milliseconds at a time,
 * so that a megabyte does not hold up anything.
 */
class MessageText extends LightElement {
  static override properties = { ...LightElement.properties, message: { attribute: false } };
  declare message: StoryMessage;
  private expanded = false;
  private loading = false;
  private shown: string | undefined;
  private run = 0;

  private get isFolded(): boolean {
    return !this.expanded && (this.message.rest !== undefined || folded(this.message.text) !== undefined);
  }

  protected override render(): TemplateResult {
    const { isFolded, message } = this;
    const long = isFolded || this.expanded;
    return html`<div
        class="md ${isFolded ? 'md-folded' : ''}"
        @click=${(event: MouseEvent) => this.clicked(event)}
        @keydown=${(event: KeyboardEvent) => this.key(event)}
      ></div>
      ${
        long
          ? html`<button
              type="button"
              class="link-button fold-button"
              aria-expanded=${this.expanded}
              ?disabled=${this.loading}
              @click=${() => void this.toggle()}
            >
              ${this.loading ? 'Loading…' : this.expanded ? 'Show less' : `Show all (${size(message)})`}
            </button>`
          : nothing
      }`;
  }

  protected override updated(_changed: PropertyValues): void {
    const { text } = this.message;
    const wanted = this.isFolded ? (folded(text) ?? text) : text;
    if (wanted === this.shown) return;
    this.shown = wanted;
    void this.fill(wanted);
  }

  private async fill(text: string): Promise<void> {
    const box = this.find('.md');
    if (!box) return;
    const run = ++this.run;
    const parts = slices(text);
    box.replaceChildren();
    for (const [i, { text: part, plain }] of parts.entries()) {
      // The first slice at once, so that nothing flickers; the others when there is time.
      if (i > 0) await nextFrame();
      if (run !== this.run) return;
      const slice: HTMLElement = parts.length > 1 ? document.createElement('div') : box;
      slice.append(plain ? plainFragment(part) : safeFragment(part));
      if (slice !== box) {
        slice.className = 'md-slice';
        box.append(slice);
      }
    }
  }

  private async toggle(): Promise<void> {
    if (this.expanded) {
      this.expanded = false;
      this.requestUpdate();
      await this.updateComplete;
      this.scrollIntoView({ block: 'nearest' });
      return;
    }
    if (this.message.rest !== undefined) {
      this.loading = true;
      this.requestUpdate();
      const { page } = this;
      const loaded = await page.run(
        page.ask('message', { id: this.message.id }).then((whole) => page.story.replace(whole)),
      );
      this.loading = false;
      if (!loaded) return this.requestUpdate();
    }
    this.expanded = true;
    this.requestUpdate();
  }

  private clicked(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const copy = target.closest('.md-copy');
    const link = target.closest<HTMLElement>('[data-href]');
    if (copy) {
      const code = copy.closest('.md-code')?.querySelector('code')?.textContent ?? '';
      void this.page.run(this.page.ask('copy', { text: code }), 'Code copied');
      copy.textContent = 'Copied';
      setTimeout(() => (copy.textContent = 'Copy'), 1500);
    } else if (link) {
      event.preventDefault();
      const href = link.dataset['href'] ?? '';
      void this.page.run(this.page.ask('open', { href, message: this.message.id }));
    }
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key !== 'Enter' || target.dataset['href'] === undefined) return;
    event.preventDefault();
    target.click();
  }
}

function size({ text, rest = 0 }: StoryMessage): string {
  const characters = text.length + rest;
  if (rest > 0 || characters > 20_000) return `${Math.round(characters / 1000)} kB`;
  const lines = text.split('\n').length;
  return lines > 20 ? `${lines} lines` : `${characters} characters`;
}

const nextFrame = () =>
  new Promise<void>((done) => {
    // A hidden page draws no frames.
    if (document.visibilityState === 'hidden') setTimeout(done, 0);
    else requestAnimationFrame(() => setTimeout(done, 0));
  });

customElements.define('ab-text', MessageText);
