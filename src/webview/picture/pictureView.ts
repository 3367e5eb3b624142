import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Observable } from '../stores/observable.ts';
import { visible } from '../text/invisible.ts';
import { lineOf, plainLine } from '../text/lines.ts';
import { list, requestWords } from '../text/words.ts';
import { LightElement } from '../view/lightElement.ts';
import { clockTime, emptyState, iconButton, lang } from '../view/pieces.ts';
import { draw } from './draw.ts';
import { layout, type Picture } from './layout.ts';
import { standalone } from './standalone.ts';

const mostMessages = 500;
const zooms = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2];

/** Who told whom what, drawn; or the same as a table. */
class PictureView extends LightElement {
  private zoom = 1;
  private asTable = document.body.classList.contains('vscode-using-screen-reader');
  private active: string | undefined;
  private room = 320;
  private loading = true;
  private placed = false;
  private picture: Picture | undefined;
  private readonly resizes = new ResizeObserver(([entry]) => this.resized(entry?.contentRect.width ?? 0));

  protected override watched(): Observable[] {
    return [this.page.story];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resizes.observe(this);
    void this.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes.disconnect();
  }

  private async load(): Promise<void> {
    while (this.page.story.loading === 'open') await new Promise((done) => setTimeout(done, 50));
    await this.page.story.loadBack(mostMessages);
    this.loading = false;
    this.requestUpdate();
  }

  private resized(width: number): void {
    if (width <= 0 || Math.abs(width - this.room) < 8) return;
    this.room = width;
    this.requestUpdate();
  }

  protected override willUpdate(): void {
    const messages = this.page.story.messages.slice(-mostMessages);
    this.picture = messages.length === 0 ? undefined : layout(messages, this.room, Date.now());
    if (this.active === undefined || !messages.some(({ id }) => id === this.active)) this.active = messages.at(-1)?.id;
  }

  protected override render(): TemplateResult {
    const { picture } = this;
    if (!picture) {
      if (this.loading) return emptyState('loading codicon-modifier-spin', 'Drawing…', '');
      return emptyState(
        'type-hierarchy',
        'Nothing to draw yet',
        'As soon as something is said here, you see who told whom what.',
      );
    }
    return html`${this.bar()}${this.asTable ? this.table() : this.drawing(picture)}`;
  }

  private bar(): TemplateResult {
    const { story } = this.page;
    const shown = Math.min(story.messages.length, mostMessages);
    return html`<div class="picture-bar" role="toolbar" aria-label="Picture">
      <span class="picture-count">${shown}${story.hasOlder || this.loading ? ' newest' : ''} messages</span>
      <span class="composer-space"></span>
      ${
        this.asTable
          ? nothing
          : html`${iconButton('zoom-out', 'Smaller', () => this.zoomBy(-1), { disabled: this.zoom <= 0.5 })}
              <span class="picture-zoom" aria-live="polite">${Math.round(this.zoom * 100)} %</span>
              ${iconButton('zoom-in', 'Larger', () => this.zoomBy(1), { disabled: this.zoom >= 2 })}`
      }
      ${iconButton('table', 'Show as a table', () => this.toggleTable(), { pressed: this.asTable })}
      ${iconButton('save', 'Save as SVG', () => this.save(), { disabled: this.asTable })}
    </div>`;
  }

  private drawing(picture: Picture): TemplateResult {
    return html`<div
      class="picture-box"
      tabindex="-1"
      @wheel=${(event: WheelEvent) => this.wheel(event)}
      @keydown=${(event: KeyboardEvent) => this.key(event)}
    >
      <div class="picture-heads" .style=${`width:${Math.round(picture.width * this.zoom)}px`} aria-hidden="true">
        ${picture.lifelines.map(
          ({ name, x }) =>
            html`<span
              class="picture-head"
              .style=${`left:${x * this.zoom}px;max-width:${picture.column * this.zoom - 8}px`}
              title=${name}
              >${name === this.page.me ? 'You' : name}</span
            >`,
        )}
      </div>
      ${draw(picture, this.zoom, lang(), {
        active: this.active,
        choose: (id) => this.page.jump(id),
        focus: (id) => this.setActive(id),
      })}
    </div>`;
  }

  private table(): TemplateResult {
    const { story, me } = this.page;
    const name = (one: string) => (one === me ? 'You' : one);
    return html`<div class="picture-box" tabindex="0">
      <table class="picture-table">
        <caption class="hidden-text">
          Who told whom what
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">Message</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          ${story.messages.slice(-mostMessages).map(
            (message) =>
              html`<tr>
                <td>${clockTime(message.sent_at)}</td>
                <td>${name(message.from)}</td>
                <td>${list(message.to.map(name))}</td>
                <td>
                  <button type="button" class="link-button" dir="auto" @click=${() => this.page.jump(message.id)}>
                    ${visible(plainLine(lineOf(message.text, 100))) || 'Message'}
                  </button>
                </td>
                <td>${message.request ? requestWords[message.request] : message.kind === 'reply' ? 'Answer' : ''}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }

  protected override updated(_changed: PropertyValues): void {
    if (this.placed || this.loading || !this.picture) return;
    this.placed = true;
    const box = this.find('.picture-box');
    if (box) box.scrollTop = box.scrollHeight;
  }

  private setActive(id: string): void {
    if (id === this.active) return;
    this.active = id;
    this.requestUpdate();
  }

  private toggleTable(): void {
    this.asTable = !this.asTable;
    this.requestUpdate();
  }

  private zoomBy(step: number): void {
    const at = zooms.findIndex((zoom) => zoom >= this.zoom - 0.001);
    this.zoom = zooms[Math.max(0, Math.min(at + step, zooms.length - 1))] ?? 1;
    this.requestUpdate();
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoomBy(event.deltaY > 0 ? -1 : 1);
  }

  private key(event: KeyboardEvent): void {
    const arrows = this.picture?.arrows ?? [];
    const at = arrows.findIndex(({ id }) => id === this.active);
    const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, Home: -arrows.length, End: arrows.length };
    const step = steps[event.key];
    if (step !== undefined) {
      this.active = arrows[Math.max(0, Math.min(at + step, arrows.length - 1))]?.id;
      this.requestUpdate();
      void this.updateComplete.then(() => this.querySelector<SVGElement>(`[data-id="${this.active}"]`)?.focus());
    } else if ((event.key === 'Enter' || event.key === ' ') && this.active) this.page.jump(this.active);
    else if (event.key === '+' || event.key === '-') this.zoomBy(event.key === '+' ? 1 : -1);
    else return;
    event.preventDefault();
  }

  private save(): void {
    const { page, picture } = this;
    const drawn = this.querySelector<SVGSVGElement>('svg.picture');
    if (!drawn || !picture) return;
    const title = page.story.conversation?.title ?? 'conversation';
    const people = list(
      picture.lifelines.map(({ name }) => name),
      10,
    );
    const svg = standalone(
      drawn,
      picture,
      `Agent Bus: ${title}`,
      `${picture.arrows.length} messages between ${people}`,
    );
    const name = title.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '') || 'conversation';
    void page.run(page.ask('exportSvg', { svg, name }));
  }
}

customElements.define('ab-picture', PictureView);
