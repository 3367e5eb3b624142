import { LitElement } from 'lit';
import type { Observable } from '../stores/observable.ts';
import type { Page } from '../page.ts';

/**
 * An element without a shadow root: the theme's variables, the icon font, one stylesheet, labels by id and checkers of
 * accessibility all work across the whole page, and there is nobody else's style to keep out.
 */
export abstract class LightElement extends LitElement {
  static override properties = { page: { attribute: false } };
  declare page: Page;
  private readonly stops: (() => void)[] = [];

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** What it shows; it is drawn again whenever one of these changes. */
  protected watched(): Observable[] {
    return [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    for (const store of this.watched()) this.stops.push(store.watch(() => this.requestUpdate()));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const stop of this.stops.splice(0)) stop();
  }

  protected find<E extends HTMLElement = HTMLElement>(selector: string): E | undefined {
    return this.querySelector<E>(selector) ?? undefined;
  }
}
