import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Observable } from '../stores/observable.ts';
import type { Reach, Way } from '../stores/reachStore.ts';
import { LightElement } from './lightElement.ts';
import { icon, shownText } from './pieces.ts';
import { popover } from './popover.ts';

/** Can this agent be reached now, and how: while busy, at the end of a turn, while idle. Live while its card is open. */
class AgentReachTable extends LightElement {
  static override properties = { ...LightElement.properties, agent: { attribute: false } };
  declare agent: string;

  override connectedCallback(): void {
    super.connectedCallback();
    this.page.reach.show(this.agent);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.page.reach.hide(this.agent);
  }

  protected override watched(): Observable[] {
    return [this.page, this.page.reach];
  }

  protected override updated(): void {
    popover.settle();
  }

  protected override render(): TemplateResult {
    const { reach, failed } = this.page.reach;
    if (reach?.agent === this.agent) return html`${verdict(reach)}${table(reach)}${this.typing(reach)}`;
    const hears = this.page.agents.get(this.agent)?.reach ?? [];
    return failed
      ? html`<p class="reach-loading">Hears by ${shownText(hears.join(', then '))}</p>`
      : html`<p class="reach-loading">Looking how it can be reached…</p>`;
  }

  private typing({ typing }: Reach): TemplateResult | typeof nothing {
    if (typing === undefined) return nothing;
    return html`<label class="switch">
      <input
        type="checkbox"
        role="switch"
        .checked=${live(typing)}
        ?disabled=${!this.page.canAct}
        @change=${(event: Event) => {
          const { checked } = event.target as HTMLInputElement;
          const done = checked ? 'It may be typed to' : 'It is not typed to any more';
          void this.page.run(this.page.reach.allowTyping(this.agent, checked), done);
        }}
      />
      <span>May be typed to in its terminal</span>
    </label>`;
  }
}

/** The answer to the question that people have: does it hear me if I write now? */
function verdict({ state, now }: Reach): TemplateResult {
  const [sign, tone, text] =
    now.how !== undefined && now.blocked === undefined
      ? (['pass', 'good', html`Reached now: <span>${shownText(now.how)}</span>`] as const)
      : state === 'gone'
        ? (['circle-slash', 'away', html`Not there; messages wait for it`] as const)
        : now.todo === undefined
          ? (['clock', 'away', notNow(state, now)] as const)
          : (['warning', 'attention', notNow(state, now)] as const);
  const more = state === 'gone' ? {} : now.how === undefined ? { todo: now.todo } : now;
  return html`<div class="reach-now reach-${tone}">
    ${icon(sign)}
    <div>${text} ${reason(more)}</div>
  </div>`;
}

/** What it asks stands at the head of the card already. */
function notNow(state: Reach['state'], { how, blocked = 'no way' }: Way): TemplateResult {
  if (state === 'approval') return html`Not reached before you have answered it`;
  if (how !== undefined) return html`Waits: <span>${shownText(how)}</span>`;
  return html`Not reached now: <span>${shownText(blocked)}</span>`;
}

function table(reach: Reach): TemplateResult | typeof nothing {
  const { agent, state, now, busy, end_of_turn, idle } = reach;
  if (state === 'gone') return nothing;
  // Mail to agents elsewhere goes one way, whatever they do.
  if (isSame(busy, end_of_turn) && isSame(busy, idle)) return nothing;
  const current = { working: 'busy', approval: 'busy', idle: 'idle', unknown: '' }[state];
  const rows: [string, string, Way][] = [
    ['busy', 'While busy', busy],
    ['end', 'End of turn', end_of_turn],
    ['idle', 'While idle', idle],
  ];
  // What stands above is not told again.
  const told = new Set([now.blocked, now.todo]);
  const fresh = (text: string | undefined): string | undefined => {
    if (told.has(text)) return undefined;
    told.add(text);
    return text;
  };
  return html`<table class="reach" aria-label="How messages reach ${agent}">
    <tbody>
      ${rows.map(
        ([name, title, way]) =>
          html`<tr class=${name === current ? 'reach-current' : ''}>
            <th scope="row">
              ${title}${name === current ? html`<span class="hidden-text"> (as it is now)</span>` : nothing}
            </th>
            <td>
              <span class=${way.how === undefined ? 'reach-none' : ''}
                >${way.how === undefined ? 'no way' : shownText(way.how)}</span
              >
              ${reason({ blocked: fresh(way.blocked), todo: fresh(way.todo) })}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function reason({ blocked, todo }: { blocked?: string | undefined; todo?: string | undefined }): TemplateResult {
  return html`${blocked === undefined ? nothing : html`<span class="reach-why">${shownText(blocked)}</span>`}
  ${
    todo === undefined
      ? nothing
      : html`<span class="reach-todo">${icon('arrow-right')}<span>${shownText(todo)}</span></span>`
  }`;
}

function isSame(a: Way, b: Way): boolean {
  return a.how === b.how && a.blocked === b.blocked;
}

customElements.define('ab-agent-reach', AgentReachTable);
