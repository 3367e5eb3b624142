import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { AgentView } from '../../core/model.ts';
import type { Observable } from '../stores/observable.ts';
import { agentChip } from './agentCard.ts';
import { LightElement } from './lightElement.ts';
import { chipsThatFit } from './chipsThatFit.ts';
import { icon } from './pieces.ts';

const rowsAtFirst = 2;

/** Who is here, those first who need the person or are at work. */
class AgentStrip extends LightElement {
  private all = false;
  private width = 0;
  private readonly resizes = new ResizeObserver(([entry]) => {
    this.width = entry?.contentRect.width ?? 0;
    this.requestUpdate();
  });

  override connectedCallback(): void {
    super.connectedCallback();
    this.width = document.documentElement.clientWidth;
    this.resizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes.disconnect();
  }

  protected override watched(): Observable[] {
    return [this.page, this.page.agents];
  }

  protected override render(): TemplateResult | typeof nothing {
    const { page } = this;
    const agents = page.agents.agents.filter((agent) => agent.name !== page.me);
    if (agents.length === 0) return nothing;
    const open = page.saved.value.agentsOpen ?? true;
    const names = agents.map((agent) => agent.name);
    const fit = chipsThatFit(names, this.width - 24, rowsAtFirst);
    const shown = this.all ? agents : agents.slice(0, fit);
    const hidden = agents.length - shown.length;
    return html`<section class="agents" aria-label="Agents">
      <button type="button" class="section-head" aria-expanded=${open} @click=${() => this.toggle(!open)}>
        ${icon(open ? 'chevron-down' : 'chevron-right')}<span>Agents</span>
        <span class="section-note">${this.summary(agents)}</span>
      </button>
      ${
        open
          ? html`<div class="chips ${this.all ? 'chips-all' : ''}">
              ${repeat(
                shown,
                (agent) => agent.name,
                (agent) => agentChip(page, agent.name),
              )}
              ${
                hidden > 0
                  ? html`<button
                      type="button"
                      class="chip chip-more"
                      aria-label="Show ${hidden} more agents"
                      @click=${() => this.showAll(true)}
                    >
                      +${hidden}
                    </button>`
                  : nothing
              }
              ${
                this.all && agents.length > fit
                  ? html`<button type="button" class="chip chip-more" @click=${() => this.showAll(false)}>
                      Show fewer
                    </button>`
                  : nothing
              }
            </div>`
          : nothing
      }
    </section>`;
  }

  private summary(agents: readonly AgentView[]): string {
    const { agents: store } = this.page;
    const waiting = store.count('waiting');
    const working = store.count('working');
    const parts = [waiting > 0 && `${waiting} waiting`, working > 0 && `${working} working`].filter(Boolean);
    return parts.length > 0 ? parts.join(', ') : `${agents.length}`;
  }

  private toggle(open: boolean): void {
    this.page.saved.set({ agentsOpen: open });
    this.requestUpdate();
  }

  private showAll(all: boolean): void {
    this.all = all;
    this.requestUpdate();
  }
}

customElements.define('ab-agent-strip', AgentStrip);
