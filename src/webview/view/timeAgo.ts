import { LitElement, type PropertyValues } from 'lit';
import { fullTime, shortTime } from '../text/time.ts';
import { lang } from './pieces.ts';

const tickEvery = 20_000;
const listeners = new Set<() => void>();

setInterval(() => {
  if (document.visibilityState === 'visible') for (const listener of listeners) listener();
}, tickEvery);

/** Calls back every now and then while the page can be seen, for whatever shows a time that passes. */
export function onTick(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** How long ago, as short as can be; the whole of it in the title. */
class TimeAgo extends LitElement {
  static override properties = { at: { attribute: false } };
  declare at: string;
  private stop: (() => void) | undefined;
  private readonly time = document.createElement('time');

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.append(this.time);
    this.stop = onTick(() => this.show());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop?.();
  }

  protected override updated(_changed: PropertyValues): void {
    const at = Date.parse(this.at);
    this.time.dateTime = this.at;
    this.time.title = fullTime(at, lang());
    this.show();
  }

  private show(): void {
    const text = shortTime(Date.parse(this.at), Date.now(), lang());
    if (this.time.textContent !== text) this.time.textContent = text;
  }
}

customElements.define('ab-time', TimeAgo);
