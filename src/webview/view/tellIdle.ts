import { html, nothing, type TemplateResult } from 'lit';
import type { Observable } from '../stores/observable.ts';
import { LightElement } from './lightElement.ts';
import { popover } from './popover.ts';

/** "Tell me when idle", for an agent that is not: a notice comes to the person's inbox, once. Pressed, it is taken back. */
class TellIdle extends LightElement {
  static override properties = { ...LightElement.properties, agent: { attribute: false } };
  declare agent: string;
  private known: { idle: boolean; telling: boolean } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    // Without an answer there is no button, and the card is none the worse for it.
    this.ask().catch(() => undefined);
  }

  protected override watched(): Observable[] {
    return [this.page, this.page.agents];
  }

  protected override updated(): void {
    popover.settle();
  }

  protected override render(): TemplateResult | typeof nothing {
    const { known, page, agent } = this;
    if (!known || (!known.telling && page.agents.get(agent)?.presence === 'idle')) return nothing;
    const done = known.telling ? 'You are not told any more' : `You are told once ${agent} is idle`;
    return html`<button
      type="button"
      class="button button-secondary button-small"
      aria-pressed=${known.telling}
      ?disabled=${!page.canAct}
      @click=${() => void page.run(this.ask(!known.telling), done)}
    >
      Tell me when idle
    </button>`;
  }

  private async ask(on?: boolean): Promise<void> {
    this.known = await this.page.ask('tell', { agent: this.agent, ...(on !== undefined && { on }) });
    this.requestUpdate();
  }
}

customElements.define('ab-tell-idle', TellIdle);
